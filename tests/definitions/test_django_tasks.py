from __future__ import annotations

import django
import pytest
from django.test import override_settings

from django_leasejobs import JobDefinitionError, job
from django_leasejobs.registry import registry

pytestmark = pytest.mark.skipif(django.VERSION < (6, 0), reason="django.tasks came with Django 6.0")

DUMMY = {"default": {"BACKEND": "django.tasks.backends.dummy.DummyBackend"}}


def as_task(func, **options):
    """Make a task as ``@task`` does; where there are none, the tests below are left out."""
    if django.VERSION < (6, 0):
        return func
    from django.tasks import task

    return task(**options)(func)


def add(a, b=0):
    """Add."""
    return a + b


@as_task
def multiply(a, b=0):
    """Its backend finds it by its name."""
    return a * b


def look_at(context, word):
    """Want a TaskContext."""


def test_a_job_may_wrap_a_task_and_runs_it_itself_where_the_project_has_no_queue():
    handle = job("@hourly", name="sum", args=[1], kwargs={"b": 2})(as_task(add))

    assert registry.jobs["sum"].task.func(*registry.jobs["sum"].args, **registry.jobs["sum"].kwargs) == 3
    assert (handle.name, handle(2, 3)) == ("sum", 5)


@override_settings(TASKS=DUMMY)
def test_a_task_of_another_backend_is_handed_to_that_backend():
    from django.tasks import default_task_backend

    handle = job(name="product", kwargs={"a": 1, "b": 2})(multiply)
    definition = registry.jobs["product"]

    result_id = definition.task.func(*definition.args, **definition.kwargs)

    (result,) = default_task_backend.results
    assert (result.id, result.task.name, result.args, result.kwargs) == (result_id, "multiply", [], {"a": 1, "b": 2})
    assert handle(2, 3) == 6, "a plain call stays one"


@pytest.mark.parametrize("tasks", [None, DUMMY], ids=["immediate", "dummy"])
def test_the_arguments_are_checked_against_the_function_of_the_task(tasks):
    with override_settings(**({} if tasks is None else {"TASKS": tasks})):
        wrapped = as_task(add)
        with pytest.raises(JobDefinitionError, match="'c'"):
            job(name="sum", kwargs={"a": 1, "c": 2})(wrapped)


def test_a_task_that_wants_a_context_gets_it_from_its_own_backend_or_is_refused():
    with pytest.raises(JobDefinitionError, match="TaskContext"):
        job(name="look", args=["there"])(as_task(look_at, takes_context=True))
    with override_settings(TASKS=DUMMY):
        job(name="look", args=["there"])(as_task(look_at, takes_context=True))
        with pytest.raises(JobDefinitionError, match="word"):
            job(name="look")(as_task(look_at, takes_context=True))
