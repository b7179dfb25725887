"""Data that attacks whoever looks at it: everything is shown as text, within limits, and nothing crashes."""

from __future__ import annotations

import re
import signal
import struct
import subprocess
import sys
import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.images import encode_image
from tests.viewer.conftest import Client

SCRIPT = "<script>alert(1)</script>"
HANDLER = "\"'><img src=x onerror=alert(1)>"
PAGES = (
    "/d/0/",
    "/d/0/?layout=table",
    "/d/0/r/0",
    "/d/0/facts",
    "/d/0/findings",
    "/d/0/side",
    "/d/0/cells?start=0&count=9",
)


def written(path, *rows) -> str:
    with rs.RecordWriter(str(path)) as writer:
        for row in rows:
            writer.write_example(row)
    return str(path)


def everything(client) -> list[str]:
    client.wait("/d/0/status", lambda status: status["findings"] is not None or not status["busy"])
    texts = []
    for page in PAGES:
        answer = client.get(page)
        assert answer.status == 200, page
        texts.append(answer.text)
    return texts


def test_scripts_in_names_labels_and_texts_are_text(viewing, tmp_path):
    rows = [{SCRIPT: SCRIPT, HANDLER: [HANDLER] * 3, "label": HANDLER, "n": n} for n in range(20)]
    for text in everything(viewing(written(tmp_path / "a.tfrecord", *rows))):
        assert "<script>alert" not in text
        assert "<img src=x" not in text
        assert len(re.findall("<script", text)) <= 1


def test_scripts_in_the_query_are_text(viewing, pets):
    client = viewing(pets)
    for name in ("where", "q", "sort", "finding", "c.label", f"c.{SCRIPT}", "layout", "size", "sample"):
        text = client.get(f"/d/0/?{quote(name)}={quote(HANDLER + SCRIPT)}").text
        assert "<script>alert" not in text
        assert "<img src=x" not in text


def test_class_names_of_a_description_are_text(viewing, tmp_path):
    schema = rs.Schema({"label": rs.Label([SCRIPT, HANDLER, "a\u202eb"]), SCRIPT: rs.Text()})
    with rs.write(str(tmp_path / "d"), schema, name="d", split="train", shards=1) as writer:
        for n in range(30):
            writer.add({"label": n % 3, SCRIPT: HANDLER})
    for text in everything(viewing(str(tmp_path / "d"))):
        assert "<script>alert" not in text
        assert "<img src=x" not in text


def test_invisible_and_reversing_characters_are_visible(viewing, tmp_path):
    rows = [{"text": "a\u202ecod.exe\x00\x1b[31m\u200b", "t\u202ex": "é", "n": n} for n in range(3)]
    for text in everything(viewing(written(tmp_path / "a.tfrecord", *rows))):
        assert not re.search("[\u202e\x00\x1b\u200b]", text)


def test_svg_and_html_are_never_sent_as_such(viewing, tmp_path):
    svg = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"
    page = b"<!DOCTYPE html><script>alert(1)</script>"
    client = viewing(written(tmp_path / "a.tfrecord", {"image": svg, "page": page + b"\0"}))
    everything(client)
    for feature in ("image", "page"):
        for kind in ("image", "play", "raw", "heat", "mask", "wave", "nonsense"):
            answer = client.get(f"/d/0/media/0?f={feature}&kind={kind}")
            assert answer.headers["content-type"].split(";")[0] in ("application/octet-stream", "text/plain")
            if answer.headers["content-type"] == "application/octet-stream":
                assert answer.headers["content-disposition"].startswith("attachment")
            else:
                assert answer.status == 422


def test_a_giant_image_is_refused_by_its_header(viewing, tmp_path):
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0))
    bomb = b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(bytes(1 << 20))) + chunk(b"IEND", b"")
    client = viewing(written(tmp_path / "a.tfrecord", {"image": bomb}))
    answer = client.get("/d/0/media/0?f=image&kind=image&side=384")
    assert answer.status == 422
    assert "3,600,000,000 pixels" in answer.text
    everything(client)


def test_a_broken_jpeg_says_so(viewing, tmp_path):
    jpeg = encode_image(np.zeros((64, 64, 3), np.uint8), "jpeg")
    client = viewing(written(tmp_path / "a.tfrecord", {"image": jpeg[:-40]}, {"image": jpeg}))
    assert client.get("/d/0/media/0?f=image&kind=image&side=384").status in (200, 422)
    assert client.get("/d/0/media/1?f=image&kind=image&side=384").status == 200
    everything(client)


def test_ten_thousand_features(viewing, tmp_path):
    rows = [{f"feature-{n:05d}": float(n) for n in range(10_000)}]
    client = viewing(written(tmp_path / "a.tfrecord", *rows))
    for text in everything(client):
        assert len(text) < 4_000_000
    assert "Show all 10,000 features" in client.get("/d/0/r/0").text


def test_very_many_classes(viewing, tmp_path):
    names = [f"class {n}" for n in range(100_000)]
    schema = rs.Schema({"label": rs.Label(names)})
    with rs.write(str(tmp_path / "d"), schema, name="d", split="train", shards=1) as writer:
        writer.extend({"label": np.arange(2_000) * 40})
    client = viewing(str(tmp_path / "d"))
    for text in everything(client):
        assert len(text) < 1_000_000
    found = client.get("/d/0/complete?text=" + quote("label == 'class 999")).json
    assert 0 < len(found["items"]) <= 12
    classes = client.get("/d/0/classes?feature=label&find=9999").text
    assert classes.count('role="button"') == 19  # 9999, and 9999 after or before one more digit
    assert client.wait("/d/0/status?c.label=class+79960", lambda status: status["done"])["count"] == 1


