"""rs.write: one split from rows or columns, dealt out to shards."""

from __future__ import annotations

import json
import os
import resource
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import tensorflow as tf
import tensorflow_datasets as tfds
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recordsmith as rs
from tests.formats.made_sources import file_digests, rows_of

SCHEMA = rs.Schema({"n": rs.Scalar("int64"), "name": rs.Text()})


def row(n: int) -> dict[str, Any]:
    return {"n": n, "name": f"row {n}"}


def shards_of(folder: Path, split: str = "train") -> list[list[int]]:
    """The rows of each shard."""
    document = json.loads((folder / "recordsmith.json").read_text())
    return [
        [int(rs.decode_example(payload)["n"][0]) for payload in rs.RecordReader(folder / shard["file"])]
        for shard in document["splits"][split]["shards"]
    ]


# --- what can be added ---


def test_rows_one_by_one_are_dealt_out_in_turn(quick_path: Path):
    with rs.write(quick_path, SCHEMA, name="data", shards=3) as writer:
        for n in range(10):
            writer.add(row(n))
            assert writer.records == n + 1
    assert shards_of(quick_path) == [[0, 3, 6, 9], [1, 4, 7], [2, 5, 8]]
    assert sorted(os.listdir(quick_path)) == [
        "data-train.tfrecord-00000-of-00003",
        "data-train.tfrecord-00001-of-00003",
        "data-train.tfrecord-00002-of-00003",
        "dataset_info.json",
        "features.json",
        "recordsmith.json",
    ]


COLUMNS = {"n": np.arange(7), "name": [f"row {n}" for n in range(7)]}
FORMS: dict[str, Any] = {
    "dict of arrays": lambda: COLUMNS,
    "dict of lists": lambda: {"n": list(range(7)), "name": COLUMNS["name"]},
    "Arrow table": lambda: pa.table(COLUMNS),
    "Arrow batch": lambda: pa.record_batch(COLUMNS),
    "DataFrame": lambda: pd.DataFrame(COLUMNS),
    "list of rows": lambda: [row(n) for n in range(7)],
    "generator of rows": lambda: (row(n) for n in range(7)),
}


@pytest.mark.parametrize("form", FORMS)
def test_columns_in_every_form(form: str, quick_path: Path):
    with rs.write(quick_path, SCHEMA, shards=2) as writer:
        writer.add(row(100))
        writer.extend(FORMS[form]())
        writer.add(row(200))
        assert writer.records == 9
    assert shards_of(quick_path) == [[100, 1, 3, 5, 200], [0, 2, 4, 6]]
    assert set(rows_of(quick_path, "train", "name")) == {f"row {n}" for n in (100, 200, *range(7))}


@given(sizes=st.lists(st.integers(0, 5), max_size=8), shards=st.integers(1, 5))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_row_i_is_in_shard_i_modulo_their_number(sizes: list[int], shards: int, quick_folders):
    folder = next(quick_folders)
    given = 0
    with rs.write(folder, SCHEMA, shards=shards) as writer:
        for number, size in enumerate(sizes):
            rows = [row(n) for n in range(given, given + size)]
            if number % 3 == 0:
                writer.extend(rows)
            elif number % 3 == 1:
                writer.extend({name: [one[name] for one in rows] for name in SCHEMA})
            else:
                for one in rows:
                    writer.add(one)
            given += size
    assert shards_of(folder) == [list(range(shard, given, shards)) for shard in range(shards)]


def test_many_rows_at_once(quick_path: Path):
    with rs.write(quick_path, SCHEMA, shards=4) as writer:
        writer.extend(row(n) for n in range(5000))
    assert shards_of(quick_path) == [list(range(shard, 5000, 4)) for shard in range(4)]


def test_nothing_added_is_an_empty_split(quick_path: Path):
    with rs.write(quick_path, SCHEMA):
        pass
    assert list(rs.open(quick_path, split="train")) == []


# --- errors ---


