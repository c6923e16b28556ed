"""A MariaDB server of its own for the tests, from the system's package, in a folder that goes afterwards."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

START_TIMEOUT = 30.0
SETTINGS = [
    "--skip-networking",
    "--skip-log-bin",
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-buffer-pool-size=128M",
    "--max-connections=200",
    "--character-set-server=utf8mb4",
    "--collation-server=utf8mb4_bin",
]


class PrivateMariaDB:
    """A server with its socket and data in ``folder``; nobody else's is touched."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._data = folder / "data"
        self._socket = folder / "socket"
        # A server that starts deletes left-over temporary tables of its folder: never that of another one.
        self._temporary = folder / "tmp"
        self._server: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"mysql://root@localhost/leasejobs?unix_socket={self._socket}"

    def create(self) -> None:
        as_root = ["--user=root"] if os.geteuid() == 0 else []
        self._temporary.mkdir()
        self._call(
            "mariadb-install-db",
            "--no-defaults",
            *as_root,
            f"--datadir={self._data}",
            f"--tmpdir={self._temporary}",
            "--auth-root-authentication-method=normal",
        )

    def start(self) -> None:
        """Start the server and wait until it answers."""
        as_root = ["--user=root"] if os.geteuid() == 0 else []
        log = self.folder / "server.log"
        with log.open("ab") as output:
            self._server = subprocess.Popen(
                [find("mariadbd"), "--no-defaults", *as_root, f"--datadir={self._data}", f"--socket={self._socket}",
                 f"--tmpdir={self._temporary}", f"--pid-file={self.folder / 'pid'}", *SETTINGS],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
            )  # fmt: skip
        deadline = time.monotonic() + START_TIMEOUT
        while not self._answers():
            if time.monotonic() > deadline or self._server.poll() is not None:
                raise RuntimeError(f"MariaDB did not start:\n{log.read_text()[-2000:]}")
            time.sleep(0.05)
        self._call(
            "mariadb",
            "--no-defaults",
            f"--socket={self._socket}",
            "-uroot",
            "-e",
            "CREATE DATABASE IF NOT EXISTS leasejobs",
        )

    def stop(self) -> None:
        assert self._server is not None
        self._server.terminate()
        try:
            self._server.wait(30)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait(10)

    def restart(self) -> None:
        self.stop()
        self.start()

    def _answers(self) -> bool:
        ping = [find("mariadb-admin"), "--no-defaults", f"--socket={self._socket}", "-uroot", "ping"]
        return subprocess.run(ping, capture_output=True, check=False, timeout=10).returncode == 0

    def _call(self, program: str, *args: str) -> None:
        done = subprocess.run([find(program), *args], capture_output=True, text=True, check=False, timeout=120)
        if done.returncode:
            raise RuntimeError(f"{program} failed with {done.returncode}:\n{done.stdout}{done.stderr}")


def find(program: str) -> str:
    """Return the program's path, also from the system folders that a plain user's PATH lacks."""
    path = shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if path is None:
        raise RuntimeError(f"{program!r} is not installed: the MariaDB tests need the package mariadb-server.")
    return path


@contextmanager
def private_mariadb() -> Iterator[PrivateMariaDB]:
    """Run a server in a folder of its own; stop it and delete all of it at the end."""
    folder = Path(mkdtemp(prefix="leasejobs-mariadb-"))
    server = PrivateMariaDB(folder)
    try:
        server.create()
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
