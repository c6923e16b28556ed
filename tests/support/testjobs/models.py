from __future__ import annotations

from django.db import models


class Effect(models.Model):
    """What a run did to the world: one row each time."""

    run_id = models.BigIntegerField()
    token = models.BigIntegerField()
    slot = models.DateTimeField(null=True)
    word = models.CharField(max_length=200, blank=True)

    def __str__(self) -> str:
        return f"effect of run {self.run_id} under token {self.token}"


class Unique(models.Model):
    """A table with a rule to break."""

    name = models.CharField(max_length=50, unique=True)

    def __str__(self) -> str:
        return self.name
