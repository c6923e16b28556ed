from __future__ import annotations

import traceback
from importlib import import_module
from pathlib import Path

from django.apps import AppConfig, apps
from django.utils.module_loading import module_has_submodule
from django.utils.translation import gettext_lazy as _

from .exceptions import LeaseJobsError
from .registry import Refused, registry

PACKAGE = str(Path(__file__).parent)


class LeaseJobsConfig(AppConfig):
    name = "django_leasejobs"
    label = "leasejobs"
    verbose_name = _("Jobs")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from . import checks, narration  # noqa: F401  (each registers itself)
        from .commands import register_commands

        register_commands()
        for app in apps.get_app_configs():
            load_jobs(app)


def load_jobs(app: AppConfig) -> None:
    """Import the app's ``jobs`` module; keep what is wrong with a definition for the system checks to say."""
    if not module_has_submodule(app.module, "jobs"):
        return
    try:
        import_module(f"{app.name}.jobs")
    except LeaseJobsError as error:
        registry.refused.append(Refused(place=_place(error), words=str(error)))


def _place(error: LeaseJobsError) -> str:
    """Return the file and line of the definition: the innermost one that is not ours."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(PACKAGE)]
    return f"{frames[-1].filename}:{frames[-1].lineno}"
