"""The test project's settings with an app of test jobs, and with what a test turns by the environment."""

from __future__ import annotations

from testproject.settings import *  # noqa: F403
from testproject.settings import INSTALLED_APPS, LEASEJOBS, env

INSTALLED_APPS = [*INSTALLED_APPS, "tests.support.testjobs", *env.list("TESTS_APPS", default=[])]
LEASEJOBS = {**LEASEJOBS, "NOTIFY": env.bool("TESTS_NOTIFY", default=True)}
