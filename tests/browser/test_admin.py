from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from django_leasejobs.models import Job, Lease, Run, RunStatus
from tests.admin.support import page as address
from tests.admin.support import running, viewer
from tests.support.factories import make_job, make_run
from tests.support.processes import WorkerProcesses, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TASK = "shop.remind_unpaid"
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def root() -> User:
    return User.objects.create_superuser("root")


@pytest.mark.processes
def test_a_job_is_defined_triggered_and_run_by_a_worker(root: User, visit: Any, workers: WorkerProcesses) -> None:
    workers.start("--no-sync", "--poll-interval", "0.1")
    person = visit(root)
    page = person.open(address("job", "add"))

    page.fill("#id_name", "Remind")
    page.select_option("#id_task", TASK)
    page.fill("#id_schedule", "61 2 * * *")
    page.fill("#id_timezone", "Europe/Berlin")
    page.fill("#id_timeout", "soon")
    person.press("[name=_save]")
    assert "Minute 61 is out of range" in page.locator(".field-schedule .errorlist").inner_text()
    assert "not a length of time" in page.locator(".field-timeout .errorlist").inner_text()
    assert page.input_value("#id_name") == "Remind"

    page.fill("#id_schedule", "0 2 * * 1-5")
    page.fill("#id_timeout", "15m")
    person.press("[name=_preview]")
    assert "Runs at 02:00 on weekdays, Europe/Berlin" in page.locator(".leasejobs-glance").inner_text()
    assert page.locator(".leasejobs-instants tbody tr").count() == 5
    assert not Job.objects.exists()

    person.press("[name=_save]")
    assert "added successfully" in person.messages()[0]
    assert "at 02:00 on weekdays" in page.locator("#result_list").inner_text()

    person.press("#result_list >> text=Remind")
    person.press("text=Trigger now")
    assert not Run.objects.exists()
    person.press("[name=_do]")
    assert "Triggered: Remind." in person.messages()[0]

    run = wait_until(lambda: Run.objects.filter(status=RunStatus.SUCCESSFUL).first())
    person.press(".messagelist a")
    assert "successful" in page.locator(".fieldBox.field-badge").inner_text()
    assert (run.triggered_by, run.job_name, run.result) == ("root", "Remind", 0)


def test_who_may_only_see_finds_all_pages_and_no_button(visit: Any) -> None:
    job = make_job(task=TASK, schedule="@hourly")
    make_run(job)
    lease = running(make_job(task=TASK))
    person = visit(viewer())
    page = person.open(address("job"))

    assert page.locator("select[name=action]").count() == 0
    assert page.locator(".addlink").count() == 0
    person.press(f"#result_list >> text={job.name}")
    assert page.locator(".leasejobs-instants tbody tr").count() == 5
    assert page.locator(".object-tools li").all_inner_texts() == ["HISTORY"]
    assert page.locator("input[type=submit]").count() == 0
    for model in ("run", "lease", "worker"):
        person.open(address(model))
        assert page.locator("select[name=action]").count() == 0
        person.press("#result_list tbody th a")
        assert page.locator("input[type=submit]").count() == 0
    assert "Forbidden" in person_sees_403(person, address("lease", "release", lease.pk))


def person_sees_403(person: Any, path: str) -> str:
    person.open(path)
    # The browser logs the refused page, which is what is asked for here.
    person.complaints.clear()
    return str(person.page.content())


def test_chosen_jobs_are_paused_with_a_reason_and_resumed(root: User, visit: Any) -> None:
    for name in ("one", "two", "three"):
        make_job(name=name, task=TASK, schedule="@hourly")
    person = visit(root)
    page = person.open(address("job"))

    page.check("tr:has-text('one') .action-select")
    page.check("tr:has-text('two') .action-select")
    page.select_option("select[name=action]", "pause_selected")
    person.press("button[name=index]")
    page.fill("#id_reason", "supplier down")
    person.press("[name=_do]")

    assert person.messages() == ["Paused: one, two."]
    assert set(Job.objects.filter(pause_reason="supplier down").values_list("name", flat=True)) == {"one", "two"}
    person.press("#result_list tbody th a:text-is('one')")
    assert "by root: supplier down" in page.locator(".leasejobs-glance").inner_text()
    person.press("text=Resume")
    person.press("[name=_do]")
    assert person.messages() == ["Resumed: one."]


def test_an_expired_lease_is_released_after_a_question(root: User, visit: Any) -> None:
    running(make_job(task=TASK), expires_in=timedelta(minutes=-3))
    person = visit(root)
    page = person.open(address("lease"))

    assert "expired 3m" in page.locator("#result_list").inner_text()
    person.press("#result_list tbody th a")
    person.press("text=Release the lease")
    assert Lease.objects.exists()
    page.fill("#id_reason", "host is gone")
    person.press("[name=_do]")

    assert "Released, another worker may take up the run" in person.messages()[0]
    assert not Lease.objects.exists()
    assert Run.objects.get().status == RunStatus.READY


def test_no_script_in_names_logs_or_arguments_runs(root: User, visit: Any) -> None:
    job = make_job(name=SCRIPT, description=SCRIPT, task=SCRIPT, schedule_error=SCRIPT, kwargs={"a": SCRIPT})
    lease = running(job)
    Run.objects.update(log=SCRIPT, error=SCRIPT, traceback=SCRIPT, result=SCRIPT, args=[SCRIPT])
    person = visit(root)

    for path in (
        address("job"),
        address("job", "change", job.pk),
        address("job", "trigger", job.pk),
        address("run"),
        address("run", "change", lease.run_id),
        address("lease"),
    ):
        assert "alert(1)" in person.open(path).content()
    assert person.complaints == []
