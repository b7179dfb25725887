"""Schema.diff: what differs, and whether old records can still be read. The answer is tried out on records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from tests.schema.export.tensors import written


def test_nothing_differs():
    schema = rs.Schema({"a": rs.Text(), "b": rs.Scalar("int64", default=3)})
    difference = schema.diff(schema.select(["b", "a"]))
    assert not difference
    assert difference.compatible
    assert str(difference) == "The schemas are the same."


def test_what_is_said():
    old = rs.Schema(
        {"gone": rs.Text(), "same": rs.Text(), "label": rs.Label(["cat", "dog"]), "x": rs.Tensor("float32", (4,))}
    )
    new = rs.Schema(
        {
            "same": rs.Text(),
            "label": rs.Label(["dog", "cat"]),
            "x": rs.Tensor("float32", (None,), description="any number"),
            "fresh": rs.Scalar("int64"),
            "extra": rs.Scalar("int64", optional=True),
        }
    )
    difference = old.diff(new)
    assert difference
    assert list(difference.added) == ["fresh", "extra"]
    assert list(difference.removed) == ["gone"]
    assert difference.changed["x"].settings == {"shape": ("(4,)", "(None,)"), "description": ("''", "'any number'")}
    assert difference.changed["x"].problem is None
    assert difference.problems == {
        "label": "class 0 was 'cat' and is now 'dog'",
        "fresh": "it is required, but the records do not have it",
    }
    assert not difference.compatible
    assert str(difference) == (
        "- gone: Text()\n"
        "+ fresh: Scalar('int64')\n"
        "+ extra: Scalar('int64', optional=True)\n"
        "~ label: Label(['cat', 'dog'])\n"
        "         Label(['dog', 'cat'])\n"
        "    names: ('cat', 'dog') -> ('dog', 'cat')\n"
        "~ x: Tensor('float32', (4,))\n"
        "     Tensor('float32', (None,), description='any number')\n"
        "    description: '' -> 'any number'\n"
        "    shape: (4,) -> (None,)\n"
        "Records of the first cannot be read with the second.\n"
        "    label: class 0 was 'cat' and is now 'dog'\n"
        "    fresh: it is required, but the records do not have it"
    )
    assert difference.to_json()["changed"]["x"]["settings"]["shape"] == ["(4,)", "(None,)"]


def test_a_thousand_classes_stay_readable():
    names = [f"class number {n}" for n in range(1000)]
    difference = rs.Schema({"x": rs.Label(names)}).diff(rs.Schema({"x": rs.Label([*names[:-1], "another"])}))
    assert max(map(len, str(difference).splitlines())) < 400
    assert "class 999 was 'class number 999' and is now 'another'" in str(difference)


IMAGE = b"GIF89a" + bytes([32, 0, 24, 0, 0, 0, 0])
READABLE: list[tuple[Any, Any, Any]] = [
    (rs.Scalar("int64"), rs.Scalar("int64", optional=True), 3),
    (rs.Scalar("int64"), rs.Scalar("int64", default=7), 3),
    (rs.Scalar("int64"), rs.Scalar("int64", min=0, description="more"), 3),
    (rs.Scalar("int64"), rs.Tensor("int64", (1,)), 3),
    (rs.Scalar("int64"), rs.Tensor("int64", (None,)), 3),
    (rs.Tensor("uint8", (2, 3)), rs.Tensor("uint8", (2, None)), np.ones((2, 3))),
    (rs.Scalar("uint8", storage="list"), rs.Scalar("int64"), 200),
    (rs.Scalar("uint64", storage="list"), rs.Scalar("int64"), 2**63 - 1),
    (rs.Scalar("bool", storage="list"), rs.Scalar("uint8", storage="list"), True),
    (rs.Scalar("float16", storage="list"), rs.Scalar("float32"), 0.5),
    (rs.Text(), rs.Bytes(), "text"),
    (rs.Text(), rs.Text((None,)), "text"),
    (rs.Image(), rs.Bytes(), IMAGE),
    (rs.Image(24, 32, encoding="gif"), rs.Image(channels=1), IMAGE),
    (rs.Label(["a", "b"]), rs.Label(["a", "b", "c"]), "b"),
    (rs.Label(["a", "b"]), rs.Scalar("int64"), "b"),
    (rs.Label(3), rs.Tensor("uint8", (None,), storage="list"), 2),
    (rs.Tensor("uint8", (2,)), rs.Bytes(), [1, 2]),
    (rs.Steps(rs.Text()), rs.Steps(rs.Bytes(), optional=True), ["a", "b"]),
    (rs.Packed({"a": ("uint8", (2,))}), rs.Bytes(), b"ab"),
    (rs.Tensor("uint8", (None, None)), rs.Tensor("uint8", (None, None), optional=True), [[1, 2]]),
]


@pytest.mark.parametrize(("old", "new", "value"), READABLE, ids=repr)
def test_what_is_called_readable_is(old: Any, new: Any, value: Any):
    difference = rs.Schema({"x": old}).diff(rs.Schema({"x": new}))
    assert difference.compatible, str(difference)
    payloads, rows = written(rs.Schema({"x": old}), [{"x": value}])
    assert_reads(payloads, new, value if isinstance(old, rs.Packed) else rows[0]["x"])


def assert_reads(payloads: list[bytes], feature: Any, value: Any) -> None:
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.tfrecord"
        with rs.RecordWriter(path) as writer:
            for payload in payloads:
                writer.write(payload)
        (row,) = list(rs.open(path, schema=rs.Schema({"x": feature})))
    found = row["x"]
    flat = np.asarray(found).reshape(-1).tolist()
    expected = np.asarray(value).reshape(-1).tolist()
    as_bytes = [entry.encode() if isinstance(entry, str) else entry for entry in flat]
    wanted = [entry.encode() if isinstance(entry, str) else entry for entry in expected]
    assert as_bytes == wanted or as_bytes == [np.asarray(value).tobytes()]


NOT_READABLE: list[tuple[Any, Any, str]] = [
    (rs.Scalar("int64", optional=True), rs.Scalar("int64"), "may lack it"),
    (rs.Scalar("int64", default=1), rs.Scalar("int64"), "may lack it"),
    (rs.Scalar("int64"), rs.Scalar("float32"), "int64 values are not float32"),
    (rs.Scalar("uint8"), rs.Scalar("int8"), "uint8 values are not int8"),
    (rs.Scalar("uint8"), rs.Scalar("int64"), "stored as bytes, not as list"),
    (rs.Scalar("int64"), rs.Scalar("uint8", storage="list"), "int64 values are not uint8"),
    (rs.Scalar("float32"), rs.Scalar("float16", storage="list"), "float32 values are not float16"),
    (rs.Tensor("int64", (2, 3)), rs.Tensor("int64", (3, 2)), "the shape was"),
    (rs.Tensor("int64", (None,)), rs.Tensor("int64", (3,)), "the shape was"),
    (rs.Tensor("int64", (6,)), rs.Tensor("int64", (2, 3)), "the shape was"),
    (rs.Bytes(), rs.Text(), "may not be UTF-8 text"),
    (rs.Bytes(), rs.Image(), "may not be images"),
    (rs.Bytes(), rs.Scalar("int64"), "not stored as numbers"),
    (rs.Scalar("int64"), rs.Text(), "not stored as strings"),
    (rs.Scalar("int64"), rs.Label(3), "may not be class numbers"),
    (rs.Label(3), rs.Label(2), "3 classes"),
    (rs.Label(["a", "b"]), rs.Label(["b", "a"]), "class 0"),
    (rs.Label(300), rs.Scalar("uint8", storage="list"), "class numbers"),
    (rs.Label(2), rs.Scalar("float32"), "class numbers"),
    (rs.Image(), rs.Image(24, 24), "height"),
    (rs.Image(encoding="png"), rs.Image(encoding="jpeg"), "encoding"),
    (rs.Steps(rs.Bytes()), rs.Steps(rs.Text()), "may not be UTF-8 text"),
    (rs.Steps(rs.Text()), rs.Text((None,)), "a different part"),
    (rs.Tensor("uint8", (None, 2)), rs.Tensor("uint8", (None, None)), "with their sizes"),
    (rs.Packed({"a": ("uint8", (2,))}), rs.Packed({"a": ("int8", (2,))}), "different positions"),
    (rs.Sparse("float32", 9), rs.Sparse("float32", 8), "the size was"),
    (rs.Sparse("float32", 9), rs.Sparse("int64", 9), "float32 values"),
    (rs.Bytes(), rs.Packed({"a": ("uint8", (2,))}), "stored differently"),
]


@pytest.mark.parametrize(("old", "new", "reason"), NOT_READABLE, ids=repr)
def test_what_is_not_readable_and_why(old: Any, new: Any, reason: str):
    difference = rs.Schema({"x": old}).diff(rs.Schema({"x": new}))
    assert not difference.compatible
    assert reason in difference.problems["x"]
    assert reason in str(difference)
    assert difference.to_json()["problems"]["x"] == difference.problems["x"]
