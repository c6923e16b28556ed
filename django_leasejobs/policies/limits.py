"""How long, how many, how much: the bounds of a job's options, for code, forms and tables alike."""

from __future__ import annotations

from datetime import timedelta

LONGEST_NAME = 200
LONGEST_QUEUE_NAME = 100
LONGEST_SCHEDULE = 255
LOWEST_PRIORITY, HIGHEST_PRIORITY = -100, 100
LARGEST_COUNT = 1_000_000
SHORTEST_LEASE = timedelta(seconds=1)
SHORTEST_TIMEOUT = timedelta(milliseconds=1)
SHORTEST_START_DEADLINE = timedelta(seconds=1)
