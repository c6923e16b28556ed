from __future__ import annotations

from typing import Any

import pytest

from django_leasejobs import JobDefinitionError, ScheduleError, command_job, job
from django_leasejobs.registry import registry
from tests.support.factories import make_run
from tests.testproject.support import attempt


def something() -> None:
    """Do nothing."""


def test_a_command_job_is_named_after_its_command() -> None:
    handle = command_job("clearsessions", "@daily", retries=2)
    definition = registry.jobs["clearsessions"]
    assert handle.definition == definition
    assert (definition.args, definition.schedule, definition.retries) == ([], "@daily", 2)
    assert definition.description == "manage.py clearsessions"


def test_the_same_command_may_be_two_jobs_of_two_names() -> None:
    command_job("clearsessions", "@daily", name="a")
    command_job("clearsessions", name="b", kwargs={"verbosity": 0})
    assert registry.jobs["b"].kwargs == {"verbosity": 0}


def test_a_command_that_is_not_on_the_list_is_refused(settings: Any) -> None:
    settings.LEASEJOBS = {"COMMANDS": []}
    with pytest.raises(JobDefinitionError, match=r"'clearsessions' may not run as a job.*COMMANDS"):
        command_job("clearsessions")


def test_two_jobs_of_one_name_are_refused() -> None:
    command_job("clearsessions", "@daily", name="twice")
    command_job("clearsessions", "@daily", name="twice")
    with pytest.raises(JobDefinitionError, match="'twice'"):
        command_job("clearsessions", "@hourly", name="twice")
    with pytest.raises(JobDefinitionError, match="'twice'"):
        job(name="twice")(something)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"retires": 1}, "no option 'retires'"),
        ({"name": " "}, "printable"),
        ({"takes_context": True}, "context"),
        ({"kwargs": {"when": object()}}, "JSON"),
        ({"name": "manage.py clearsessions"}, "own task"),
        ({"args": ["--dayz", "7"]}, r"'clearsessions': unrecognized arguments: --dayz 7\."),
        ({"kwargs": {"dayz": 3}}, r"'clearsessions': Unknown option\(s\).* dayz\."),
    ],
)
def test_an_option_that_cannot_be_meant_is_refused(options: dict[str, Any], error: str) -> None:
    with pytest.raises(JobDefinitionError, match=error):
        command_job("clearsessions", **options)


def test_a_bad_schedule_of_a_command_job_is_refused() -> None:
    with pytest.raises(ScheduleError):
        command_job("clearsessions", "0 0 31 2 *")


@pytest.mark.django_db(transaction=True)
def test_a_run_calls_the_command_with_its_arguments_and_keeps_what_it_prints(settings: Any, run_log: None) -> None:
    settings.LEASEJOBS = {"COMMANDS": ["send_digest"]}

    done = attempt(make_run(task="manage.py send_digest", args=["ann", "--days", 3], kwargs={"now": True}))

    assert done.status == "SUCCESSFUL"
    assert "['ann'] 3 True" in done.log
