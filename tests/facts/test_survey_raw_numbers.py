"""Numbers that are stored as bytes are surveyed as the numbers that the schema declares."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.facts.feature_order import with_parts
from recordsmith.facts.survey import survey
from tests.facts.surveying import same_for_all_threads, small_units, write_rows
from tests.facts.test_survey_numbers import check_numbers, feature, numbers_of

DTYPES: tuple[Any, ...] = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64"),
)
SEEDED = {dtype: number for number, dtype in enumerate(DTYPES)}


def made(dtype: Any, rows: int, width: int) -> np.ndarray:
    """Numbers over the whole range of a dtype, with what is special about floats."""
    random = np.random.default_rng(SEEDED[dtype])
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return random.integers(0, 2, (rows, width)).astype(kind)
    if kind.kind in "iu":
        info = np.iinfo(kind)
        return random.integers(info.min, info.max, (rows, width), dtype=kind, endpoint=True)
    values = random.normal(0, 100, (rows, width)).astype(kind)
    values[3, 0], values[4, 0], values[5, 0] = np.nan, np.inf, -np.inf
    values[6, 0] = np.finfo(kind).smallest_subnormal
    values[7, 0] = np.finfo(kind).max
    values[8, 0] = -0.0
    return values


def write(folder: Path, schema: rs.Schema, columns: dict[str, Any]) -> Path:
    with rs.write(folder, schema) as writer:
        writer.extend(columns)
    return folder


@pytest.mark.parametrize("dtype", DTYPES)
def test_each_dtype_is_counted_as_numpy_counts_it(tmp_path: Path, dtype: Any, monkeypatch) -> None:
    small_units(monkeypatch, 2_000)
    values = made(dtype, 400, 6)
    schema = rs.Schema({"x": rs.Tensor(dtype, (2, 3), storage="bytes")})
    folder = write(tmp_path / "data", schema, {"x": values.reshape(400, 2, 3)})
    facts = same_for_all_threads(str(folder))
    found = feature(facts, "x")
    flat = values.ravel()
    check_numbers(numbers_of(facts, "x"), flat.astype(np.int64) if dtype == "bool" else flat)
    assert found.raw_dtype == dtype
    assert found.number_kind == ("float" if np.dtype(dtype).kind == "f" else "int64")
    assert found.lengths is not None
    assert (found.lengths.min, found.lengths.max) == (6, 6)
    assert found.strings is not None
    assert found.strings.encoding == "binary"
    assert found.strings.leading_space == found.strings.trailing_space == 0
    assert found.images is None
    if np.dtype(dtype).kind == "f":
        assert [place.detail for place in found.nan_places] == ["NaN", "infinity", "-infinity"]
        assert [place.record for place in found.nan_places] == [3, 4, 5]
        assert numbers_of(facts, "x").max == float(np.finfo(dtype).max)
    assert facts.mismatches == ()
    total = numbers_of(facts, "x")
    in_split = facts.splits["train"].features[0].numbers
    assert in_split == total


@pytest.mark.parametrize("dtype", DTYPES)
def test_without_a_description_they_are_bytes_and_nothing_false_is_said(tmp_path: Path, dtype: Any) -> None:
    values = made(dtype, 60, 6)
    folder = write(tmp_path / "data", rs.Schema({"x": rs.Tensor(dtype, (6,), storage="bytes")}), {"x": values})
    for description in [*folder.glob("*.json"), *folder.glob("*.txt"), *folder.glob("*.pbtxt")]:
        description.unlink()
    facts = survey(str(folder))
    assert feature(facts, "x").numbers is None
    assert feature(facts, "x").raw_dtype == ""
    said = {finding.code for finding in rs.check(folder).findings}
    assert not said & {"V001", "V006", "V007", "V015"}
    # A schema that is given says what they are.
    declared = survey(str(folder), schema=rs.Schema({"x": rs.Tensor(dtype, (6,), storage="bytes")}))
    assert numbers_of(declared, "x").count == values.size


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_a_complex_number_counts_as_two(tmp_path: Path, dtype: Any) -> None:
    values = np.array([1 + 2j, complex(np.nan, -5), 3 + 0j], dtype)
    folder = write(tmp_path / "data", rs.Schema({"z": rs.Scalar(dtype)}), {"z": values})
    found = numbers_of(survey(str(folder)), "z")
    assert (found.count, found.nan, found.min, found.max) == (6, 1, -5.0, 3.0)
    assert [one.code for one in rs.check(folder).findings] == ["V001"]


def test_doubles_beyond_the_squares_of_doubles(tmp_path: Path) -> None:
    values = np.array([-1.7e308, 1.7e308, 1e300, 0.0])
    folder = write(tmp_path / "data", rs.Schema({"x": rs.Scalar("float64")}), {"x": values})
    check_numbers(numbers_of(survey(str(folder)), "x"), values)


def test_rows_of_different_length_and_optional_ones(tmp_path: Path) -> None:
    schema = rs.Schema({"x": rs.Tensor("float64", (None,)), "y": rs.Scalar("int16", optional=True)})
    rows = [{"x": np.arange(n, dtype=np.float64), "y": None if n % 2 else n} for n in range(40)]
    with rs.write(tmp_path / "data", schema) as writer:
        for row in rows:
            writer.add(row)
    facts = survey(str(tmp_path / "data"))
    lengths = feature(facts, "x").lengths
    assert lengths is not None
    assert (lengths.min, lengths.max, lengths.mean) == (0, 39, 19.5)
    check_numbers(numbers_of(facts, "x"), np.concatenate([row["x"] for row in rows]))
    assert numbers_of(facts, "y").count == 20
    assert feature(facts, "y").missing == 20


def test_parts_of_a_packed_feature(tmp_path: Path) -> None:
    schema = rs.Schema(
        {"row": rs.Packed({"pixels": ("uint8", (4, 4)), "score": ("float64", ()), "far": ("int32", (2,))})}
    )
    scores = np.linspace(0, 1, 60)
    scores[7] = np.nan
    pixels = np.random.default_rng(0).integers(0, 256, (60, 4, 4)).astype(np.uint8)
    far = np.stack([np.arange(60), -np.arange(60)], axis=1).astype(np.int32)
    columns = {"row": {"pixels": pixels, "score": scores, "far": far}}
    folder = write(tmp_path / "data", schema, columns)
    facts = same_for_all_threads(str(folder))
    parts = {one.name: one for one in with_parts(facts.features)}
    assert list(parts) == ["row[pixels]", "row[score]", "row[far]"]
    for name, values in (("pixels", pixels), ("score", scores), ("far", far)):
        found = parts[f"row[{name}]"].numbers
        assert found is not None
        check_numbers(found, values.ravel())
    assert feature(facts, "row").numbers is None
    (nan,) = [one for one in rs.check(folder).findings if one.code == "V001"]
    assert (nan.location.feature, nan.location.record) == ("row[score]", 7)


def test_steps_of_raw_numbers(tmp_path: Path) -> None:
    schema = rs.Schema({"signal": rs.Steps(rs.Tensor("float64", (2,)))})
    rows = [{"signal": np.full((n % 4, 2), n, np.float64)} for n in range(40)]
    rows[6]["signal"][:, 1] = np.inf
    with rs.write(tmp_path / "data", schema) as writer:
        for row in rows:
            writer.add(row)
    facts = survey(str(tmp_path / "data"))
    found = facts.feature("signal", in_steps=True)
    assert found is not None
    assert found.numbers is not None
    check_numbers(found.numbers, np.concatenate([row["signal"].ravel() for row in rows]))
    assert [place.record for place in found.nan_places] == [6]  # once, though it has two such steps


def test_values_of_a_wrong_size_are_a_wrong_shape_and_no_numbers(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "a.tfrecord", [{"x": b"\0" * 8}] * 30 + [{"x": b"\0" * 7}])
    fixed = survey(path, schema=rs.Schema({"x": rs.Scalar("float64")}))
    assert numbers_of(fixed, "x").count == 30
    assert [(one.kind, one.count) for one in fixed.mismatches] == [("shape", 1)]
    free = survey(path, schema=rs.Schema({"x": rs.Tensor("float64", (None,))}))
    assert [(one.kind, one.count, one.places[0].record) for one in free.mismatches] == [("shape", 1, 30)]


@pytest.mark.parametrize(
    ("declared", "value"),
    [
        (rs.Scalar("uint8", storage="list"), 300),
        (rs.Scalar("bool", storage="list"), 2),
        (rs.Scalar("bool"), b"\2"),
        (rs.Steps(rs.Scalar("int8", storage="list")), None),
        (rs.Packed({"flag": ("bool", ())}), b"\2"),
    ],
)
def test_values_outside_the_declared_dtype_are_told(tmp_path: Path, declared: rs.Feature, value: Any) -> None:
    path = tmp_path / "a.tfrecord"
    with rs.RecordWriter(path) as writer:
        if value is None:
            writer.write(rs.encode_sequence_example({}, {"x": [[1], [200]]}))
        else:
            writer.write_example({"x": value})
    (found,) = survey(path, schema=rs.Schema({"x": declared})).mismatches
    assert (found.kind, found.count) == ("dtype", 1)
    assert [
        one.code for one in rs.check(path, schema=rs.Schema({"x": declared})).findings if one.severity == "error"
    ] == ["S003"]


def test_integer_labels_stored_as_bytes_are_labels(tmp_path: Path) -> None:
    for dtype in ("uint8", "int8", "int16", "int32", "uint32", "bool"):
        labels = (np.arange(60) % 2).astype(dtype)
        folder = write(tmp_path / dtype, rs.Schema({"label": rs.Scalar(dtype)}), {"label": labels})
        (label,) = survey(str(folder)).labels
        assert label.counts == {"train": {"0": 30, "1": 30}}
    folder = write(tmp_path / "real", rs.Schema({"label": rs.Scalar("float64")}), {"label": np.arange(60) / 7})
    assert survey(str(folder)).labels == ()


def test_drift_between_splits_is_seen_in_raw_numbers(tmp_path: Path) -> None:
    schema = rs.Schema({"heat": rs.Scalar("float64"), "row": rs.Packed({"cold": ("float16", ())})})
    random = np.random.default_rng(0)
    for split, mean in (("train", 0.0), ("test", 3.0)):
        with rs.write(tmp_path / "data", schema, split=split) as writer:
            heat = random.normal(mean, 1, 500)
            writer.extend({"heat": heat, "row": {"cold": heat.astype(np.float16)}})
    found = [one.location.feature for one in rs.check(tmp_path / "data").findings if one.code == "D013"]
    assert found == ["heat", "row[cold]"]


def test_histograms_of_whole_numbers_have_no_gaps(tmp_path: Path) -> None:
    for most in (1, 2, 9, 20, 21, 30, 37, 100, 255, 1000):
        values = np.tile(np.arange(most + 1), 3)
        path = write_rows(tmp_path / f"{most}.tfrecord", [{"x": values}])
        found = numbers_of(survey(path), "x").histogram
        assert found is not None
        assert found.whole
        width = found.edges[1] - found.edges[0]
        assert set(np.diff(found.edges)) == {width}
        assert width == int(width)
        assert found.edges[0] == 0
        assert found.last >= most
        assert len(found.counts) <= 20
        assert set(found.counts[:-1]) <= {3 * width}  # the last may be cut by the largest value
        assert found.counts[-1] >= 0.4 * found.counts[0]


def test_an_estimate_of_different_values_is_never_above_their_number(tmp_path: Path) -> None:
    for seed in range(6):
        names = [{"x": f"{seed}-{number}".encode()} for number in range(3026)]
        found = feature(survey(write_rows(tmp_path / f"{seed}.tfrecord", names)), "x")
        assert not found.distinct_exact
        assert found.distinct <= 3026
