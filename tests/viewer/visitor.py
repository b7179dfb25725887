"""A real browser that visits the viewer: Debian's Chromium, driven by playwright. No browser is downloaded."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit


class Visitor:
    """A page, what it said, and where it sent requests."""

    def __init__(self, page: Any, client: Any) -> None:
        self.page = page
        self.client = client
        self.base = f"http://127.0.0.1:{client.server.port}"
        self.said: list[str] = []
        self.elsewhere: list[str] = []
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("dialog", self._dialog)
        page.on("request", self._request)
        page.goto(client.server.url)
        page.wait_for_selector("#count:has-text('record')")

    def _dialog(self, dialog: Any) -> None:
        self.said.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Any) -> None:
        if not request.url.startswith(self.base):
            self.elsewhere.append(request.url)

    def go(self, path: str) -> None:
        self.page.goto(self.base + path)

    def count(self, words: str) -> None:
        self.page.wait_for_function("words => document.querySelector('#count').textContent.includes(words)", arg=words)

    @property
    def query(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.page.url).query)

    def check(self) -> None:
        assert self.said == []
        assert self.elsewhere == []

    def nameless(self) -> list[str]:
        """What can be used or seen on the page, and has no name that a screen reader could read."""
        found: list[str] = self.page.evaluate(
            "() => [...document.querySelectorAll('a, button, input, select, [role=img], img')].filter(one => "
            "!(one.getAttribute('aria-label') || one.textContent.trim() || one.alt !== undefined || "
            "one.labels?.length)).map(one => one.outerHTML.slice(0, 100))"
        )
        return found
