"""What the README tells a newcomer to do, done in a project of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, blocks
from tests.support.processes import WorkerProcess

pytestmark = [pytest.mark.processes, pytest.mark.timeout(240)]

BLOCKS = blocks((ROOT / "README.md").read_text(), "python")
BY_HAND = "from yourapp.jobs import"


def blocks_of(file: str) -> str:
    """Return what the README says a file should have."""
    return "\n".join(block for block in BLOCKS if block.startswith(f"# {file}\n"))


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "PYTHONDEVMODE")}
    return {**kept, "DJANGO_SETTINGS_MODULE": "project.settings", "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}


@pytest.fixture
def project(tmp_path: Path, environment: dict[str, str]) -> Path:
    """A new project with an app, and the README's words in the files that it names."""
    for arguments in (["startproject", "project", "."], ["startapp", "yourapp"]):
        command = [sys.executable, "-m", "django", *arguments]
        subprocess.run(command, cwd=tmp_path, env={**environment, "DJANGO_SETTINGS_MODULE": ""}, check=True)
    with (tmp_path / "project" / "settings.py").open("a") as settings:
        settings.write('\nINSTALLED_APPS += ["yourapp"]\nDATABASES["default"]["OPTIONS"] = {"timeout": 20}\n')
        settings.write(blocks_of("settings.py"))
    (tmp_path / "yourapp" / "jobs.py").write_text(blocks_of("yourapp/jobs.py"))
    return tmp_path


@pytest.fixture
def manage(project: Path, environment: dict[str, str]):
    def call(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=project, env=environment, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return call


@pytest.fixture
def worker(project: Path, environment: dict[str, str], manage) -> Iterator[WorkerProcess]:
    manage("check", "--fail-level", "WARNING")
    manage("migrate", "--verbosity", "0")
    process = WorkerProcess(["run_job_worker"], environment, project / "worker.log", root=project)
    process.wait_for_output(" started queues=")
    yield process
    process.end()


def test_every_python_block_of_the_readme_is_tried_here() -> None:
    others = [block for block in BLOCKS if not block.startswith(("# settings.py\n", "# yourapp/jobs.py\n", BY_HAND))]
    assert others == []


def test_the_readme_leads_to_a_job_that_runs(worker: WorkerProcess, manage) -> None:
    assert "yourapp.nightly_report" in manage("list_jobs")
    manage("trigger_job", "yourapp.nightly_report", "--wait", "--timeout", "60")
    manage("trigger_job", "yourapp.forget_old_sessions", "--wait", "--timeout", "60")
    (by_hand,) = [block for block in BLOCKS if block.startswith(BY_HAND)]
    assert "as many sessions as 0" in manage("shell", "-c", f"{by_hand}\nprint(run.status)")
    worker.terminate()
    assert worker.wait() == 0, worker.output
