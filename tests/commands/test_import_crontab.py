from __future__ import annotations

import io
import json
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import IntegrityError

from django_leasejobs.engine.import_jobs import NewJob, import_jobs
from django_leasejobs.models import Job
from tests.cases.test_cases import CRONTABS
from tests.commands.calling import call
from tests.docs.pages import codes, page
from tests.docs.pages import rows as rows_of
from tests.support.factories import make_job, now

pytestmark = pytest.mark.django_db

SITE = Path(CRONTABS[0]).parent / "django-site.cron"
JOB_LINES = """\
CRON_TZ=Europe/Berlin
0 2 * * * cd /srv/app && ./manage.py clearsessions
0 4 * * * python manage.py clearsessions
CRON_TZ=
*/5 * * * * DJANGO_SETTINGS_MODULE=site.settings django-admin send_digest --now "two words" >> /var/log/mail.log 2>&1
"""


@pytest.fixture(autouse=True)
def allowed(settings):
    settings.LEASEJOBS = {"COMMANDS": ["clearsessions", "send_digest", "gone"], "LEASE": "25s"}


@pytest.fixture
def crontab(tmp_path):
    def write(content, name="site.cron"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


def imported(*arguments):
    called = call("import_crontab", *map(str, arguments), "--format", "json")
    assert called.status == 0, called.err
    return json.loads(called.out)


def outcomes(report):
    return [(entry["line"], entry["outcome"]) for entry in report["entries"]]


def rows():
    return list(Job.objects.order_by("name").values())


@pytest.mark.parametrize("expected", CRONTABS, ids=lambda path: path.stem)
@pytest.mark.parametrize("mode", [("--dry-run",), ()])
def test_a_handed_file_gives_its_entries_with_outcome_and_reason_and_twice_changes_nothing(expected, mode) -> None:
    wanted = json.loads(expected.read_text())["entries"]
    told_apart = {"note", "next_3_utc", "why", "warning", "outcome", "reason"}

    report = imported(expected.with_suffix(".cron"), *mode)
    after_once = rows()
    again = imported(expected.with_suffix(".cron"), *mode)

    assert [{key: value for key, value in entry.items() if key not in told_apart} for entry in report["entries"]] == [
        {key: value for key, value in entry.items() if key not in told_apart} for entry in wanted
    ]
    assert all(entry["reason"] for entry in (*report["entries"], *again["entries"]))
    assert rows() == after_once
    assert bool(after_once) == (expected.stem == "django-site" and not mode)
    if not mode:
        assert {outcome for _, outcome in outcomes(again)} <= {"unchanged", "used", "not carried over"}


def test_a_line_that_runs_an_allowed_command_becomes_a_job_of_the_admin() -> None:
    report = imported(SITE)

    job = Job.objects.get()
    assert (job.name, job.task, job.args, job.kwargs) == ("clearsessions", "manage.py clearsessions", [], {})
    assert (job.schedule, job.timezone, job.source, job.enabled) == ("@daily", "UTC", "admin", True)
    assert job.next_run_at > now()
    assert job.lease == timedelta(seconds=25)
    assert job.description.startswith("From line 8 of django-site.cron: cd $SITE && ./manage.py clearsessions")
    (line,) = [entry for entry in report["entries"] if entry["line"] == 8]
    assert line["outcome"] == "created"
    assert line["reason"] == (
        "the job 'clearsessions': at 00:00 every day, UTC; it runs where the worker was started, not in '$SITE';"
        " what it prints is kept with the run"
    )


def test_each_other_line_is_reported_with_what_to_do() -> None:
    reasons = {entry["line"]: entry["reason"] for entry in imported(SITE)["entries"]}

    assert "Add it to LEASEJOBS['COMMANDS']" in reasons[7]
    assert "call it from a management command or a function with @job" in reasons[9]
    assert "let the machine's services start the command" in reasons[13]
    assert reasons[2] == "jobs need no shell"
    assert "nothing is mailed; failures are kept with their output, and check_jobs tells of them" in reasons[4]


def test_zones_arguments_and_repeated_commands_are_carried_over(crontab) -> None:
    report = imported(crontab(JOB_LINES), "--timezone", "Asia/Tokyo")

    assert outcomes(report) == [(1, "used"), (2, "created"), (3, "created"), (4, "used"), (5, "created")]
    assert list(Job.objects.order_by("pk").values_list("name", "args", "schedule", "timezone")) == [
        ("clearsessions", [], "0 2 * * *", "Europe/Berlin"),
        ("clearsessions (2)", [], "0 4 * * *", "Europe/Berlin"),
        ("send_digest --now two words", ["--now", "two words"], "*/5 * * * *", "Asia/Tokyo"),
    ]
    assert "variables are the worker's; not set: DJANGO_SETTINGS_MODULE" in report["entries"][4]["reason"]


def test_a_job_that_was_renamed_is_known_again_by_what_it_does(crontab) -> None:
    path = crontab(JOB_LINES)
    imported(path)
    Job.objects.filter(name="clearsessions").update(name="Clean up sessions", enabled=False)
    before = rows()

    report = imported(path)

    assert report["entries"][1]["reason"] == "the job 'Clean up sessions' does this already"
    assert rows() == before


def test_a_job_of_the_same_name_that_means_something_else_is_left_alone(crontab) -> None:
    make_job(name="clearsessions", task="shop.clear", schedule="0 5 * * *")
    before = rows()

    report = imported(crontab("0 2 * * * ./manage.py clearsessions\n"))

    assert outcomes(report) == [(1, "not carried over")]
    assert report["entries"][0]["reason"] == (
        "the job of this name has task 'shop.clear', not 'manage.py clearsessions', schedule '0 5 * * *', not"
        " '0 2 * * *'; change that one, or give it another name and import again"
    )
    assert rows() == before


def test_the_same_line_twice_makes_one_job(crontab) -> None:
    report = imported(crontab("0 2 * * * ./manage.py clearsessions\n" * 2))

    assert outcomes(report) == [(1, "created"), (2, "unchanged")]
    assert Job.objects.count() == 1


def test_a_system_crontab_has_a_user_column(crontab) -> None:
    report = imported(crontab("0 2 * * * www-data ./manage.py clearsessions\n"), "--system")

    assert report["entries"][0]["user"] == "www-data"
    assert "it runs as the worker's user, not as 'www-data'" in report["entries"][0]["reason"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("0 2 * * * ./manage.py clearsessions%yes", "what follows '%' would be its input"),
        ("0 2 * * * ./manage.py clearsessions | mail -s x root", "a pipe needs a shell"),
        ("0 2 * * * flock -n /tmp/x ./manage.py clearsessions", "runs of a job don't overlap by default"),
        ("0 2 * * * ./manage.py clearsessions $TODAY", "write its value out"),
        ("0 2 * * * ./manage.py migrate", "'migrate' may not run as a job. Add it to LEASEJOBS['COMMANDS']"),
        ("0 2 * * * ./manage.py clearsessions --dayz 7", "'clearsessions': unrecognized arguments: --dayz 7."),
        ("0 2 * * * ./manage.py gone", "There is no management command 'gone'."),
        ("0 0 31 2 * ./manage.py clearsessions", "never fires"),
        ("0 2 * * 8 ./manage.py clearsessions", "day of week 8 is out of range"),
        ("what is this", "neither NAME=value nor five time fields and a command"),
        ("0 2 * * *", "no command after the time fields"),
        (f"{','.join(['1'] * 200)} 2 * * * ./manage.py clearsessions", "at most 255 characters are possible"),
    ],
)
def test_what_cant_be_carried_over_is_said_never_dropped(crontab, line, words) -> None:
    report = imported(crontab(line + "\n"))

    assert outcomes(report) == [(1, "not carried over")]
    assert words in report["entries"][0]["reason"]
    assert not Job.objects.exists()


