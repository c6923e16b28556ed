"""The wheel in an environment that holds only what it says that it needs."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

SETTINGS = """
SECRET_KEY = "x"
USE_TZ = True
INSTALLED_APPS = ["django_leasejobs", "shop"]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "db.sqlite3"}}
"""
JOBS = """
from django_leasejobs import job

@job("@every 1h")
def report():
    print("ran")
"""


def needed_by(name: str, found: dict[str, set[Path]]) -> dict[str, set[Path]]:
    """Collect the top-level files of a distribution and of all that it needs, by its own account."""
    if name.lower() in found:
        return found
    installed = distribution(name)
    tops = {file.parts[0] for file in installed.files or () if file.parts[0] != ".."}
    found[name.lower()] = {Path(str(installed.locate_file(top))) for top in tops}
    for text in installed.requires or ():
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            needed_by(requirement.name, found)
    return found


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory) -> Path:
    """The interpreter of a new environment: the wheel, Django, croniter and what these two need."""
    folder = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = Path(subprocess.run([python, "-c", where], capture_output=True, text=True, check=True).stdout.strip())
    for sources in needed_by("croniter", needed_by("django", {})).values():
        for source in sources:
            if source.exists() and source.name != "__pycache__" and not (packages / source.name).exists():
                (packages / source.name).symlink_to(source)
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-index", str(wheel)]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return python


@pytest.fixture
def project(tmp_path) -> Path:
    """A project of three lines and a job."""
    (tmp_path / "settings.py").write_text(SETTINGS)
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "__init__.py").touch()
    (tmp_path / "shop" / "jobs.py").write_text(JOBS)
    return tmp_path


def manage(python: Path, project: Path, *arguments: str) -> str:
    command = [str(python), "-m", "django", *arguments, "--settings", "settings", "--pythonpath", str(project)]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_a_project_with_nothing_else_migrates_and_syncs_and_runs_its_jobs(python, project):
    manage(python, project, "check", "--fail-level", "WARNING")
    manage(python, project, "migrate")
    manage(python, project, "sync_jobs")
    manage(python, project, "sync_jobs", "--check")
    listed = manage(python, project, "list_jobs")
    manage(python, project, "trigger_job", "shop.report")
    drained = manage(python, project, "run_job_worker", "--drain")

    assert "shop.report" in listed
    assert "status=SUCCESSFUL" in drained


def test_the_migrations_are_those_of_the_models(python, project):
    assert "No changes" in manage(python, project, "makemigrations", "--check", "--dry-run", "leasejobs")


def test_the_installed_package_says_that_it_is_typed(python, project):
    where = "import django_leasejobs, pathlib; print(pathlib.Path(django_leasejobs.__file__).parent)"
    found = subprocess.run([python, "-c", where], cwd=project, capture_output=True, text=True, check=True)

    assert (Path(found.stdout.strip()) / "py.typed").exists()
