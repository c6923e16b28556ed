"""What is in the wheel and the sdist, and what they say of themselves."""

from __future__ import annotations

import tarfile
from email import message_from_bytes
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

from django_leasejobs import __version__
from tests.packaging.conftest import ROOT

PACKAGE = ROOT / "django_leasejobs"


@pytest.fixture(scope="module")
def names(wheel) -> set[str]:
    with ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def metadata(wheel):
    with ZipFile(wheel) as archive:
        (path,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_bytes(archive.read(path))


def test_the_wheel_holds_every_file_of_the_package(names):
    there = {
        path.relative_to(ROOT).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

    assert there - names == set()


@pytest.mark.parametrize(
    "name", ["django_leasejobs/py.typed", "django_leasejobs/migrations/0001_initial.py", "django_leasejobs/apps.py"]
)
def test_the_wheel_holds_what_is_no_plain_module(names, name):
    assert name in names


def test_the_wheel_holds_nothing_but_the_package_and_its_metadata(names):
    folders = {name.split("/")[0] for name in names}

    assert folders == {"django_leasejobs", f"django_leasejobs-{__version__}.dist-info"}


def test_the_wheel_carries_the_licence(names):
    assert f"django_leasejobs-{__version__}.dist-info/licenses/LICENSE" in names


def test_the_version_is_the_packages(metadata, wheel, sdist):
    assert metadata["Version"] == __version__
    assert wheel.name.startswith(f"django_leasejobs-{__version__}-py3-none-any")
    assert sdist.name == f"django_leasejobs-{__version__}.tar.gz"


def test_the_version_has_a_place_in_the_changelog():
    assert f"## [{__version__}]" in (ROOT / "CHANGELOG.md").read_text()


def test_django_and_croniter_are_all_that_it_needs(metadata):
    needed = [Requirement(text) for text in metadata.get_all("Requires-Dist")]

    assert {item.name.lower() for item in needed if item.marker is None} == {"django", "croniter"}


def test_the_extras_are_those_that_the_docs_name(metadata):
    page = (ROOT / "docs" / "installation.md").read_text()

    assert {line.split("`")[1] for line in page.splitlines() if line.startswith("| `")} == set(
        metadata.get_all("Provides-Extra")
    )


def test_the_sdist_can_be_tested_and_documented(sdist):
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    assert {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "manage.py", "tox.ini"} <= names
    assert {"tests/__main__.py", "testproject/settings.py", "docs/conf.py"} <= names
