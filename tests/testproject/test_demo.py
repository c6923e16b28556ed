"""The demo as a person starts it. On PostgreSQL it starts a server of its own; MariaDB it doesn't know."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from django.db import connection

from testproject.ports import free_port
from tests.support.processes import WorkerProcesses, wait_until

pytestmark = [
    pytest.mark.processes,
    pytest.mark.timeout(240),
    pytest.mark.skipif(connection.vendor == "mysql", reason="the demo has no MariaDB"),
]
ON_THIS_DATABASE = ["--postgres"] if connection.vendor == "postgresql" else []


@pytest.fixture
def folder() -> Iterator[Path]:
    """Where the demo makes its own folders: open to the user as which PostgreSQL runs when the demo runs as root."""
    with TemporaryDirectory(prefix="leasejobs-test-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def demos(tmp_path: Path, folder: Path) -> Iterator[WorkerProcesses]:
    """Starts demos for somebody who has a database of their own."""
    environment = {
        **os.environ,
        "TMPDIR": str(folder),
        "DATABASE_URL": f"sqlite:///{tmp_path}/precious.sqlite3",
        "SHOP_DATA_DIR": str(tmp_path / "precious"),
    }
    processes = WorkerProcesses(tmp_path, environment)
    yield processes
    processes.end_all()


def processes_of(folder: Path) -> list[str]:
    """Return the command lines of processes that have the demo's folder in them or in their environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_text().replace("\0", " ")
            environment = (process / "environ").read_bytes()
        except OSError:
            continue  # ended meanwhile, or another user's
        if f"{folder}/" in line or f"SHOP_DATA_DIR={folder}/".encode() in environment:
            found.append(line)
    return found


def test_the_demo_loses_nothing_and_doubles_nothing(demos: WorkerProcesses, folder: Path, tmp_path: Path) -> None:
    demo = demos.command("demo", "--exit", "--port", str(free_port()), *ON_THIS_DATABASE)
    assert demo.wait(200) == 0, demo.output
    assert "Lost 0, doubled 0, recovered after " in demo.output
    assert "went on after row " in demo.output
    assert processes_of(folder) == []
    assert list(folder.iterdir()) == []
    assert not list(tmp_path.glob("precious*"))


def test_a_stop_signal_ends_the_demo_and_all_its_children(demos: WorkerProcesses, folder: Path) -> None:
    demo = demos.command("demo", "--port", str(free_port()), *ON_THIS_DATABASE)
    demo.wait_for_output("Somebody triggers", timeout=100)
    assert len(processes_of(folder)) >= 4
    demo.signal(signal.SIGTERM)
    assert demo.wait(60) == 130, demo.output
    assert "stopped before the end" in demo.output
    assert "Traceback" not in demo.output
    assert processes_of(folder) == []
    assert list(folder.iterdir()) == []


def test_the_children_of_a_killed_demo_end_by_themselves(demos: WorkerProcesses, folder: Path) -> None:
    demo = demos.command("demo", "--port", str(free_port()), *ON_THIS_DATABASE)
    demo.wait_for_output("They are there", timeout=100)
    assert len(processes_of(folder)) >= 4
    demo.kill()
    wait_until(lambda: not processes_of(folder), 30, lambda: "\n".join(processes_of(folder)))


def test_a_taken_port_is_told_in_words(demos: WorkerProcesses, folder: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        demo = demos.command("demo", "--port", str(port))
        assert demo.wait(60) == 1
    assert demo.output.startswith(f"demo: Port {port} can't be used")
    assert list(folder.iterdir()) == []
