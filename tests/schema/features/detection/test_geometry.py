"""Boxes, Points and Labels: how they are stored, what they take and refuse, and what others read."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

import recordsmith as rs
from recordsmith.errors import EncodeError, SchemaError, SchemaMismatchError
from recordsmith.schema.native import compile_plan

BOXES: list[list[list[float]]] = [[[0, 0, 0.5, 1]], [], [[0.25, 0.5, 0.75, 1], [0, 0, 1, 1]]]
CORNERS = ("ymin", "xmin", "ymax", "xmax")


def test_the_stored_names_are_those_of_the_object_detection_api(tmp_path):
    schema = rs.Schema({"image/object/bbox": rs.Boxes()})
    with rs.write(tmp_path / "data", schema) as writer:
        writer.extend({"image/object/bbox": BOXES})
    opened = rs.open(tmp_path / "data")
    for number, boxes in enumerate(BOXES):
        stored = rs.decode_example(opened.raw(number))
        assert sorted(stored) == sorted(f"image/object/bbox/{side}" for side in CORNERS)
        for place, side in enumerate(CORNERS):
            assert stored[f"image/object/bbox/{side}"] == pytest.approx([box[place] for box in boxes])
        assert opened[number]["image/object/bbox"].shape == (len(boxes), 4)
        np.testing.assert_array_equal(opened[number]["image/object/bbox"], np.array(boxes).reshape(-1, 4))
    assert opened.schema["image/object/bbox"] == rs.Boxes()


def test_schemas_of_others(tmp_path):
    schema = rs.Schema({"a": rs.Boxes(), "b": rs.Boxes(split=False), "k": rs.Points(3), "l": rs.Labels(["x", "y"])})
    assert rs.Schema.from_tfmd(schema.to_tfmd()) == schema
    assert "bboxFormat" in str(schema.to_tfds())
    other = rs.Schema({**schema, "a": rs.Boxes(split=False)})
    assert "stored under other names" in str(schema.diff(other))
    other = rs.Schema({**schema, "l": rs.Labels(["y", "x"])})
    assert "class 0 was 'x'" in str(schema.diff(other))
    assert "may not be boxes" in str(rs.Schema({"b": rs.Tensor("float32", (None, 4))}).diff(schema.select(["b"])))


def test_lists_of_different_lengths_are_an_error_here_and_in_tensorflow():
    schema = rs.Schema({"b": rs.Boxes()})
    lists = {f"b/{side}": [0.5] * (2 if side == "xmax" else 1) for side in CORNERS}
    record = rs.encode_example(lists)
    from recordsmith import _core

    with pytest.raises(SchemaMismatchError, match="different numbers of coordinates"):
        schema.assemble(_core.decode_payloads(compile_plan(schema), [record]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        schema.parse_tf([record])


@pytest.mark.parametrize(
    ("box", "constraint"),
    [
        ([0, 0, 1, 1.02], "inside"),
        ([-0.5, 0, 1, 1], "inside"),
        ([0.5, 0, 0.25, 1], "order"),
        ([0, 0, np.nan, 1], "finite"),
        ([0, 0, np.inf, 1], "finite"),
    ],
)
@pytest.mark.parametrize("split", [True, False])
def test_what_no_box_is(box, constraint, split):
    with pytest.raises(EncodeError, match=constraint) as raised:
        rs.Boxes(split=split).column_to_parts([[[0, 0, 1, 1]], [[0, 0, 1, 1], box]])
    assert raised.value.row == 1


@pytest.mark.parametrize("value", [[[0, 0, 1]], [0, 0, 1, 1], "boxes", [[["a", 0, 1, 1]]]])
def test_other_shapes_are_errors(value):
    with pytest.raises(EncodeError):
        rs.Boxes().value_to_canonical(value)


def test_classes_by_name_or_number():
    labels = rs.Labels(["cat", "dog"])
    assert labels.value_to_canonical(["dog", "cat"]).tolist() == [1, 0]
    assert labels.value_to_canonical([1, 1]).tolist() == [1, 1]
    assert labels.value_to_canonical([]).tolist() == []
    with pytest.raises(EncodeError, match="no class with this name"):
        labels.value_to_canonical(["cow"])
    with pytest.raises(EncodeError):
        labels.value_to_canonical([2])
    assert rs.Labels(3).names == ("0", "1", "2")
    assert repr(rs.Labels(3)) == "Labels(3)"


@pytest.mark.parametrize(
    "make",
    [
        lambda: rs.Boxes(split=1),  # type: ignore[arg-type] # what is refused
        lambda: rs.Points(0),
        lambda: rs.Points(True),
        lambda: rs.Points(10**9),
        lambda: rs.Labels([]),
        lambda: rs.Labels(["a", "a"]),
        lambda: rs.Boxes(default=[[0, 0, 2, 2]]),
        lambda: rs.Boxes.from_json({"dtype": "int8"}),
        lambda: rs.Mask.from_json({"names": 3.5}),
        lambda: rs.Steps(rs.Boxes()),
    ],
)
def test_declarations_that_are_refused(make):
    with pytest.raises(SchemaError):
        make()


def test_masks_take_arrays_and_bytes(tmp_path):
    schema = rs.Schema({"mask": rs.Mask(["a", "b"]), "masks": rs.Masks()})
    pixels = np.arange(6, dtype=np.uint8).reshape(2, 3) % 2
    with rs.write(tmp_path / "data", schema) as writer:
        writer.add({"mask": pixels, "masks": [pixels, 1 - pixels]})
        writer.add({"mask": pixels[..., None], "masks": []})
    rows = list(rs.open(tmp_path / "data"))
    np.testing.assert_array_equal(tf.io.decode_png(rows[0]["mask"])[:, :, 0], pixels)
    np.testing.assert_array_equal(tf.io.decode_png(rows[0]["masks"][1])[:, :, 0], 1 - pixels)
    assert rows[1]["masks"] == []
    with pytest.raises(EncodeError):
        schema["mask"].value_to_canonical(np.zeros((2, 2, 3), np.uint8))