@pytest.mark.parametrize("row", rows_of(page("crontabs")), ids=lambda row: row[0])
def test_a_line_of_the_page_becomes_what_the_page_says(crontab, settings, row) -> None:
    settings.LEASEJOBS = {"COMMANDS": ["clearsessions", "send_digest"]}

    assert outcomes(imported(crontab(codes(row[0])[0] + "\n"))) == [(1, row[1])]


def test_the_table_has_a_line_for_each_entry_and_the_counts() -> None:
    called = call("import_crontab", str(SITE), "--dry-run")

    assert [line.split()[0] for line in called.lines[1:11]] == ["2", "3", "4", "5", "7", "8", "9", "11", "12", "13"]
    assert called.lines[-1] == "1 created, 0 unchanged, 9 not carried over. Nothing was written: this was a dry run."
    assert not Job.objects.exists()
    assert call("import_crontab", str(SITE)).lines[-1] == "1 created, 0 unchanged, 9 not carried over."


def test_standard_input_is_read_for_a_dash(monkeypatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(JOB_LINES.encode())))

    assert imported("-")["file"] == "a crontab"
    assert Job.objects.count() == 3


def test_a_file_without_entries_says_so(crontab) -> None:
    assert call("import_crontab", crontab("# nothing\n\n")).lines[0] == "The file has no entries."


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["/nowhere/at/all"], "'/nowhere/at/all' can't be read: No such file or directory."),
        ([str(SITE), "--timezone", "Europe/Berln"], "timezone: 'Europe/Berln' is not a known time zone; did you mean"),
    ],
)
def test_bad_input_is_refused_with_the_reason(arguments, words) -> None:
    called = call("import_crontab", *arguments)

    assert (called.status, called.out) == (1, "")
    assert called.err.startswith(words)


def test_a_file_in_another_encoding_is_refused_with_the_line(crontab) -> None:
    called = call("import_crontab", crontab("# one\n0 2 * * * ./manage.py clearsessions # für\n".encode("latin-1")))

    assert (called.status, "Line 2 of" in called.err, "is not UTF-8" in called.err) == (1, True, True)


def test_an_import_is_one_transaction() -> None:
    fine = NewJob(name="a", task="manage.py a", args=["x"], schedule="0 2 * * *", timezone="UTC")
    nameless = NewJob(name="", task="manage.py b", args=["x"], schedule="0 2 * * *", timezone="UTC")

    assert [placed.created for placed in import_jobs([fine], dry_run=True)] == [True]
    with pytest.raises(IntegrityError):
        import_jobs([fine, nameless])
    assert not Job.objects.exists()
