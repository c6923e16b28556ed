from __future__ import annotations

import importlib.util

import environ
import pytest

from testproject.database_url import database_from, without_password
from tests.commands.calling import shell

START = "The environment variable DATABASE_URL ("


def read(url: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    monkeypatch.setenv("DATABASE_URL", url)
    return database_from(environ.Env(), default="sqlite:///unused")


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("", "it is empty"),
        (" ", "it is empty"),
        ("postgres", "it names no known kind of database"),
        ("/var/db.sqlite3", "it names no known kind of database"),
        ("postgre://shop:secret@host/shop", "it names no known kind of database"),
        ("postgres://shop:secret@host:many/shop", "its port is no number"),
        ("postgres://shop:se/secret@host:5432/shop", "its port is no number, or a sign of its password"),
    ],
)
def test_a_bad_url_ends_in_one_line_without_the_password(
    url: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SystemExit) as stopped:
        read(url, monkeypatch)

    words = str(stopped.value.code)
    assert words.startswith(START)
    assert reason in words
    assert "secret" not in words
    assert "\n" not in words


def test_a_driver_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)

    with pytest.raises(SystemExit, match="the package psycopg is not installed"):
        read("postgres://shop:secret@host/shop", monkeypatch)


def test_a_good_url_and_the_default_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read("sqlite:////var/shop.sqlite3", monkeypatch)["NAME"] == "/var/shop.sqlite3"
    monkeypatch.delenv("DATABASE_URL")
    assert database_from(environ.Env(), default="sqlite:////default")["NAME"] == "/default"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgres://shop:p@ss:w@host:1/shop", "postgres://shop:***@host:1/shop"),
        ("postgres://shop@host/shop", "postgres://shop@host/shop"),
        ("sqlite:///db.sqlite3", "sqlite:///db.sqlite3"),
    ],
)
def test_only_the_password_is_hidden(url: str, shown: str) -> None:
    assert without_password(url) == shown


def test_a_command_says_so_in_one_line() -> None:
    called = shell("list_jobs", DATABASE_URL="postgre://shop:secret@host/shop")

    assert (called.status, called.out) == (1, "")
    assert called.err.startswith(f"{START}'postgre://shop:***@host/shop') can't be used: ")
    assert called.err.count("\n") == 1


def test_the_demo_does_not_care_for_the_users_url() -> None:
    called = shell("demo", "--help", DATABASE_URL="")

    assert (called.status, called.err) == (0, "")
    assert called.out.startswith("usage: manage.py demo")