@pytest.mark.parametrize("form", ["row", "rows", "columns", "table"])
def test_errors_count_rows_over_everything_that_was_added(form: str, quick_path: Path):
    with rs.write(quick_path / "out", SCHEMA, shards=2) as writer:
        writer.extend(row(n) for n in range(1500 if form != "row" else 1503))
        bad: Any = {
            "row": lambda: writer.add({"n": "x", "name": ""}),
            "rows": lambda: writer.extend([row(0), row(1), row(2), {"n": "x", "name": ""}]),
            "columns": lambda: writer.extend({"n": [0, 1, 2, "x"], "name": [""] * 4}),
            "table": lambda: writer.extend(pa.table({"n": [0, 1, 2, None], "name": [""] * 4})),
        }[form]
        with pytest.raises(rs.EncodeError) as caught:
            bad()
        assert caught.value.row == 1503
        assert caught.value.feature == "n"
    assert len(rs.open(quick_path / "out", split="train")) in (1500, 1503), "what was added before is kept"


@pytest.mark.parametrize(
    "add",
    [
        lambda writer: writer.add({"n": 1}),
        lambda writer: writer.add({"n": 1, "name": "", "nmae": ""}),
        lambda writer: writer.add([1, ""]),
        lambda writer: writer.extend({"n": [1, 2], "name": [""]}),
        lambda writer: writer.extend({"n": [1, 2]}),
    ],
    ids=["missing", "unknown", "not mappings", "uneven", "missing column"],
)
def test_rows_that_do_not_fit(add, quick_path: Path):
    with pytest.raises(rs.RecordsmithError), rs.write(quick_path / "out", SCHEMA) as writer:
        add(writer)
    assert os.listdir(quick_path / "out") == []


class BreakOffError(Exception):
    pass


@pytest.mark.parametrize("error", [BreakOffError, KeyboardInterrupt])
def test_an_exception_leaves_nothing(error: type[BaseException], quick_path: Path):
    def break_off() -> None:
        with rs.write(quick_path / "out", SCHEMA, shards=3) as writer:
            writer.extend(row(n) for n in range(5000))
            raise error

    with pytest.raises(error):
        break_off()
    assert os.listdir(quick_path / "out") == []


def test_casts_that_lose_are_refused_unless_allowed(quick_path: Path):
    schema = rs.Schema({"n": rs.Scalar("uint8")})
    with rs.write(quick_path / "a", schema) as writer, pytest.raises(rs.EncodeError):
        writer.add({"n": 300})
    with rs.write(quick_path / "b", schema, cast=True) as writer:
        writer.add({"n": 300.0})
        writer.extend({"n": [1.5, -7]})
    assert len(rs.open(quick_path / "b")) == 3


def test_a_closed_writer_takes_nothing(quick_path: Path):
    with rs.write(quick_path, SCHEMA) as writer:
        writer.add(row(1))
    writer.close()
    with pytest.raises(rs.RecordsmithError, match="closed"):
        writer.add(row(2))
    with pytest.raises(rs.RecordsmithError, match="closed"):
        writer.extend([row(2)])
    assert len(rs.open(quick_path)) == 1


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"shards": 0}, "from 1 to 99999"),
        ({"split": "a-b"}, "letters, digits"),
        ({"name": "../x"}, "A dataset name may"),
        ({"compression": "bz2"}, "Unknown compression"),
    ],
    ids=str,
)
def test_settings_that_cannot_be(settings, problem: str, quick_path: Path):
    with pytest.raises(rs.RecordsmithError, match=problem):
        rs.write(quick_path / "out", SCHEMA, **settings)
    assert not (quick_path / "out").exists()


def test_more_shards_than_files_that_may_be_open(quick_path: Path):
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 20, limits[1]))
    try:
        with pytest.raises(rs.RecordsmithError, match="more shards than files") as caught:
            rs.write(quick_path / "data", SCHEMA, shards=500)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert "shards=500" in str(caught.value.found)
    assert not any((quick_path / "data").iterdir())


