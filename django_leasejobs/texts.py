"""Texts of other people on one line of ours: in a log, in a table, on a terminal."""

from __future__ import annotations


def printable(text: str) -> str:
    """Escape line breaks and control characters: names and errors come from other people's input."""
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)


def one_line(text: object) -> str:
    """Write a text of several lines on one, for a log that is read line by line."""
    return printable(" ".join(str(text).split()))