@pytest.mark.proof
@pytest.mark.parametrize("declared", [True, False])
def test_a_million_classes(tmp_path, declared):
    """Opened by the command, in a process whose memory is measured."""
    names = [f"class {n:06d}" for n in range(1_000_000)]
    if declared:
        with rs.write(str(tmp_path / "d"), rs.Schema({"label": rs.Label(names)}), name="d", shards=1) as writer:
            writer.extend({"label": np.arange(1_000_000)})
    else:
        (tmp_path / "d").mkdir()
        with rs.RecordWriter(str(tmp_path / "d" / "a.tfrecord")) as writer:
            writer.write_columns({"label": names}, rs.Schema({"label": rs.Text()}))
    command = [sys.executable, "-m", "recordsmith", "view", str(tmp_path / "d"), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            link = urlsplit(process.stdout.readline().strip())
            told: Any = SimpleNamespace(port=link.port, token=parse_qs(link.query)["token"][0])
            client = Client(told)
            client.wait("/d/0/status", lambda status: status["findings"] is not None)
            for page in PAGES:
                assert len(client.get(page).body) < 1_000_000, page
            found = client.wait("/d/0/status?c.label=class+999999", lambda status: status["done"])
            assert found["count"] == 1
            if declared:
                assert "class 999999" in client.get("/d/0/classes?feature=label&find=99999").text
            peak = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process.pid}/status").read_text())
            assert peak is not None
            assert int(peak[1]) < 700_000
        finally:
            process.send_signal(signal.SIGINT)


def test_names_that_conditions_cannot_say_are_shown_without_a_filter(viewing, tmp_path):
    client = viewing(written(tmp_path / "a.tfrecord", *[{"a`b": n % 3, "": n} for n in range(9)]))
    everything(client)


@pytest.mark.parametrize("payload", [b"", b"\xff" * 100, b"plain text", b"\x0a\x05hello"])
def test_records_that_are_no_examples(viewing, tmp_path, payload):
    path = str(tmp_path / "a.tfrecord")
    with rs.RecordWriter(path) as writer:
        for _ in range(3):
            writer.write(payload)
    everything(viewing(path))


def noisy(path, compression) -> bytearray:
    with rs.RecordWriter(str(path), compression=compression) as writer:
        for number in range(200):
            writer.write_example({"n": number, "noise": np.random.default_rng(number).bytes(50)})
    return bytearray(path.read_bytes())


@pytest.mark.parametrize("compression", [None, "gzip"])
def test_a_file_that_is_cut_shows_what_is_before_the_end(viewing, tmp_path, compression):
    path = tmp_path / "a.tfrecord"
    data = noisy(path, compression)
    path.write_bytes(data[: len(data) // 2])
    client = viewing(str(path))
    status = client.wait("/d/0/status", lambda status: status["indexed"])
    assert 50 < status["count"] < 150
    assert client.get("/d/0/r/10").status == 200
    assert "recordsmith repair" in client.get("/d/0/").text
    assert client.wait("/d/0/status?where=n%20%3C%203", lambda one: one["done"])["count"] == 3
    everything(client)


@pytest.mark.parametrize("compression", [None, "gzip"])
def test_a_record_with_a_wrong_checksum_says_so_and_those_before_it_are_shown(viewing, tmp_path, compression):
    path = tmp_path / "a.tfrecord"
    data = noisy(path, compression)
    data[len(data) // 2] ^= 4
    path.write_bytes(data)
    client = viewing(str(path))
    client.wait("/d/0/status", lambda status: status["indexed"])
    before = client.get("/d/0/cells?start=20&count=30").text
    assert before.count("data-at") == 30
    assert "broken" not in before
    after = client.get("/d/0/cells?start=80&count=60").text
    if compression is None:  # the record has its number, and its place says what is wrong
        assert "broken" in after
    else:
        assert "does not match its checksum" in client.get("/d/0/").text
        assert "record 139" in after.lower()
    everything(client)


def test_a_record_that_became_damaged_says_so(viewing, tmp_path):
    path = tmp_path / "a.tfrecord"
    written(path, *[{"n": n} for n in range(20)])
    client = viewing(str(path))
    client.wait("/d/0/status", lambda status: status["indexed"])
    path.write_bytes(b"")
    assert client.get("/d/0/cells?start=10&count=5").status == 200
    assert client.get("/d/0/r/15").status in (200, 404, 500)


def test_an_empty_file(viewing, tmp_path):
    path = tmp_path / "a.tfrecord"
    path.write_bytes(b"")
    client = viewing(str(path))
    assert client.get("/d/0/").status == 200
    assert client.wait("/d/0/status", lambda status: status["done"])["count"] == 0


def test_a_search_that_fails_says_so_and_ends(viewing, pets, monkeypatch):
    from recordsmith.viewer.data import searching

    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("nobody expected this")

    client = viewing(pets)
    monkeypatch.setattr(searching, "search_rows", fail)
    status = client.wait("/d/0/status?where=age%20%3C%2099", lambda status: status["done"])
    assert status["error"]["text"] == "The search failed: nobody expected this"
    assert client.get("/d/0/records.txt?where=age%20%3C%2099").status == 422
