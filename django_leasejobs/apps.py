from __future__ import annotations

from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules
from django.utils.translation import gettext_lazy as _


class LeaseJobsConfig(AppConfig):
    name = "django_leasejobs"
    label = "leasejobs"
    verbose_name = _("Jobs")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from . import checks, commands, narration  # noqa: F401  (each registers itself)

        autodiscover_modules("jobs")
