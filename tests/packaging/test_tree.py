"""What the project's own files must not hold, and how it must hold together."""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.packaging.conftest import ROOT

TEXT = {".cfg", ".css", ".html", ".ini", ".js", ".json", ".md", ".py", ".sh", ".toml", ".txt", ".yaml", ".yml", ""}
FOREIGN = {
    "an issue's number": re.compile(r"\b(?:[Ii]ssue|[Tt]icket|[Pp]ull request|[Ff]ixes|[Cc]loses) #?\d+"),
    "a path of one machine": re.compile(r"(?<![\w.~-])/(?:work|home/\w+|root|Users/\w+|opt/v\d)/"),
    "a note to oneself": re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b"),
}


def tracked() -> list[str]:
    """The files of the project: what git knows, or in an unpacked sdist what is there."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        return listed.stdout.splitlines()
    return [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*") if path.is_file()]


FILES = [name for name in tracked() if (ROOT / name).is_file() and (ROOT / name).suffix in TEXT]


@pytest.mark.parametrize("what", FOREIGN)
def test_no_file_holds(what):
    pattern = FOREIGN[what]
    found = [
        f"{name}:{number}: {line.strip()}"
        for name in FILES
        for number, line in enumerate((ROOT / name).read_text(errors="replace").splitlines(), start=1)
        if pattern.search(line)
    ]

    assert found == []


def test_the_files_that_are_searched_are_the_projects():
    assert {"pyproject.toml", "django_leasejobs/api.py", ".ci/run"} <= set(FILES)


def test_modules_stay_small():
    long = {
        path.relative_to(ROOT).as_posix(): lines
        for path in (ROOT / "django_leasejobs").rglob("*.py")
        if "migrations" not in path.parts and (lines := path.read_text().count("\n")) > 300
    }

    assert long == {}
