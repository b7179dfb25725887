"""`ds.view()` and `loader.view()`: a viewer in the background, which a notebook shows in a frame."""

from __future__ import annotations

import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

import recordsmith as rs
from recordsmith.viewer.notebook import View
from tests.headless_browser import CHROMIUM
from tests.viewer.conftest import Client


@pytest.fixture
def views() -> Iterator[list[View]]:
    """What is added to it is stopped."""
    started: list[View] = []
    yield started
    for one in started:
        one.stop()


def client_of(view: object) -> Client:
    assert isinstance(view, View)
    return Client(view._server)


def test_a_dataset_is_shown_until_it_is_stopped(pets, views):
    view = rs.open(pets).view()
    views.append(view)
    client = client_of(view)
    assert client.wait("/d/0/status", lambda status: status["indexed"])["count"] == 300
    assert client.server.token in view.url
    assert "frame-ancestors http://localhost:*" in client.get("/d/0/").headers["content-security-policy"]
    view.stop()
    with pytest.raises(OSError, match="refused"):
        client.get("/d/0/")
    view.stop()  # nothing happens


def test_a_part_of_a_dataset_is_refused(pets):
    with pytest.raises(rs.PipelineError, match="A selection of a dataset cannot be viewed"):
        rs.open(pets)[10:20].view()


def test_the_batches_of_a_chain_are_shown_in_its_order_with_their_records(pets, views):
    loader = rs.open(pets).images(size=(16, 16), scale=1 / 255).shuffle(seed=3).batch(5).pairs("image", "label")
    expected = rs.open(pets).select("caption").shuffle(seed=3).batch(5)
    captions = [text for batch in list(expected)[:4] for text in batch["caption"].to_list()]
    view = loader.view(batches=4)
    views.append(view)
    text = client_of(view).get("/batches").text
    numbers = [int(one) for one in re.findall(r'href="/d/0/r/(\d+)"', text)]
    assert [f" number {number}," in caption for number, caption in zip(numbers, captions, strict=True)] == [True] * 20
    assert "as it is stored" in text
    assert client_of(view).get("/batches/0/0/0").body.startswith(b"\x89PNG")
    assert client_of(view).get("/batches/0/0/1").status == 404  # the label
    assert client_of(view).get("/batches/99/0/0").status == 404


def test_looking_does_not_move_the_loader(pets, views):
    loader = rs.open(pets).select("age").shuffle(seed=3).batch(5)
    first = next(iter(loader))["age"].tolist()
    again = rs.open(pets).select("age").shuffle(seed=3).batch(5)
    views.append(again.view(batches=2))
    assert next(iter(again))["age"].tolist() == first


@pytest.mark.parametrize("chain", ["rows", "dict", "weights", "ragged", "nchw"])
def test_every_kind_of_chain_can_be_looked_at(pets, views, chain):
    ds = rs.open(pets)
    loaders: dict[str, Any] = {
        "rows": lambda: ds.select("age", "caption").shuffle(seed=0),
        "dict": lambda: ds.images(size=(8, 8)).batch(4).pairs(["image", "age"], "label"),
        "weights": lambda: ds.select("age", "weight", "label").batch(4).pairs("age", "label", weight="weight"),
        "ragged": lambda: ds.select("objects/bbox").batch(4),
        "nchw": lambda: ds.images(size=(8, 8), layout="NCHW").batch(4).pairs("image", "label"),
    }
    views.append(loaders[chain]().view(batches=2))
    text = client_of(views[-1]).get("/batches").text
    assert text.count('class="seen"') >= 8


def test_a_frame_in_a_page_of_localhost_shows_the_viewer(pets, views):
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install playwright"
    )
    if CHROMIUM is None:
        pytest.skip("no chromium is installed, in which the frame could be opened")
    view = rs.open(pets).view()
    views.append(view)
    page = f"<!DOCTYPE html><body>{view._repr_html_()}</body>".encode()

    class Notebook(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_: Any) -> None:
            pass

    notebook = ThreadingHTTPServer(("127.0.0.1", 0), Notebook)
    Thread(target=notebook.serve_forever, daemon=True).start()
    try:
        with playwright.sync_playwright() as started:
            browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            tab = browser.new_page()
            tab.goto(f"http://localhost:{notebook.server_port}/")
            tab.frame_locator("iframe").locator(".cell").first.wait_for(timeout=20_000)
            browser.close()
    finally:
        notebook.shutdown()
        notebook.server_close()
