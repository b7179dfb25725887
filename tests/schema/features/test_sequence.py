"""Sequences: written and read back, by values and by columns; lists in lists; what does not fit is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from tests.audio.made_sounds import sound
from tests.images.made_images import saved

PIL = pytest.importorskip("PIL.Image")


def image(number: int) -> bytes:
    return saved(PIL.new("RGB", (4, 3), (number, 2 * number, 255 - number)), "png")


CASES: list[tuple[rs.Sequence, list[Any]]] = [
    (rs.Sequence(rs.Image(3, 4, encoding="png")), [[image(n) for n in range(k)] for k in (2, 0, 3)]),
    (rs.Sequence(rs.Image(), length=2), [[image(n), image(n + 1)] for n in range(3)]),
    (rs.Sequence(rs.Image(), length=1), [[image(n)] for n in range(3)]),
    (rs.Sequence(rs.Audio()), [[sound(1), sound(2)], [], [sound(3)]]),
    (rs.Sequence(rs.Text()), [["a", "é"], [], ["c"]]),
    (rs.Sequence(rs.Bytes(), length=3), [[b"\xff", b"", b"x"]] * 2),
    (rs.Sequence(rs.Label(["cat", "dog"])), [[0, 1, 1], [], [1]]),
    (rs.Sequence(rs.Scalar("int64")), [[1, 2], [], [3]]),
    (rs.Sequence(rs.Scalar("float64")), [[0.1, 2], [], [3.5]]),
    (rs.Sequence(rs.Scalar("float32"), length=1), [[0.5], [1.5]]),
    (rs.Sequence(rs.Tensor("float32", (2,)), length=2), [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]),
    (rs.Sequence(rs.Tensor("uint8", (2, 2))), [[[[1, 2], [3, 4]]], [], [[[5, 6], [7, 8]]] * 3]),
    (rs.Sequence(rs.Tensor("float64", (None, 2))), [[[[1, 2]], [[3, 4], [5, 6]]], [[]]]),
    (rs.Sequence(rs.Sequence(rs.Scalar("int64"))), [[[1, 2], [], [3]], [], [[4]]]),
    (rs.Sequence(rs.Sequence(rs.Text())), [[["a"], []], [["b", "c"]]]),
    (rs.Sequence(rs.Sequence(rs.Image())), [[[image(1)], []], [[image(2), image(3)]]]),
    (rs.Sequence(rs.Sequence(rs.Tensor("float32", (2,)), length=2)), [[[[1, 2], [3, 4]]], []]),
    (rs.Sequence(rs.Sequence(rs.Sequence(rs.Scalar("int64")))), [[[[1], []], []], [], [[[2, 3]]]]),
    (rs.Sequence(rs.Scalar("int64"), optional=True), [[1], None, []]),
    (rs.Sequence(rs.Sequence(rs.Scalar("int64")), optional=True), [[[1], []], None]),
]


def plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [plain(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize(("feature", "rows"), CASES, ids=[repr(feature) for feature, _ in CASES])
def test_written_and_read_back(feature: rs.Sequence, rows: list[Any], tmp_path: Path):
    schema = rs.Schema({"x": feature, "n": rs.Scalar("int64")})
    wanted = [
        None if row is None else plain([one.tolist() if hasattr(one, "tolist") else one for one in row]) for row in rows
    ]
    with rs.RecordWriter(tmp_path / "rows.tfrecord") as writer:
        for n, row in enumerate(rows):
            writer.write_rows([{"x": row, "n": n}], schema)
    with rs.RecordWriter(tmp_path / "columns.tfrecord") as writer:
        writer.write_columns({"x": rows, "n": np.arange(len(rows))}, schema)
    assert (tmp_path / "rows.tfrecord").read_bytes() == (tmp_path / "columns.tfrecord").read_bytes()
    ds = rs.open(tmp_path / "rows.tfrecord", schema=schema)
    assert [plain(row["x"]) for row in ds] == wanted
    assert plain(ds[-1]["x"]) == wanted[-1]
    column = ds[list(range(len(rows)))]["x"]
    with rs.RecordWriter(tmp_path / "again.tfrecord") as writer:
        writer.write_columns({"x": column, "n": np.arange(len(rows))}, schema)
    assert (tmp_path / "again.tfrecord").read_bytes() == (tmp_path / "rows.tfrecord").read_bytes()
    assert rs.Schema.from_json(schema.to_json()) == schema
    assert rs.Schema.from_tfmd(schema.to_tfmd()) == schema


def test_what_cannot_be_a_sequence():
    for feature in (
        rs.Steps(rs.Scalar("int64")),
        rs.Tensor("int64", (None,)),
        rs.Text((None,)),
        rs.Scalar("int64", optional=True),
        rs.Sparse("float32", 5),
        rs.Tensor("uint8", (None, None)),
    ):
        with pytest.raises(rs.SchemaError):
            rs.Sequence(feature)
    with pytest.raises(rs.SchemaError, match="length"):
        rs.Sequence(rs.Scalar("int64"), length=0)


def test_wrong_values_are_named():
    schema = rs.Schema({"x": rs.Sequence(rs.Image(encoding="png"))})
    with pytest.raises(rs.EncodeError, match="image") as caught:
        schema.columns_to_parts({"x": [[image(1)], [image(2), b"no image"]]})
    assert caught.value.row == 1
    with pytest.raises(rs.EncodeError, match="declared length"):
        rs.Schema({"x": rs.Sequence(rs.Scalar("int64"), length=2)}).columns_to_parts({"x": [[1, 2], [3]]})


@pytest.mark.parametrize(
    "stored",
    [
        {"x/ragged_flat_values": [1, 2, 3], "x/ragged_row_lengths_0": [2, 2]},
        {"x/ragged_flat_values": [1, 2, 3], "x/ragged_row_lengths_0": [4, -1]},
        {"x/ragged_flat_values": [1, 2, 3], "x/ragged_row_lengths_0": [2**62, 2**62]},
        {"x/ragged_flat_values": [1, 2, 3], "x/ragged_row_lengths_0": []},
    ],
    ids=repr,
)
def test_lengths_that_lie_are_refused(stored: Any, tmp_path: Path):
    with rs.RecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_example({"x/ragged_flat_values": [7], "x/ragged_row_lengths_0": [0, 1]})
        writer.write_example({key: np.array(value, np.int64) for key, value in stored.items()})
    ds = rs.open(tmp_path / "a.tfrecord", schema=rs.Schema({"x": rs.Sequence(rs.Sequence(rs.Scalar("int64")))}))
    assert plain(ds[0]["x"]) == [[], [7]]
    with pytest.raises(rs.SchemaMismatchError, match="do not add up"):
        ds[[0, 1]]
