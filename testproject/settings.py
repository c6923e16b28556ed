"""A small shop: shows the app at work and serves its tests. DATABASE_URL chooses the database."""

from __future__ import annotations

from pathlib import Path

import django
import environ

from testproject.database_url import database_from

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()

DATA_DIR = Path(env.str("SHOP_DATA_DIR", default=str(BASE_DIR / "data")))
DEBUG = env.bool("DEBUG", default=False)
SECRET_KEY = env.str("SECRET_KEY", default="only-for-the-demo-and-the-tests")
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", "testserver"]

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_leasejobs",
    "testproject.shop",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
]
ROOT_URLCONF = "testproject.urls"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
WSGI_APPLICATION = "testproject.wsgi.application"

DATABASES = {"default": database_from(env, default=f"sqlite:///{BASE_DIR / 'db.sqlite3'}")}
_database = DATABASES["default"]
if _database["ENGINE"].endswith("sqlite3"):
    # Several processes share the file: readers must not keep the writer out, and a writer waits its turn.
    _database["OPTIONS"] = {"timeout": 20, "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"}
    # Worker processes of a test need a file, not a database in the memory of one process.
    _database["TEST"] = {"NAME": env.str("TEST_SQLITE_FILE", default=str(DATA_DIR / "test.sqlite3"))}
elif _database["ENGINE"].endswith("mysql"):
    _database["OPTIONS"] = {**_database.get("OPTIONS", {}), "charset": "utf8mb4"}
    # Conditional indexes are whole ones there, which the tests count on.
    SILENCED_SYSTEM_CHECKS = ["models.W037"]

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
STATIC_URL = "static/"
_MAIL_BACKEND, _MAIL_FOLDER = "django.core.mail.backends.filebased.EmailBackend", str(DATA_DIR / "mail")
if django.VERSION >= (6, 1):
    MAILERS = {"default": {"BACKEND": _MAIL_BACKEND, "OPTIONS": {"file_path": _MAIL_FOLDER}}}
else:
    EMAIL_BACKEND, EMAIL_FILE_PATH = _MAIL_BACKEND, _MAIL_FOLDER

LEASEJOBS = {
    "COMMANDS": ["clearsessions"],
    "LEASE": env.str("SHOP_LEASE", default="30s"),
}
