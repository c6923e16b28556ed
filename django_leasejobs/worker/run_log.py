"""Log lines of job code, kept with the run and bounded."""

from __future__ import annotations

import logging
from collections import deque
from contextvars import ContextVar

_current: ContextVar[RunLog | None] = ContextVar("leasejobs_run_log", default=None)

FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
HEAD_SHARE = 4


class RunLog:
    """Collects lines up to ``limit`` bytes: the first quarter, then the newest, and how many fell out between."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._head: list[str] = []
        self._tail: deque[str] = deque()
        self._head_left = limit // HEAD_SHARE
        self._tail_size = 0
        self._left_out = 0

    def add(self, line: str) -> None:
        line = storable_text(line, self.limit)
        size = len(line.encode()) + 1
        if not self._tail and size <= self._head_left:
            self._head.append(line)
            self._head_left -= size
            return
        self._tail.append(line)
        self._tail_size += size
        while self._tail and self._tail_size > self.limit - self.limit // HEAD_SHARE:
            self._tail_size -= len(self._tail.popleft().encode()) + 1
            self._left_out += 1

    def text(self) -> str:
        gap = [f"... {self._left_out} lines left out ..."] if self._left_out else []
        return "\n".join([*self._head, *gap, *self._tail])

    def __enter__(self) -> RunLog:
        self._reset = _current.set(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        _current.reset(self._reset)


class RunLogHandler(logging.Handler):
    """Gives records to the log of the run in whose context they were made."""

    def emit(self, record: logging.LogRecord) -> None:
        log = _current.get()
        if log is not None:
            try:
                log.add(self.format(record))
            except Exception:  # noqa: BLE001
                self.handleError(record)


class _AsBefore(logging.Filter):
    """Keeps a handler's output as it was under the root logger's former level."""

    def __init__(self, root_level: int) -> None:
        super().__init__()
        self.root_level = root_level

    def filter(self, record: logging.LogRecord) -> bool:
        logger: logging.Logger | None = logging.getLogger(record.name)
        while logger is not None and logger.parent is not None:
            if logger.level:
                return record.levelno >= logger.level
            logger = logger.parent if logger.propagate else None
        return record.levelno >= self.root_level


def install_run_log(level: int = logging.INFO) -> None:
    """Let the root logger feed run logs from ``level`` up; what its other handlers print stays the same."""
    root = logging.getLogger()
    if any(isinstance(handler, RunLogHandler) for handler in root.handlers):
        return
    if root.level > level:
        for handler in root.handlers:
            handler.addFilter(_AsBefore(root.level))
        root.setLevel(level)
    run_log_handler = RunLogHandler(level)
    run_log_handler.setFormatter(logging.Formatter(FORMAT))
    root.addHandler(run_log_handler)


def storable_text(text: str, limit: int) -> str:
    """Make text fit for every database: no NUL, no lone surrogates, at most ``limit`` bytes (the end is kept)."""
    data = text.replace("\x00", "\\x00").encode("utf-8", "backslashreplace")
    if len(data) > limit:
        data = b"... " + data[len(data) - limit + 4 :] if limit > 4 else b""
    return data.decode("utf-8", "ignore")
