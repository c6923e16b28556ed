from __future__ import annotations

from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection

from django_leasejobs.models import Run


@pytest.mark.django_db
def test_the_migrations_say_what_the_models_say(capsys: Any) -> None:
    call_command("makemigrations", "leasejobs", check=True, dry_run=True)

    assert "No changes detected" in capsys.readouterr().out


def test_names_of_constraints_and_indexes_are_short_enough_for_every_database() -> None:
    names = [
        item.name
        for model in apps.get_app_config("leasejobs").get_models()
        for item in (*model._meta.constraints, *model._meta.indexes)
    ]

    assert [name for name in names if len(name) > 30 or not name.startswith("leasejobs_")] == []
    assert len(names) == len(set(names))


@pytest.mark.django_db
def test_every_index_exists_on_this_database() -> None:
    """MariaDB leaves out indexes of expressions without a word: then a claim would sort and lock all that waits."""
    with connection.cursor() as cursor:
        found = {
            name for name, item in connection.introspection.get_constraints(cursor, Run._meta.db_table).items()
            if item["index"]
        }  # fmt: skip

    assert {index.name for index in Run._meta.indexes} <= found
