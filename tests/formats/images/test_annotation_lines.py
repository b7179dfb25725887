"""Annotations that are refused come with lines that read them."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import numpy as np
import pytest

import recordsmith as rs
from tests.formats.detection.detection_folders import write_image

BOX = [0.1, 0.125, 0.5, 0.5]  # of 20 x 40 pixels: y from 2 to 10, x from 5 to 20


def labelme(root: Path) -> None:
    shape = {"label": "cat", "points": [[5, 2], [20, 10]], "shape_type": "rectangle"}
    said = {"version": "5.2", "shapes": [shape], "imagePath": "1.jpg", "imageHeight": 20, "imageWidth": 40}
    (root / "1.json").write_text(json.dumps(said))


def cvat(root: Path) -> None:
    box = '<box label="cat" occluded="0" xtl="5" ytl="2" xbr="20" ybr="10"/>'
    image = f'<image id="0" name="1.jpg" width="40" height="20">{box}</image>'
    (root / "annotations.xml").write_text(f"<annotations><version>1.1</version>{image}</annotations>")


def via(root: Path) -> None:
    at = {"name": "rect", "x": 5, "y": 2, "width": 15, "height": 8}
    region = {"shape_attributes": at, "region_attributes": {"kind": "cat"}}
    (root / "via.json").write_text(json.dumps({"1.jpg9": {"filename": "1.jpg", "size": 9, "regions": [region]}}))


def createml(root: Path) -> None:
    at = {"x": 12.5, "y": 6, "width": 15, "height": 8}
    said = [{"image": "1.jpg", "annotations": [{"label": "cat", "coordinates": at}]}]
    (root / "all.json").write_text(json.dumps(said))


@pytest.mark.parametrize("annotate", [labelme, cvat, via, createml])
def test_the_lines_read_the_boxes(annotate, tmp_path):
    write_image(tmp_path / "in/1.jpg", (20, 40))
    annotate(tmp_path / "in")
    with pytest.raises(rs.RecordsmithError, match="This looks like a") as caught:
        rs.make(tmp_path / "in", tmp_path / "out")
    message = str(caught.value)
    lines = textwrap.dedent(message[message.index("    rows = []") :]).replace('"data"', repr(str(tmp_path / "made")))
    exec(lines, {"rs": rs})
    (row,) = rs.open(tmp_path / "made")
    np.testing.assert_allclose(row["objects/bbox"], [BOX])
    assert row["image"] == (tmp_path / "in/1.jpg").read_bytes()
    assert rs.open(tmp_path / "made").schema["objects/label"] == rs.Labels(["cat"])