def test_a_schema_is_needed(quick_path: Path):
    with pytest.raises(rs.RecordsmithError, match="needs a schema"):
        rs.write(quick_path / "out", {"n": "int64"})  # type: ignore[arg-type]


# --- several splits, and what is there already ---


def written(folder: Path, split: str, rows: int, **settings: Any) -> None:
    with rs.write(folder, SCHEMA, **{"name": "data", "split": split, **settings}) as writer:
        writer.extend(row(n) for n in range(rows))


def test_a_second_split(quick_path: Path):
    written(quick_path, "train", 10, shards=2)
    train = {name: digest for name, digest in file_digests(quick_path).items() if "train" in name}
    written(quick_path, "test", 4)
    assert len(rs.open(quick_path, split="train")) == 10
    assert len(rs.open(quick_path, split="test")) == 4
    assert train.items() <= file_digests(quick_path).items()
    builder = tfds.builder_from_directory(quick_path)
    assert {name: split.num_examples for name, split in builder.info.splits.items()} == {"train": 10, "test": 4}


def test_a_split_that_is_there_is_not_replaced_unless_told_to(quick_path: Path):
    written(quick_path, "train", 10, shards=3)
    written(quick_path, "test", 4)
    before = file_digests(quick_path)
    with pytest.raises(rs.RecordsmithError, match=r"split 'train'[\s\S]*overwrite=True"):
        written(quick_path, "train", 5)
    assert file_digests(quick_path) == before
    written(quick_path, "train", 5, overwrite=True)
    assert len(rs.open(quick_path, split="train")) == 5
    assert len(rs.open(quick_path, split="test")) == 4
    assert sorted(name for name in os.listdir(quick_path) if "train" in name) == ["data-train.tfrecord-00000-of-00001"]


def test_replacing_that_breaks_off_leaves_the_old_split(quick_path: Path):
    written(quick_path, "train", 10)
    before = file_digests(quick_path)

    def break_off() -> None:
        with rs.write(quick_path, SCHEMA, name="data", overwrite=True) as writer:
            writer.add(row(1))
            raise BreakOffError

    with pytest.raises(BreakOffError):
        break_off()
    assert file_digests(quick_path) == before


def test_splits_of_one_dataset_have_one_name_and_one_schema(quick_path: Path):
    written(quick_path, "train", 10)
    with pytest.raises(rs.RecordsmithError, match="another name"):
        written(quick_path, "test", 1, name="other")
    with pytest.raises(rs.RecordsmithError, match="another schema"):
        rs.write(quick_path, rs.Schema({"n": rs.Scalar("int64")}), name="data", split="test")


def test_files_of_another_origin_are_not_mixed_in(quick_path: Path):
    (quick_path / "data-train.tfrecord-00000-of-00001").write_bytes(b"")
    with pytest.raises(rs.RecordsmithError, match="already"):
        written(quick_path, "train", 3)


def test_a_split_can_be_added_to_what_make_made(quick_path: Path):
    rs.make([row(n) for n in range(20)], quick_path / "out", name="data", schema=SCHEMA, split="train=0.5,val=0.5")
    written(quick_path / "out", "test", 3)
    assert [len(rs.open(quick_path / "out", split=split)) for split in ("train", "val", "test")] == [10, 10, 3]


# --- on the other side ---


@pytest.mark.parametrize("compression", [None, "gzip", "GZIP", "zlib"])
def test_tensorflow_reads_it(compression: str | None, quick_path: Path):
    with rs.write(quick_path, SCHEMA, shards=2, compression=compression) as writer:
        writer.extend(row(n) for n in range(20))
    files = sorted(str(path) for path in quick_path.glob("*.tfrecord*"))
    dataset = tf.data.TFRecordDataset(files, compression_type=(compression or "").upper())
    parsed = [SCHEMA.parse_tf(tf.reshape(record, [1])) for record in dataset]
    assert sorted(int(example["n"][0]) for example in parsed) == list(range(20))
    assert sorted(rows_of(quick_path, "train")) == list(range(20))
