"""The demo from its setting-up to its summary."""

from __future__ import annotations

from pathlib import Path

from .ledger import Verdict
from .options import USUAL_PORT, DemoOptions
from .processes import Children
from .screens import make_screen
from .setting_up import ADMIN, set_up
from .story import Story


def run_demo(options: DemoOptions, folder: Path, port: int) -> int:
    """Tell the story; then stop, or go on until an interrupt. Return the exit status."""
    database = "PostgreSQL" if options.postgres else "SQLite"
    print(f"Setting up a shop on {database} in {folder} ...", flush=True)
    password = set_up()
    heading = f"Admin: http://127.0.0.1:{port}/admin/  user {ADMIN}  password {password}"
    if options.port is None and port != USUAL_PORT:
        heading += f"  (port {USUAL_PORT} is taken)"
    with Children(folder) as children, make_screen(heading) as screen:
        story = Story(screen, children, port)
        verdict, recovered_after = story.tell()
        for line in summary(verdict, recovered_after):
            screen.tell(line)
        if not options.ends:
            try:
                story.go_on()
            except KeyboardInterrupt:
                screen.tell("Stopping the workers and the site ...")
    return 0 if verdict.is_good else 1


def summary(verdict: Verdict, recovered_after: float) -> list[str]:
    """Return the verdict in lines, the worst first.

    An instant is passed over, and recorded so, when the job's run before is still going. Runs include one by hand.
    """
    bad = [f"LOST {words}" for words in verdict.lost] + [f"DOUBLED {words}" for words in verdict.doubled]
    return [
        *bad,
        f"Instants due {verdict.instants.looked_at} (passed over {verdict.passed_over}), runs {verdict.runs},"
        f" failed {verdict.failed}, effects {verdict.effects.looked_at}.",
        f"Lost {len(verdict.lost)}, doubled {len(verdict.doubled)}, recovered after {recovered_after:.1f} s.",
    ]
