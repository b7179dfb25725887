"""The HTML report, also as a browser sees it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.dataset.row_decoding import RowOverview
from recordsmith.display.images import pixels_uri, thumbnail
from recordsmith.images import decode_image
from recordsmith.report import GridImage, ImageGrid, Report
from recordsmith.report.html import report_fragment, report_page
from tests.headless_browser import visit
from tests.made_reports import HOSTILE, SCRIPT, diagnose_report, hostile_report, lint_report, pets_report, png

REPORTS = [pets_report, lint_report, diagnose_report, hostile_report, lambda: Report("check")]


class Elements(HTMLParser):
    """All elements of a page with their attributes, and its texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in {"meta", "img", "input", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open
        assert self.open.pop() == tag, "elements are closed in their order"

    def handle_data(self, data):
        self.texts.append(data)


@pytest.mark.parametrize("made", REPORTS)
def test_a_page_needs_nothing_and_runs_nothing_but_its_own_script(made):
    page = report_page(made())
    elements = Elements(page)
    assert not elements.open
    assert [tag for tag, _ in elements.found].count("script") == 1
    for tag, attributes in elements.found:
        assert tag not in {"iframe", "object", "embed", "link", "base", "form"}
        assert not [name for name in attributes if name.startswith("on")]
        assert "style" not in attributes, "inline styles are refused by the page's own policy"
        source = attributes.get("src")
        assert source is None or re.fullmatch(r"data:image/(png|jpeg|webp|bmp|gif);base64,[A-Za-z0-9+/=]+", source)
        assert (attributes.get("href") or "#").startswith("#")


def test_the_policy_names_the_digests_of_the_one_style_and_the_one_script():
    page = report_page(hostile_report())
    policy = next(a["content"] for _, a in Elements(page).found if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; img-src data:;")
    for tag in ("style", "script"):
        content = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert content is not None
        digest = base64.b64encode(hashlib.sha256(content[1].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_what_is_hostile_is_text():
    elements = Elements(report_page(hostile_report()))
    assert "".join(elements.texts).count(SCRIPT) > 10
    assert "\u202e" not in "".join(elements.texts)
    assert "\x1b" not in "".join(elements.texts)
    assert "alert" not in {name for tag, attributes in elements.found for name in (tag, *attributes)}


def test_huge_texts_are_cut():
    assert len(report_page(hostile_report())) < 400_000


def test_a_page_shows_what_there_is():
    page = report_page(pets_report())
    text = " ".join(Elements(page).texts)
    for shown in (
        "12,000",
        "1.15 GB",
        "F002",
        "data-crc-wrong",
        "image/description",
        "axolotl",
        "record 17",
        "≈ 4,120",
    ):
        assert shown in text
    assert 'data-severity="warning"' in page
    assert page.count('class="damaged"') == 1
    assert page.count('<article class="card"') == 5
    assert page.count('<article class="sample"') == 6
    assert page.count("data:image/png;base64,") == 6


def test_sections_are_shown():
    page = report_page(diagnose_report())
    assert "What the model sees" in page
    assert page.count("data:image/png;base64,") == 3
    assert "float32 stretched to black and white" in page
    assert "<pre>ds = ds.map(f)\nds = ds.batch(2)</pre>" in page


def test_a_thumbnail_is_small_and_of_the_same_image():
    data = png(640, 320, (250, 10, 10))
    shown = thumbnail(data)
    assert shown is not None
    encoded = re.search(r"base64,([^\"]+)", shown)
    assert encoded is not None
    pixels = decode_image(base64.b64decode(encoded[1]))
    assert pixels.shape == (80, 160, 3)
    whole = decode_image(data)
    assert np.abs(pixels.mean((0, 1)) - whole.mean((0, 1))).max() < 2


def test_without_opencv_small_images_go_in_as_they_are(monkeypatch):
    from recordsmith.display import images
    from recordsmith.errors import MissingExtraError

    def missing(_):
        raise MissingExtraError("cv2", "images")

    monkeypatch.setattr(images, "decode_image", missing)
    data = png(20, 20)
    assert base64.b64encode(data).decode() in (thumbnail(data) or "")
    assert thumbnail(data + bytes(100_000)) is None


def test_bytes_that_begin_like_a_image_are_told_as_broken():
    assert "cannot be decoded" in (thumbnail(png(30, 30)[:60]) or "")


@pytest.mark.parametrize(
    ("pixels", "expected"),
    [
        (np.array([[0.0, 1.0], [0.5, np.nan]], np.float32), [[0, 255], [128, 0]]),
        (np.array([[True, False]]), [[255, 0]]),
        (np.array([[-3, 7]], np.int16), [[0, 255]]),
        (np.array([[5, 9]], np.uint8), [[5, 9]]),
    ],
)
def test_pixels_of_any_kind_become_a_image(pixels, expected):
    uri = pixels_uri(pixels)
    assert uri is not None
    decoded = decode_image(base64.b64decode(uri.partition(",")[2]))
    assert decoded[:, :, 0].tolist() == expected


def test_what_is_no_image_is_none():
    assert pixels_uri(np.zeros((3, 3, 7))) is None
    assert pixels_uri(np.zeros((0, 3, 3))) is None
    page = report_page(Report("diagnose", sections=(ImageGrid("x", (GridImage(np.zeros(5)),)),)))
    assert "no image" in page


def test_a_record_without_features_shows_its_text():
    page = report_page(Report("check", samples=(RowOverview(0, "a", 0, b"<hello>\xff", "text", None),)))
    assert "&lt;hello&gt;" in page


def test_a_notebook_gets_a_fragment_without_scripts():
    fragment = report_fragment(hostile_report())
    tags = {tag for tag, _ in Elements(fragment).found}
    assert tags <= {"div", "b", "table", "tr", "td", "br", "span", "tbody"}
    assert "no findings" in Report("check")._repr_html_()


@pytest.mark.parametrize("made", [pets_report, hostile_report])
def test_a_browser_shows_it_without_errors_and_without_asking_anybody(made, tmp_path: Path):
    page = tmp_path / "report.html"
    made().to_html(page)
    seen = visit(page, tmp_path)
    assert seen.console == []
    assert seen.requests == []
    assert '<button type="button" id="theme"' in seen.dom
    assert ">Dark</button>" in seen.dom or ">Light</button>" in seen.dom
    assert [tag for tag, _ in Elements(seen.dom).found].count("script") == 1


def test_the_browser_would_tell_of_errors_and_requests(tmp_path: Path):
    page = tmp_path / "bad.html"
    page.write_text(
        '<!DOCTYPE html><img src="http://127.0.0.1:9/x.png"><script>console.error("seen"); nothing()</script>'
    )
    seen = visit(page, tmp_path)
    assert len(seen.console) == 2
    assert seen.requests == ["http://127.0.0.1:9/x.png"]


def test_the_buttons_do_what_they_say(tmp_path: Path):
    page = tmp_path / "report.html"
    pets_report().to_html(page)
    # The page's policy lets nobody else's script run, so this copy goes without it.
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text())
    trial = """<script>
        const shown = (what) => [...document.querySelectorAll(what)].filter((one) => !one.hidden).length;
        const seen = [shown(".finding")];
        document.querySelector(".filter button[data-severity=warning]").click();
        seen.push(shown(".finding"));
        document.querySelector(".filter button[data-severity=warning]").click();
        seen.push(shown(".finding"));
        const ground = () => getComputedStyle(document.body).backgroundColor;
        const before = ground();
        document.getElementById("theme").click();
        seen.push(ground() !== before);
        document.getElementById("theme").click();
        seen.push(ground() === before);
        const search = document.getElementById("search");
        search.value = "IMA";
        search.dispatchEvent(new Event("input"));
        seen.push(shown("#features .card"));
        document.title = "tried " + JSON.stringify(seen);
    </script></body>"""
    page.write_text(text.replace("</body>", trial))
    assert "<title>tried [5,3,5,true,true,2]</title>" in visit(page, tmp_path).dom


def example_with_keys(keys: list[bytes], value: bytes) -> bytes:
    """An Example with one byte string under each key, put together by hand: keys may be no text at all."""

    def field(number: int, data: bytes) -> bytes:
        length, size = len(data), b""
        while length > 127:
            size, length = size + bytes([length & 127 | 128]), length >> 7
        return bytes([number << 3 | 2]) + size + bytes([length]) + data

    entries = b"".join(field(1, field(1, key) + field(2, field(1, field(1, value)))) for key in keys)
    return field(1, entries)


def test_a_dataset_that_means_harm_is_shown_as_what_it_is(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = f"{SCRIPT.replace('/', '')}.tfrecord"
    keys = [text[:300].encode(errors="surrogateescape") for text in HOSTILE]
    with rs.RecordWriter(path) as writer:
        for text in HOSTILE:
            writer.write(example_with_keys(keys, text.encode(errors="surrogateescape")))
        writer.write(example_with_keys([b"\xff\xfe", b"image"], png(9, 9)[:40] + b"<script>alert(6)</script>"))
        writer.write(b"<script>alert(7)</script> is no Example")
    report = rs.check(path)
    assert len(report.samples) > 5
    elements = Elements(report_page(report))
    assert not elements.open
    assert [tag for tag, _ in elements.found].count("script") == 1
    assert "onerror" not in {name for _, attributes in elements.found for name in attributes}
    assert "".join(elements.texts).count("alert(1)") > 5
    json.dumps(report.to_json(), allow_nan=False).encode()
    json.dumps(report.to_sarif(), allow_nan=False).encode()
    assert len(report.to_github().split("\n")) == len(report.findings)
