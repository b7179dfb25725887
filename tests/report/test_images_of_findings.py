"""What a report shows of images: those that a finding names, and the formats that they really have."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.images import encode_image

pytest.importorskip("cv2")
RANDOM = np.random.default_rng(5)


def encoded(form: str) -> bytes:
    return encode_image(RANDOM.integers(0, 255, (24, 24, 3)).astype(np.uint8), form)


def written(path: Path, images: list[bytes], compression: str | None = None) -> Path:
    with rs.RecordWriter(path, compression=compression) as writer:
        for number, image in enumerate(images):
            writer.write_example({"image": image, "row": number})
    return path


def finding_html(report: rs.Report, code: str, page: Path) -> str:
    report.to_html(page)
    blocks: list[str] = re.findall(r"<details.*?</details>", page.read_text(), re.DOTALL)
    (block,) = [one for one in blocks if f"<b>{code}</b>" in one]
    return block


@pytest.mark.parametrize("compression", [None, "gzip"])
def test_records_that_a_finding_names_are_shown(tmp_path: Path, compression: str | None) -> None:
    images = [encoded("png") for _ in range(20)]
    images[7] = images[7][:200]
    report = rs.check(written(tmp_path / "a.tfrecord", images, compression=compression))
    block = finding_html(report, "V008", tmp_path / "page.html")
    assert "record 7, image" in block
    assert "cannot be decoded" in block
    copies = [*images[:5], *images[:2], *(encoded("png") for _ in range(20))]
    path = tmp_path / "copies.tfrecord"
    with rs.RecordWriter(path, compression=compression) as writer:
        for image in copies:
            writer.write_example({"image": image})
    block = finding_html(rs.check(path), "D003", tmp_path / "copies.html")
    assert block.count('<img src="data:image/png;base64,') >= 2


def test_findings_without_records_or_images_show_none(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    with rs.RecordWriter(path) as writer:
        for _ in range(20):
            writer.write_example({"x": [float("nan")]})
    report = rs.check(path)
    assert report.images == ()
    assert 'class="named"' not in finding_html(report, "V001", tmp_path / "page.html")


def test_all_formats_are_named_the_commonest_first(tmp_path: Path) -> None:
    images = [encoded("jpeg"), *(encoded("png") for _ in range(5))]
    report = rs.check(written(tmp_path / "a.tfrecord", images))
    report.to_html(tmp_path / "page.html")
    assert "png or jpeg image" in (tmp_path / "page.html").read_text()
