"""What functions of rows and of batches may return, and what is said when it makes no batch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs

SCHEMA = rs.Schema(
    {
        "n": rs.Scalar("int64"),
        "x": rs.Tensor("float32", (2,)),
        "tokens": rs.Tensor("int64", (None,)),
        "words": rs.Text((None,)),
        "maybe": rs.Scalar("float32", optional=True),
        "text": rs.Text(optional=True),
        "sparse": rs.Sparse("float32", 10),
        "packed": rs.Packed({"byte": ("uint8", ()), "part": ("int64", (1,)), "other": ("int64", (2,))}),
    }
)
ROWS = 60


@pytest.fixture(scope="module")
def ds(tmp_path_factory: pytest.TempPathFactory) -> rs.Dataset:
    """Return a dataset in which some rows lack values, and neighbours have lists of different lengths."""
    path = tmp_path_factory.mktemp("map") / "a.tfrecord"
    rows = []
    for n in range(ROWS):
        row = {"n": n, "x": [n, n], "tokens": range(n % 3), "words": ["a"] * (n % 2), "sparse": np.eye(10)[n % 10]}
        row["packed"] = {"byte": n, "part": [n], "other": [n, n]}
        rows.append(row if n % 4 == 0 else {**row, "maybe": n / 2, "text": f"text {n}"})
    with rs.RecordWriter(path) as writer:
        writer.write_rows(rows, SCHEMA)
    return rs.open(path, schema=SCHEMA)


@pytest.mark.parametrize("size", [1, 2, 7])
def test_what_a_function_leaves_alone_keeps_its_type(ds: rs.Dataset, size: int):
    """Also in batches in which all rows have one length, or none is missing."""
    for plain, mapped in zip(ds.batch(size), ds.map(lambda row: {**row, "more": 1}).batch(size), strict=True):
        for name in SCHEMA:
            assert type(mapped[name]) is type(plain[name])
        assert [list(words) for words in mapped["words"]] == [list(words) for words in plain["words"]]
        assert mapped["tokens"] == plain["tokens"]


def test_changes_in_place_count(ds: rs.Dataset):
    def change(row: dict[str, Any]) -> dict[str, Any]:
        row["x"] *= 2
        if row["n"] > 5:
            row["packed"]["part"] = row["packed"]["part"] + 1
        row["packed"]["other"] += 1
        row["tokens"][:] = 9
        row["n"] = row["n"] + 1
        return row

    def change_packed(row: dict[str, Any]) -> dict[str, Any]:
        row["packed"]["other"] *= 3
        return row

    batch = next(iter(ds.map(change_packed).batch(ROWS)))
    assert [row["other"].tolist() for row in batch["packed"]] == [[3 * n] * 2 for n in range(ROWS)]
    for epoch in range(2):
        batch = next(iter(ds.map(change).batch(ROWS)))
        assert batch["x"].tolist() == [[2 * n] * 2 for n in range(ROWS)], epoch
        assert [row["part"].tolist() for row in batch["packed"]] == [[n + (n > 5)] for n in range(ROWS)]
        assert [row["other"].tolist() for row in batch["packed"]] == [[n + 1] * 2 for n in range(ROWS)]
        assert batch["tokens"].to_list() == [[9] * (n % 3) for n in range(ROWS)]
        assert batch["n"].tolist() == list(range(1, ROWS + 1))


def test_a_function_that_changes_some_rows_only(ds: rs.Dataset):
    """Rows are read in pieces where a filter leaves some out: the function leaves a feature alone in some pieces."""

    def cut(row: dict[str, Any]) -> dict[str, Any]:
        return row if row["n"] < 40 else {**row, "tokens": row["tokens"][:1], "maybe": 0.5}

    kept = ds.filter(lambda row: row["n"] != 5).map(cut)
    batches = list(kept.batch(25))
    assert [n for batch in batches for n in batch["n"].tolist()] == [n for n in range(ROWS) if n != 5]
    tokens = [list(row) for batch in batches for row in batch["tokens"]]
    assert tokens == [list(range(n % 3 if n < 40 else min(n % 3, 1))) for n in range(ROWS) if n != 5]
    maybe = [None if row is np.ma.masked else row for batch in batches for row in batch["maybe"]]
    assert maybe == [(None if n % 4 == 0 else n / 2) if n < 40 else 0.5 for n in range(ROWS) if n != 5]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (("a", 3), "of different types"),  # bytes(3) would be three zero bytes
        ((3, "a"), "of different types"),
        ((b"a", "a"), "of different types"),
        ((b"a", np.arange(2)), "of different types"),
        ((2**60 + 1, 0.5), "cannot hold all of them"),
        ((np.array([2**60 + 1]), np.array([0.5, 1])), "cannot hold all of them"),
        ((-1, np.uint64(2**63 + 1)), "cannot hold all of them"),
    ],
)
def test_values_that_a_batch_would_change_are_an_error(ds: rs.Dataset, values: tuple[Any, Any], message: str):
    loader = ds.map(lambda row: {"value": values[row["n"] % 2]}).batch(4)
    with pytest.raises(rs.PipelineError, match=message) as caught:
        list(loader)
    assert caught.value.feature == "value"


def test_numbers_of_different_dtypes_that_stay_what_they_are(ds: rs.Dataset):
    batch = next(iter(ds.map(lambda row: {"value": 1 if row["n"] % 2 else 0.5}).batch(2)))
    assert batch["value"].tolist() == [0.5, 1]


@pytest.mark.parametrize("first_has_it", [True, False])
@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_features_of_some_rows_only_are_not_dropped(ds: rs.Dataset, on_error: Any, *, first_has_it: bool):
    def some(row: dict[str, Any]) -> dict[str, Any]:
        return {"n": row["n"], **({"more": 1} if (row["n"] < 32) == first_has_it else {})}

    for chain in (ds.map(some), ds.filter(lambda _: True).map(some)):
        with pytest.raises(rs.PipelineError, match="different features for different rows"):
            list(chain.batch(ROWS, on_error=on_error))


@pytest.mark.parametrize(
    ("chain", "error", "message"),
    [
        (lambda ds, f: ds.map(f).batch(4), RuntimeError, "raised StopIteration"),
        (lambda ds, f: ds.map(f), RuntimeError, "raised StopIteration"),
        (lambda ds, f: ds.filter(f).batch(4), RuntimeError, "raised StopIteration"),
        (lambda ds, f: ds.filter(f, vectorized=True).batch(4), RuntimeError, "raised StopIteration"),
        (lambda ds, f: ds.batch(4).map(f), RuntimeError, "raised StopIteration"),
        (lambda ds, _: ds.batch(4).map(lambda _: None), rs.PipelineError, "returned nothing"),
        (lambda ds, _: ds.map(lambda _: {}), rs.PipelineError, "a row without features"),
        (lambda ds, _: ds.map(lambda row: {"mm": row["n"]}).batch(4).pairs("m"), rs.PipelineError, "mean 'mm'"),
    ],
)
def test_functions_that_give_nothing(
    ds: rs.Dataset, chain: Callable[[Any, Any], Any], error: type[Exception], message: str
):
    def stops(_: Any) -> Any:
        return next(iter(()))

    with pytest.raises(error, match=message) as caught:
        list(chain(ds, stops))
    if error is RuntimeError:
        assert ".stops for " in caught.value.__notes__[0]


def yields(row: dict[str, Any]) -> Any:
    yield row


async def waits(row: dict[str, Any]) -> Any:
    return row


class Yields:
    def __call__(self, row: dict[str, Any]) -> Any:
        yield row


@pytest.mark.parametrize("function", [yields, waits, Yields()])
def test_functions_whose_result_is_always_true_are_refused(ds: rs.Dataset, function: Any):
    for verb in (ds.filter, ds.map, ds.batch(4).map):
        with pytest.raises(rs.PipelineError, match="function") as caught:
            verb(function)
        assert "with yield" in str(caught.value) or "with async" in str(caught.value)


def test_images_of_one_size_by_chance_stay_a_list(tmp_path: Path):
    schema = rs.Schema({"image": rs.Image(encoding="png")})
    with rs.RecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_rows(({"image": np.zeros((8, size, 3), np.uint8)} for size in (8, 8, 9, 8)), schema)
    loader = rs.open(tmp_path / "a.tfrecord", schema=schema).images().map(lambda row: {**row, "more": 1}).batch(2)
    assert [type(batch["image"]) for batch in loader] == [list, list]
