from __future__ import annotations

import sys
from datetime import timedelta

import pytest

from django_leasejobs import JobDefinitionError, command_job, job
from django_leasejobs.checks import check_commands
from django_leasejobs.commands import register_commands
from django_leasejobs.engine.sync import sync_jobs
from django_leasejobs.models import Job
from django_leasejobs.registry import COMMAND_PREFIX, registry
from tests.support.factories import claim, make_job, make_run, make_worker

COMMANDS = ["clearsessions", "send_digest", "needs_a_package"]


@pytest.fixture(autouse=True)
def _allowed(settings):
    settings.LEASEJOBS = {"COMMANDS": COMMANDS}


def registered():
    return {name.removeprefix(COMMAND_PREFIX) for name in registry.tasks if name.startswith(COMMAND_PREFIX)}


def nothing():
    """Nothing."""


def test_each_allowed_command_is_a_task_and_no_other_is():
    assert registered() == set(COMMANDS)


def test_the_tasks_follow_the_setting(settings):
    settings.LEASEJOBS = {"COMMANDS": ["send_digest"]}
    assert registered() == {"send_digest"}
    settings.LEASEJOBS = {}
    assert registered() == set()


def test_registering_again_changes_nothing():
    before = list(registry.tasks)
    register_commands()
    assert sorted(registry.tasks) == sorted(before)


def test_registering_imports_no_command():
    sys.modules.pop("tests.support.testjobs.management.commands.send_digest", None)
    register_commands()
    assert "tests.support.testjobs.management.commands.send_digest" not in sys.modules
    assert registry.tasks["manage.py send_digest"].where == "tests.support.testjobs.management.commands.send_digest"


@pytest.mark.django_db
@pytest.mark.parametrize("lacking", [["clearsessions"], ["clearsessions", "send_digets"]])
def test_a_run_of_a_command_is_left_to_a_worker_that_has_it(settings, lacking):
    run = make_run(make_job(task="manage.py send_digest"))

    settings.LEASEJOBS = {"COMMANDS": lacking}
    left = claim(tasks=registry.tasks.keys())
    settings.LEASEJOBS = {"COMMANDS": COMMANDS}
    taken = claim(tasks=registry.tasks.keys())

    assert left.runs == ()
    assert [item.run_id for item in taken.runs] == [run.pk]


def test_no_other_task_may_have_the_name_of_a_command(settings):
    with pytest.raises(JobDefinitionError, match="a management command's own task"):
        job(name="manage.py flush")(nothing)


def test_a_command_that_there_is_not_is_a_warning_with_the_one_that_was_meant(settings):
    settings.LEASEJOBS = {"COMMANDS": ["clearsesions", "xyzzy", "send_digest"]}

    warnings = check_commands()

    assert [(item.id, item.hint, item.is_serious()) for item in warnings] == [
        ("leasejobs.W004", "Did you mean 'clearsessions'?", False),
        ("leasejobs.W004", "Correct it, or install the app that has it.", False),
    ]
    assert "names 'clearsesions', which is no management command" in warnings[0].msg


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("clearsesions", r"There is no management command 'clearsesions'\. Did you mean 'clearsessions'\?$"),
        ("needs_a_package", "'needs_a_package' can't be loaded: ModuleNotFoundError: No module named"),
        ("flush", "'flush' may not run as a job"),
    ],
)
def test_a_command_that_cannot_run_is_no_job(settings, command, words):
    settings.LEASEJOBS = {"COMMANDS": [*COMMANDS, "clearsesions"]}

    with pytest.raises(JobDefinitionError, match=words):
        command_job(command)
    assert command not in registry.jobs


def test_good_arguments_are_taken_as_call_command_takes_them():
    command_job("send_digest", name="a", args=["ann", "bob", "--days", 3, "--now"])
    command_job("send_digest", name="b", kwargs={"days": 3, "now": True, "verbosity": 0})
    assert registry.jobs["a"].args == ["ann", "bob", "--days", 3, "--now"]


def test_two_commands_cannot_be_jobs_of_one_name():
    command_job("send_digest", name="one")
    with pytest.raises(JobDefinitionError, match="'one'"):
        command_job("clearsessions", name="one")


@pytest.mark.django_db
def test_a_command_job_that_left_the_code_is_retired_while_workers_still_have_the_command():
    command_job("send_digest", name="digest", lease=timedelta(seconds=20))
    sync_jobs([registry.jobs["digest"]])
    make_worker(tasks=["manage.py send_digest"])

    assert sync_jobs([]).retired == ("digest",)
    assert Job.objects.get(name="digest").retired_at is not None
