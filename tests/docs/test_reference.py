"""The reference pages name exactly what the code has, with its defaults."""

from __future__ import annotations

import re
from dataclasses import fields
from datetime import timedelta

import pytest
from django.core.management import find_commands, load_command_class
from django.core.management.base import BaseCommand
from django.dispatch import Signal

import django_leasejobs
from django_leasejobs import RunContext, signals
from django_leasejobs.conf import DEFAULT_RETENTION, Settings
from django_leasejobs.definitions import Options
from django_leasejobs.durations import format_duration
from tests.docs.pages import ROOT, codes, headings, page, rows, section

PACKAGE = ROOT / "django_leasejobs"
COMMANDS = sorted(find_commands(str(PACKAGE / "management")))


def shown(value: object) -> str:
    """Write a default as the pages do."""
    return format_duration(value) if isinstance(value, timedelta) else str(value) if value == 0 else repr(value)


def options_of(command: str) -> tuple[set[str], list[str]]:
    """Return the options and the positional arguments that a command has beyond Django's own."""
    own = load_command_class("django_leasejobs", command).create_parser("manage.py", command)
    usual = BaseCommand().create_parser("manage.py", command)
    known = {option for action in usual._actions for option in action.option_strings}
    actions = [action for action in own._actions if not known.intersection(action.option_strings)]
    options = {option for action in actions for option in action.option_strings if option.startswith("--")}
    return options, [action.dest for action in actions if not action.option_strings]


def test_every_setting_is_listed_with_its_default():
    documented = {codes(row[0])[0]: row[1] for row in rows(page("settings").partition("\n## ")[0])}
    actual = {item.name: f"`{shown(getattr(Settings(), item.name))}`" for item in fields(Settings)}

    assert documented == actual | {"RETENTION": "see below"}


def test_every_retention_is_listed_with_its_default():
    documented = {codes(row[0])[0]: codes(row[1])[0] for row in rows(section(page("settings"), "Retention"))}

    assert documented == {status: shown(kept) for status, kept in DEFAULT_RETENTION.items()}


def test_every_check_is_listed():
    documented = {codes(row[0])[0] for row in rows(section(page("settings"), "Checks"))}
    used = {
        found
        for path in PACKAGE.rglob("*.py")
        for found in re.findall(r"[\"'](leasejobs\.[EW]\d{3})[\"']", path.read_text())
    }

    assert documented == used


def test_every_command_has_a_section():
    assert sorted(title.split()[0] for title in headings(page("commands"))) == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_a_command_is_listed(command):
    text = section(page("commands"), command)
    documented = {codes(row[0])[0].split()[0] for row in rows(text)}
    options, positionals = options_of(command)

    assert documented == options
    assert len(text.partition("\n")[0].split()) == 1 + len(positionals)


def test_every_option_of_a_job_is_listed_with_its_default():
    table = rows(section(page("jobs"), "Options"))
    documented = {codes(row[0])[0]: codes(row[1])[0] for row in table}

    assert documented == {item.name: shown(item.default) for item in fields(Options)}


def test_all_that_a_running_job_sees_is_listed():
    names = {
        name.removesuffix("()")
        for row in rows(section(page("jobs"), "What a running job sees"))
        for name in codes(row[0])
        if name != "RunContext"
    }

    assert names == {name for name in dir(RunContext) if not name.startswith("_")}


def test_every_signal_is_listed():
    documented = {codes(row[0])[0] for row in rows(section(page("worker"), "Log and signals"))}

    assert documented == {name for name, value in vars(signals).items() if isinstance(value, Signal)}


def test_every_error_is_listed():
    documented = {codes(row[0])[0] for row in rows(section(page("jobs"), "Errors"))}
    public = [getattr(django_leasejobs, name) for name in django_leasejobs.__all__]

    assert documented == {item.__name__ for item in public if isinstance(item, type) and issubclass(item, Exception)}


def test_every_public_name_is_in_some_page():
    text = "\n".join(path.read_text() for path in (ROOT / "docs").glob("*.md"))

    assert [name for name in django_leasejobs.__all__ if not re.search(rf"\b{name}\b", text)] == ["__version__"]
