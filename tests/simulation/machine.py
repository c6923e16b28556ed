"""Interleaves what can happen, at random but repeatable, and checks the world after each step."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from django_leasejobs.engine.outcomes import Died, Ending, HandedBack, Raised, Succeeded
from django_leasejobs.models import Attempt, Job, Lease, Run
from tests.simulation.world import VirtualWorker, World

OVERLAPS = ["skip", "queue", "allow", "replace"]
CATCH_UPS = ["latest", "all", "none"]
# One rule with weighted choices: Hypothesis leaves whole rules out of an example at random, and each act is needed.
WEIGHTS = {
    "time": 5, "claim": 4, "end": 3, "finish": 3, "reclaim": 3, "renew": 2, "plan": 1, "die": 1,
    "trigger": 2, "release": 1, "cancel": 1, "retry": 1,
}  # fmt: skip
numbers = st.integers(0, 20)
seconds = st.sampled_from([0.25, 0.5, 1, 1, 2, 2, 3, 4, 5, 7, 10, 35])
delays = st.sampled_from([0, 0, 0, 0.25, 1, 2.5])
kills = st.sampled_from([None] * 40 + [*range(1, 12)])
answers = st.sampled_from([True, True, True, True, False])
endings = st.sampled_from([Succeeded(), Succeeded(), Succeeded(), Raised("boom"), Died("boom"), HandedBack("stop")])


class LeaseMachine(RuleBasedStateMachine):
    """Three workers, two jobs, one database."""

    world_class: ClassVar[type[World]] = World

    def __init__(self) -> None:
        super().__init__()
        for model in (Attempt, Lease, Run, Job):
            model.objects.all().delete()

    @initialize(
        overlaps=st.tuples(st.sampled_from(OVERLAPS), st.sampled_from(OVERLAPS)),
        catch_ups=st.tuples(st.sampled_from(CATCH_UPS), st.sampled_from(CATCH_UPS)),
    )
    def start(self, overlaps: tuple[str, str], catch_ups: tuple[str, str]) -> None:
        self.world = self.world_class(overlaps, catch_ups)
        self.world.clock.advance(10)
        self.world.plan(self.world.workers[0], None)

    @rule(
        act=st.sampled_from([act for act, weight in WEIGHTS.items() for _ in range(weight)]),
        number=numbers, seconds=seconds, ending=endings, delay=delays, killed=kills, answered=answers,
    )  # fmt: skip
    def happens(
        self, act: str, number: int, seconds: float, ending: Ending, delay: float, killed: int | None, answered: bool
    ) -> None:
        world = self.world
        match act:
            case "time":
                world.clock.advance(seconds)
            case "plan":
                world.plan(self._awake(number), killed)
            case "claim":
                world.claim(self._awake(number), 1 + number % 3, delay, killed, answered=answered)
            case "renew":
                world.renew(self._awake(number, lambda worker: len(worker.book)), delay, answered=answered)
            case "end":
                # The code of a run may end while its worker is stopped.
                world.end(self._worker(number, lambda worker: len(worker.doing)), number, ending)
            case "finish":
                world.finish(self._worker(number, lambda worker: len(worker.inbox)), killed, answered=answered)
            case "reclaim":
                world.reclaim(self._awake(number), killed)
            case "die":
                self._worker(number).forget()
            case _:
                # What a person does: trigger, cancel, release, retry.
                getattr(world, act)(number)

    @invariant()
    def holds(self) -> None:
        if hasattr(self, "world"):
            world = self.__dict__.pop("world")
            world.check()
            # Only a sound world is brought to its end afterwards: what that says would hide the failure.
            self.world = world

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.world.settle()

    def _worker(self, number: int, load: Callable[[VirtualWorker], int] = lambda worker: 1) -> VirtualWorker:
        """Return one of the workers, of those that have something to do if there are any."""
        workers = self.world.workers
        busy = [worker for worker in workers if load(worker)] or workers
        return busy[number % len(busy)]

    def _awake(self, number: int, load: Callable[[VirtualWorker], int] = lambda worker: 1) -> VirtualWorker:
        """Return a worker that looked at its trust before anything else, as after a stop of whatever length."""
        worker = self._worker(number, load)
        self.world.watch(worker)
        return worker
