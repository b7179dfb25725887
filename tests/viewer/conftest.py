"""A viewer that runs for a test, and a client that has its token."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

import recordsmith as rs

pytest.importorskip("starlette", reason="the extra 'view' is not installed")
pytest.importorskip("uvicorn", reason="the extra 'view' is not installed")

from recordsmith.viewer.data.opened import OpenedDataset
from recordsmith.viewer.server import Server
from tests.headless_browser import CHROMIUM
from tests.viewer.visitor import Visitor


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """Sends requests to a server, with its cookie unless told otherwise."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.cookie = f"recordsmith-{server.port}={server.token}"

    def get(self, path: str, *, method: str = "GET", cookie: bool = True, **headers: str) -> Answer:
        connection = HTTPConnection("127.0.0.1", self.server.port, timeout=30)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if cookie:
            sent["Cookie"] = self.cookie
        connection.request(method, path, headers=sent)
        answer = connection.getresponse()
        found = Answer(answer.status, {key.lower(): value for key, value in answer.getheaders()}, answer.read())
        connection.close()
        return found

    def wait(self, path: str, until: Callable[[Any], bool]) -> Any:
        """Ask for a status until it is as wanted."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            status = self.get(path).json
            if until(status):
                return status
            time.sleep(0.02)
        raise AssertionError(f"{path} did not come to what was waited for: {status}")

    @property
    def opened(self) -> str:
        parts = urlsplit(self.server.url)
        return f"{parts.path}?{parts.query}"


Viewing = Callable[..., Client]


@pytest.fixture(scope="module")
def viewing() -> Iterator[Viewing]:
    """Return a function that starts a viewer of some paths."""
    servers = []

    def start(*paths: Any, **options: Any) -> Client:
        server = Server([OpenedDataset(path) for path in paths], **options)
        server.start()
        servers.append(server)
        return Client(server)

    yield start
    for server in servers:
        server.stop()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Return a browser that runs; skipped in words where there is none."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install playwright"
    )
    if CHROMIUM is None:
        pytest.skip("no chromium is installed, in which the viewer could be opened: apt install chromium")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visiting(chromium: Any, client: Client) -> Iterator[Callable[..., Visitor]]:
    """Return a function that opens a page of a viewer: that of the fixture `client`, or another."""
    contexts = []

    def visit(other: Client | None = None, **options: Any) -> Visitor:
        context = chromium.new_context(**{"viewport": {"width": 1200, "height": 800}, **options})
        context.set_default_timeout(20_000)
        contexts.append(context)
        return Visitor(context.new_page(), other or client)

    yield visit
    for context in contexts:
        context.close()


SCHEMA = rs.Schema(
    {
        "image": rs.Image(encoding="png"),
        "label": rs.Label(["cat", "dog", "bird"]),
        "weight": rs.Scalar("float32"),
        "age": rs.Scalar("int64"),
        "caption": rs.Text(),
        "objects/bbox": rs.Tensor("float32", (None, 4)),
        "signal": rs.Tensor("float32", (40,)),
    }
)


def pet(number: int) -> dict[str, Any]:
    pixels = np.full((30, 40, 3), (number * 7) % 256, np.uint8)
    return {
        "image": pixels,
        "label": number % 3,
        "weight": float(number) / 10,
        "age": number % 20,
        "caption": f"A {['cat', 'dog', 'bird'][number % 3]} number {number}, which waits in the garden",
        "objects/bbox": np.array([[0.1, 0.2, 0.5, 0.6]] * (1 + number % 2), np.float32),
        "signal": np.sin(np.arange(40, dtype=np.float32) + number),
    }


@pytest.fixture(scope="session")
def pets(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A dataset of 300 records of many kinds."""
    folder = str(tmp_path_factory.mktemp("viewer") / "pets")
    with rs.write(folder, SCHEMA, name="pets", split="train", shards=1) as writer:
        for number in range(300):
            writer.add(pet(number))
    return folder
