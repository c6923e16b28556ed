"""Tasks with which tests try to break the worker. No jobs: each test inserts the rows it needs."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import logging
import os
import signal
import sys
import threading
import time

from django.db import IntegrityError, connection, connections, transaction

from django_leasejobs import RunContext
from django_leasejobs.api import task

from .models import Effect, Unique

logger = logging.getLogger("tests.jobs")


def write_effect(context: RunContext, word: str = "") -> None:
    Effect.objects.create(run_id=context.run_id, token=context.token, slot=context.scheduled_for, word=word)


@task("t.effect", takes_context=True)
def effect(context, seconds=0.0, word=""):
    """Work for a while, then write outside of any guard."""
    time.sleep(seconds)
    write_effect(context, word)
    return word or None


@task("t.starts", takes_context=True)
def starts(context, seconds=0.0):
    """Write first, then work for a while: shows how often it was begun."""
    write_effect(context, "began")
    time.sleep(seconds)


@task("t.guarded", takes_context=True)
def guarded(context, before=0.0, inside=0.0):
    """Work, then write under the lease's guard, together with the word that it is done.

    Without that word a run whose worker stops between the block and the run's end would write again.
    """
    if context.state == "done":
        return
    time.sleep(before)
    with context.guard():
        write_effect(context, "guarded")
        context.state = "done"
        context.save_state()
        time.sleep(inside)


@task("t.atomic", takes_context=True, atomic=True)
def atomic(context, seconds=0.0):
    """Write in the transaction of the success."""
    write_effect(context, "atomic")
    time.sleep(seconds)


@task("t.async")
async def sleep_async(seconds=0.0):
    await asyncio.sleep(seconds)
    return "slept"


@task("t.die")
def die():
    os._exit(9)


@task("t.kill")
def kill():
    os.kill(os.getpid(), signal.SIGKILL)


@task("t.die_first", takes_context=True)
def die_first(context, times):
    """Take the process along in the first attempts."""
    if context.attempt <= times:
        os._exit(9)
    write_effect(context, f"attempt {context.attempt}")


@task("t.fork")
def fork_and_return():
    """Let a forked copy of the process return too, and wait for its end."""
    copy = os.fork()
    return os.waitpid(copy, 0)[1] if copy else None


@task("t.exit")
def exit_softly():
    sys.exit(3)


@task("t.fail")
def fail(words="it failed on purpose"):
    raise RuntimeError(words)


@task("t.gil", takes_context=True)
def hold_the_gil(context, seconds):
    """Block in C code without letting any other thread of the process run."""
    ctypes.PyDLL(None).usleep(int(seconds * 1_000_000))
    write_effect(context, "held the GIL")


@task("t.quick")
def be_quick(blob=""):
    """Take any argument and return at once."""


@task("t.stubborn", takes_context=True)
def stubborn(context, seconds):
    """Go on whatever happens, swallowing what is thrown in."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(Exception):
            time.sleep(0.05)
    write_effect(context, "to the end")


@task("t.tick", takes_context=True)
def tick(context, seconds):
    """Write all the time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(Exception):
            write_effect(context, "tick")
            time.sleep(0.01)


@task("t.polite", takes_context=True)
def polite(context, seconds):
    """Look often whether to go on."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        context.check()
        time.sleep(0.02)
    write_effect(context, "to the end")


@task("t.resume", takes_context=True)
def resume(context, steps, die_at=0):
    """Do steps of work, each under the guard, and go on after a crash where the last one ended."""
    done = (context.state or {"done": 0})["done"]
    for step in range(done + 1, steps + 1):
        if step == die_at and context.attempt == 1:
            os._exit(9)
        with context.guard():
            write_effect(context, f"step {step}")
            context.state = {"done": step}
            context.save_state()


@task("t.session")
def session():
    """Tell what the job finds on its connection."""
    found = {"autocommit": connection.get_autocommit(), "in_atomic_block": connection.in_atomic_block}
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_backend_pid(), current_setting('statement_timeout'), current_setting('timezone')")
            found["session"], found["statement_timeout"], found["timezone"] = cursor.fetchone()
        elif connection.vendor == "mysql":
            cursor.execute("SELECT CONNECTION_ID(), @@max_statement_time, @@sql_mode")
            found["session"], statement_timeout, found["sql_mode"] = cursor.fetchone()
            found["statement_timeout"] = float(statement_timeout)
    return {**found, "process": os.getpid()}


@task("t.swallow")
def swallow_an_error():
    with transaction.atomic():
        Unique.objects.get_or_create(name="one")
        try:
            Unique.objects.create(name="one")
        except IntegrityError:
            return


@task("t.autocommit_off")
def leave_autocommit_off():
    transaction.set_autocommit(False)
    Unique.objects.count()


@task("t.short_timeout")
def leave_a_short_timeout():
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET statement_timeout = 1")
        elif connection.vendor == "mysql":
            cursor.execute("SET SESSION max_statement_time = 0.001")
        else:
            cursor.execute("PRAGMA query_only = ON")


@task("t.close_all")
def close_all():
    connections.close_all()


@task("t.cut")
def cut_the_line():
    """Break the connection below Django's feet."""
    Unique.objects.count()
    driver = connection.connection
    if hasattr(driver, "fileno"):
        os.close(driver.fileno())
    else:
        driver.close()


@task("t.thread")
def leave_a_thread():
    """Leave a thread behind that goes on using the database."""

    def go_on():
        for _ in range(20):
            Unique.objects.count()
            time.sleep(0.05)
        connections.close_all()

    threading.Thread(target=go_on, daemon=True).start()


@task("t.talk", takes_context=True)
def talk(context, lines=1, fails=False):
    print("printed by the job", flush=True)
    for number in range(lines):
        logger.info("line %s", number)
    context.log("said by the context")
    if fails:
        raise RuntimeError("x" * 100_000)


@task("t.progress", takes_context=True)
def progress(context, steps=3, seconds=0.0):
    for step in range(1, steps + 1):
        context.progress(step, steps, f"step {step}")
        time.sleep(seconds)
    return {"steps": steps}
