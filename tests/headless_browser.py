"""A page in headless Chromium: what it became, what its console says, and what it asked the network for."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
_CONSOLE = re.compile(r":CONSOLE(?::|\()\d+\)?\] (.*)")
_OFFLINE = ("--disable-background-networking", "--disable-component-update", "--host-resolver-rules=MAP * ~NOTFOUND")


@dataclass(frozen=True)
class Visit:
    """What came of opening a page."""

    dom: str
    console: list[str]
    requests: list[str]


def visit(page: Path, folder: Path) -> Visit:
    """Open a page from disk, and wait until its scripts have run."""
    if CHROMIUM is None:
        pytest.skip("no chromium is installed, in which the page could be opened")
    log = folder / "network.json"
    command = [
        CHROMIUM,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        *_OFFLINE,
        f"--user-data-dir={folder / 'profile'}",
        f"--log-net-log={log}",
        "--enable-logging=stderr",
        "--dump-dom",
        page.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, timeout=120, check=True)
    seen = [event.get("params", {}) for event in json.loads(log.read_text())["events"]]
    # What the browser asks for by itself, such as updates, has no page as its origin.
    requests = [one["url"] for one in seen if "url" in one and one.get("initiator", "not an origin") != "not an origin"]
    return Visit(done.stdout.decode(), _CONSOLE.findall(done.stderr.decode(errors="replace")), requests)
