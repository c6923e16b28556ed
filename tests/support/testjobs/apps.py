from __future__ import annotations

from django.apps import AppConfig


class TestJobsConfig(AppConfig):
    name = "tests.support.testjobs"
    label = "testjobs"
    default_auto_field = "django.db.models.BigAutoField"
