"""Imported by the fork server only, never by hand: loads the project once, so that each child is a cheap fork."""

from __future__ import annotations

import gc
import os
import signal

import django

from .child_start import die_with_parent

# It outlives a killed worker as long as a child holds on to it, and with it lives a child that is stuck in C code.
die_with_parent()

# A service manager stops the whole group; the server, and so the children, must outlive their runs' grace.
for _number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(_number, signal.SIG_IGN)

if os.environ.get("DJANGO_SETTINGS_MODULE"):
    django.setup()
    from django.db import connections

    from .pools import child  # noqa: F401  (and with it all that runs need)

    connections.close_all()
    gc.collect()
    gc.freeze()
