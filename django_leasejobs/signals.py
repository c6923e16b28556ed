"""What a project may listen to. Each is sent after the transaction that made it true."""

from __future__ import annotations

from django.dispatch import Signal

# claimed: engine.claim.Claimed, worker: str
run_started = Signal()
# run_id, job_name, task, status, attempt, token, worker, retry_at (None when the run is over), error
run_finished = Signal()
# run_id, job_name, task, token, worker, outcome: "reclaimed" (taken over), "discarded" (a result came too late),
# "distrusted"
lease_lost = Signal()
# job_name, first, last, count, reason
job_missed = Signal()
# job_name, reason
job_paused = Signal()
# job_name, reason: the schedule of a job can't be followed
job_broken = Signal()
