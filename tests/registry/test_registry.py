from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from django_leasejobs.exceptions import JobDefinitionError, UnknownTask
from django_leasejobs.policies.calendars import Calendar
from django_leasejobs.registry import Registry, Task, require_json


def report(warehouse: str, *, year: int = 2026) -> None: ...


def with_context(context: Any, warehouse: str) -> None: ...


async def asynchronous() -> None: ...


TASK = Task(name="report", func=report)


def test_a_task_is_found_by_its_name() -> None:
    registry = Registry()
    registry.add_task(TASK)
    registry.add_task(Task(name="report", func=report))

    assert registry.get_task("report") == TASK


def test_an_unknown_task_is_refused_with_what_is_known() -> None:
    registry = Registry()

    with pytest.raises(UnknownTask, match=r"'x'. Known: none\."):
        registry.get_task("x")
    registry.add_task(TASK)
    with pytest.raises(UnknownTask, match=r"'os\.system'. Known: report\."):
        registry.get_task("os.system")


def test_two_functions_of_one_name_are_refused_with_both_places() -> None:
    registry = Registry()
    registry.add_task(TASK)

    with pytest.raises(JobDefinitionError, match=r"tests\.registry\.test_registry\.report and .*\.with_context"):
        registry.add_task(Task(name="report", func=with_context))


def test_two_calendars_of_one_name_are_refused_unless_they_are_the_same() -> None:
    registry = Registry()
    registry.add_calendar(Calendar.from_dict({"name": "holidays", "days": ["2026-12-25"]}))
    registry.add_calendar(Calendar.from_dict({"name": "holidays", "days": ["2026-12-25"]}))

    with pytest.raises(JobDefinitionError, match="Two calendars are named 'holidays'"):
        registry.add_calendar(Calendar.from_dict({"name": "holidays", "days": ["2026-12-26"]}))


@pytest.mark.parametrize(
    ("task", "args", "kwargs"),
    [
        (TASK, ["main"], {}),
        (TASK, [], {"warehouse": "main", "year": 2027}),
        (Task(name="c", func=with_context, takes_context=True), ["main"], {}),
        (Task(name="a", func=asynchronous), [], {}),
    ],
)
def test_arguments_that_fit_are_accepted(task: Task, args: list[Any], kwargs: dict[str, Any]) -> None:
    task.check_arguments(args, kwargs)


@pytest.mark.parametrize(
    ("args", "kwargs", "words"),
    [
        ([], {}, "missing a required argument: 'warehouse'"),
        (["main", 2026], {}, "too many positional"),
        (["main"], {"month": 1}, "no parameter takes the keyword 'month'"),
        ("main", {}, "must be a list"),
        (["main"], [1], "must be a dict"),
        ([dt.datetime(2026, 1, 1)], {}, "can't be stored as JSON"),
        ([float("nan")], {}, "can't be stored as JSON"),
        (["a\x00b"], {}, "NUL character"),
        (["a\ud800b"], {}, "surrogates not allowed"),
        ([{1, 2}], {}, "can't be stored as JSON"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_with_the_reason(args: Any, kwargs: Any, words: str) -> None:
    with pytest.raises(JobDefinitionError, match=words):
        TASK.check_arguments(args, kwargs)


def test_the_context_is_no_argument_of_the_job() -> None:
    assert list(Task(name="c", func=with_context, takes_context=True).signature.parameters) == ["warehouse"]


def test_coroutine_functions_are_known_as_such() -> None:
    assert Task(name="a", func=asynchronous).is_async
    assert not TASK.is_async
    assert TASK.where == "tests.registry.test_registry.report"


def test_json_is_what_every_database_stores() -> None:
    require_json({"a": [1, 2.5, None, True, "Ünï"]}, what="the result")

    with pytest.raises(JobDefinitionError, match=r"^The result can't be stored"):
        require_json(object(), what="the result")


@pytest.mark.parametrize(
    ("kwargs", "words"),
    [
        ({"warehose": 1}, r"no parameter takes the keyword 'warehose'; did you mean 'warehouse'\?$"),
        ({"a": 1, "yaer": 2}, r"no parameter takes the keyword 'a' or 'yaer'; did you mean 'year'\?$"),
        ({"warehouse": "main", "b": 1}, r"no parameter takes the keyword 'b'\.$"),
        ({"context": 1}, r"no parameter takes the keyword 'context'\.$"),
    ],
)
def test_a_keyword_that_nothing_takes_is_named_before_what_is_missing(kwargs: dict[str, Any], words: str) -> None:
    with pytest.raises(JobDefinitionError, match=words) as refused:
        TASK.check_arguments([], kwargs)
    assert refused.value.field == "kwargs"


def test_a_function_that_takes_any_keyword_knows_them_all() -> None:
    def anything(first: int, /, **more: Any) -> None: ...

    Task(name="anything", func=anything).check_arguments([1], {"first": 2, "second": 3})

    def positional(first: int, /) -> None: ...

    with pytest.raises(JobDefinitionError, match="no parameter takes the keyword 'first'"):
        Task(name="positional", func=positional).check_arguments([], {"first": 1})
