from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django_leasejobs.engine.facts import gather_facts
from django_leasejobs.management.output import JobsCommand, add_format, as_json
from django_leasejobs.policies.health import Finding, Level, judge, worst
from django_leasejobs.policies.health_facts import Facts
from django_leasejobs.texts import printable

STATUS = {None: 0, Level.WARNING: 1, Level.CRITICAL: 2}


class Command(JobsCommand):
    help = "Judges the jobs' health: exit status 0 healthy, 1 warning, 2 critical or not to be found out."
    # A probe that runs every minute: what the system checks say is said when the project starts.
    requires_system_checks = ()
    failure_status = 2

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_format(parser, plain="text")

    def run(self, options: dict[str, Any]) -> int:
        facts = gather_facts()
        findings = judge(facts)
        write = _json if options["format"] == "json" else _text
        self.stdout.write(write(facts, findings))
        return STATUS[worst(findings)]


def _text(facts: Facts, findings: tuple[Finding, ...]) -> str:
    looked_at = f"jobs: {len(facts.jobs)}, workers: {len(facts.workers)}, leases: {len(facts.leases)}"
    status = worst(findings)
    lines = [f"{'HEALTHY' if status is None else status.upper()} ({looked_at})"]
    lines += [f"{item.level.upper():8}  {item.code}: {printable(item.words)}" for item in findings]
    return "\n".join(lines)


def _json(facts: Facts, findings: tuple[Finding, ...]) -> str:
    return as_json(
        {
            "status": worst(findings) or "healthy",
            "now": facts.now,
            "jobs": len(facts.jobs),
            "workers": len(facts.workers),
            "leases": len(facts.leases),
            "findings": [asdict(item) for item in findings],
        }
    )
