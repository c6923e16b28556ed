"""A real Chromium for the tests, through Playwright: the extra ``browser``."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, Page, sync_playwright

OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The system's Chromium if there is one, else the one that Playwright installed."""
    # Playwright keeps an event loop running in this thread, which Django takes for async code.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=OPTIONS)
        yield browser
        browser.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


class Visitor:
    """A person at a browser. Whatever the browser complains about is collected."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.address = address
        self.complaints: list[str] = []
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._hear)
        page.on("dialog", self._dismiss)

    def open(self, path: str) -> Page:
        self.page.goto(f"{self.address}{path}")
        return self.page

    def press(self, selector: str) -> None:
        """Click what leads to another page, and wait until that is there."""
        with self.page.expect_navigation():
            self.page.click(selector)

    def messages(self) -> list[str]:
        return self.page.locator(".messagelist li").all_inner_texts()

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning") and "favicon" not in message.location.get("url", ""):
            self.complaints.append(message.text)

    def _dismiss(self, dialog: Any) -> None:
        self.complaints.append(f"a dialog: {dialog.message}")
        dialog.dismiss()


@pytest.fixture
def visit(chromium: Browser, live_server: Any) -> Iterator[Any]:
    """Opens the browser for a user; at the end no page of theirs may have had an error."""
    visitors: list[Visitor] = []

    def as_user(user: User) -> Visitor:
        client = Client()
        client.force_login(user)
        context = chromium.new_context()
        cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
        context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": live_server.url}])
        visitors.append(Visitor(context.new_page(), live_server.url))
        return visitors[-1]

    yield as_user
    for visitor in visitors:
        visitor.page.context.close()
    assert [visitor.complaints for visitor in visitors] == [[] for _ in visitors]
