"""rs.open: which files it takes, and rows by number, in order and as tables."""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.shards import IncompleteShardsWarning
from tests.conformance import made_wire as wire
from tests.made_records import file_bytes

SCHEMA = rs.Schema({"n": rs.Scalar("int64"), "name": rs.Text(), "values": rs.Tensor("float32", (None,))})


def row(n: int) -> dict[str, Any]:
    return {"n": n, "name": f"row {n}", "values": np.arange(n % 4, dtype=np.float32)}


def write(path: Path, first: int, count: int, compression: str | None = None) -> Path:
    with rs.RecordWriter(path, compression, sync=False) as writer:
        writer.write_rows((row(n) for n in range(first, first + count)), SCHEMA)
    return path


def numbers(rows: Any) -> list[int]:
    return [int(row["n"]) for row in rows]


def same_row(found: dict[str, Any], expected: dict[str, Any]) -> bool:
    return (
        found["n"] == expected["n"]
        and found["name"] == expected["name"]
        and np.array_equal(found["values"], expected["values"])
    )


@pytest.fixture(params=[None, "gzip", "mixed"], ids=["plain", "gzip", "mixed"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Two splits in three files: 100 records in all, numbered in file order."""
    second = "zlib" if request.param == "mixed" else request.param
    write(tmp_path / "pets-train.tfrecord-00000-of-00002", 0, 40, request.param if second == request.param else None)
    write(tmp_path / "pets-train.tfrecord-00001-of-00002", 40, 35, second)
    write(tmp_path / "pets-validation.tfrecord-00000-of-00001", 75, 25, None if request.param == "mixed" else second)
    return tmp_path


@pytest.fixture
def ds(folder: Path) -> rs.Dataset:
    return rs.open(folder)


@pytest.fixture
def one_file(tmp_path: Path) -> Path:
    return write(tmp_path / "one.tfrecord", 0, 10)


# --- what is opened ---


def test_a_file(one_file: Path):
    for path in (one_file, str(one_file)):
        assert numbers(rs.open(path)) == list(range(10))


def test_a_folder(folder: Path):
    ds = rs.open(folder)
    assert [os.path.basename(file)[:10] for file in ds.files] == ["pets-train", "pets-train", "pets-valid"]
    assert ds.splits == ("train", "validation")
    assert len(ds) == 100
    assert numbers(ds) == list(range(100))


def test_a_glob(folder: Path):
    assert numbers(rs.open(folder / "pets-train*")) == list(range(75))
    assert numbers(rs.open(str(folder / "*validation*"))) == list(range(75, 100))


def test_a_list_keeps_its_order(folder: Path):
    paths = [folder / "pets-validation.tfrecord-00000-of-00001", folder / "pets-train*"]
    assert numbers(rs.open(paths)) == [*range(75, 100), *range(75)]
    assert numbers(rs.open([folder, folder / "pets-validation*"])) == [*range(100), *range(75, 100)]


def test_a_split(folder: Path):
    assert numbers(rs.open(folder, split="validation")) == list(range(75, 100))
    assert len(rs.open(folder, split="train")) == 75
    with pytest.raises(rs.RecordsmithError, match=r"no split 'valdation'\. Did you mean 'validation'"):
        rs.open(folder, split="valdation")
    with pytest.raises(rs.RecordsmithError, match="'train', 'validation'"):
        rs.open(folder, split="everything")


def test_a_split_where_names_tell_of_none(one_file: Path):
    with pytest.raises(rs.RecordsmithError, match="the file names tell of none"):
        rs.open(one_file, split="train")


def test_missing_shards_are_warned_of(folder: Path):
    os.remove(folder / "pets-train.tfrecord-00000-of-00002")
    for path in (folder, folder / "pets-*"):
        with pytest.warns(IncompleteShardsWarning, match=r"1 of 2 \(number 0\)") as caught:
            assert numbers(rs.open(path)) == list(range(40, 100))
        assert caught[0].filename == __file__, "the warning points at the wrong line"


def test_one_shard_alone_is_no_reason_to_warn(folder: Path):
    assert len(rs.open(folder / "pets-train.tfrecord-00000-of-00002")) == 40


def test_files_whose_names_say_nothing_are_told_by_content(tmp_path: Path):
    write(tmp_path / "one", 0, 3)
    write(tmp_path / "two", 3, 3, "gzip")
    (tmp_path / "notes").write_text("nothing of interest")
    assert numbers(rs.open(tmp_path)) == list(range(6))


def test_a_folder_without_tfrecords(tmp_path: Path):
    (tmp_path / "notes.txt").write_text("nothing of interest")
    with pytest.raises(rs.RecordsmithError, match="no TFRecord file in this folder") as caught:
        rs.open(tmp_path)
    assert "notes.txt" in str(caught.value)
    (tmp_path / "deeper").mkdir()
    with pytest.raises(rs.RecordsmithError, match="'deeper'"):
        rs.open(tmp_path)


def test_an_empty_folder(tmp_path: Path):
    with pytest.raises(rs.RecordsmithError, match="no TFRecord file in this folder"):
        rs.open(tmp_path)


def test_a_path_that_is_not_there(one_file: Path):
    with pytest.raises(FileNotFoundError) as caught:
        rs.open(one_file.parent / "oen.tfrecord")
    assert "Did you mean 'one.tfrecord'?" in "".join(caught.value.__notes__)


def test_opening_reads_nothing(tmp_path: Path):
    path = tmp_path / "damaged.tfrecord"
    path.write_bytes(b"not a record at all")
    ds = rs.open(path)
    assert ds.files == (str(path),)
    with pytest.raises(rs.NotTFRecordError):
        len(ds)


@pytest.mark.parametrize("compression", ["auto", None, ""])
def test_an_empty_file(compression: str | None, tmp_path: Path):
    path = tmp_path / "empty.tfrecord"
    path.touch()
    ds = rs.open(path, compression=compression)
    assert len(ds) == 0
    assert list(ds) == ds.head() == list(ds.batch(4)) == []
    assert ds.payload == "empty"
    assert len(ds.schema) == 0
    assert ds.verify() == 0
    with pytest.raises(IndexError, match="the dataset has 0"):
        ds[0]


def test_records_without_features(tmp_path: Path):
    path = tmp_path / "hollow.tfrecord"
    path.write_bytes(file_bytes([b"", b"", b""]))
    ds = rs.open(path)
    assert list(ds) == [{}, {}, {}]
    assert ds[1] == {}
    assert ds.raw(2) == b""


# --- descriptions beside the files ---


def manifest(schema: rs.Schema | None, splits: dict[str, list[str]]) -> str:
    document: dict[str, Any] = {
        "format": "recordsmith-dataset",
        "version": 1,
        "name": "pets",
        "splits": {name: {"shards": [{"file": file} for file in files]} for name, files in splits.items()},
    }
    if schema is not None:
        document["schema"] = schema.to_json()
    return json.dumps(document)


def test_a_manifest_names_files_splits_and_schema(folder: Path):
    declared = rs.Schema({"n": rs.Scalar("int64", description="the number")})
    splits = {
        "late": ["pets-validation.tfrecord-00000-of-00001"],
        "early": ["pets-train.tfrecord-00000-of-00002"],
    }
    (folder / "recordsmith.json").write_text(manifest(declared, splits))
    ds = rs.open(folder)
    assert ds.splits == ("late", "early")
    assert ds.schema == declared
    assert numbers(ds) == [*range(75, 100), *range(40)]
    assert ds[0].keys() == {"n"}
    assert numbers(rs.open(folder, split="early")) == list(range(40))


def test_a_manifest_without_a_schema(folder: Path):
    (folder / "recordsmith.json").write_text(manifest(None, {"all": ["pets-train.tfrecord-00000-of-00002"]}))
    assert rs.open(folder).schema == SCHEMA


def test_a_given_schema_comes_before_the_declared_one(folder: Path):
    declared = rs.Schema({"n": rs.Scalar("int64")})
    (folder / "recordsmith.json").write_text(manifest(declared, {"all": ["pets-train.tfrecord-00000-of-00002"]}))
    assert rs.open(folder, schema=SCHEMA)[3].keys() == SCHEMA.keys()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "not JSON"),
        ("[]", "not one that this recordsmith knows"),
        ('{"format": "recordsmith-dataset", "version": 99, "splits": {}}', "not one that this recordsmith knows"),
        ('{"format": "recordsmith-dataset", "version": 1}', "lacks something"),
        ('{"format": "recordsmith-dataset", "version": 1, "splits": {"a": {}}}', "lacks something"),
        ('{"format": "recordsmith-dataset", "version": 1, "splits": {}, "schema": {}}', "not a recordsmith schema"),
        (manifest(None, {"a": ["/etc/passwd"]}), "only name files in its own folder"),
        (manifest(None, {"a": ["../outside"]}), "only name files in its own folder"),
        (manifest(None, {"a": ["missing.tfrecord"]}), "no file 'missing.tfrecord'"),
    ],
)
def test_manifests_that_cannot_be(content: str, said: str, folder: Path):
    (folder / "recordsmith.json").write_text(content)
    with pytest.raises(rs.RecordsmithError, match=said) as caught:
        rs.open(folder)
    assert str(folder / "recordsmith.json") in str(caught.value)


def tfds_feature(kind: str, **settings: Any) -> dict[str, Any]:
    return {"pythonClassName": "tensorflow_datasets.core.features." + kind, **settings}


def describe_for_tfds(folder: Path, features: dict[str, Any], shards: int = 2) -> None:
    (folder / "dataset_info.json").write_text(
        json.dumps(
            {
                "fileFormat": "tfrecord",
                "name": "pets",
                "version": "1.0.0",
                "splits": [
                    {
                        "name": "train",
                        "numBytes": "100",
                        "shardLengths": ["1"] * shards,
                        "filepathTemplate": "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}",
                    }
                ],
            }
        )
    )
    tree = tfds_feature("FeaturesDict", featuresDict={"features": features})
    (folder / "features.json").write_text(json.dumps(tree))


def test_a_tfds_folder(folder: Path):
    describe_for_tfds(
        folder,
        {
            "n": tfds_feature("ClassLabel", classLabel={"numClasses": "100"}),
            "name": tfds_feature("Text", text={}),
            "values": tfds_feature(
                "Tensor", tensor={"shape": {"dimensions": ["-1"]}, "dtype": "float32", "encoding": "none"}
            ),
        },
    )
    ds = rs.open(folder)
    assert ds.splits == ("train",)
    assert ds.schema == SCHEMA
    assert numbers(ds) == list(range(75))


def test_a_tfds_folder_with_features_that_are_not_known_here(folder: Path):
    """What is stored tells then."""
    describe_for_tfds(folder, {"clip": tfds_feature("Video", video={})})
    assert rs.open(folder).schema == SCHEMA


def test_a_tfds_folder_without_features(folder: Path):
    describe_for_tfds(folder, {})
    os.remove(folder / "features.json")
    assert len(rs.open(folder)) == 75


def test_tfds_folders_that_cannot_be(folder: Path):
    describe_for_tfds(folder, {}, shards=3)
    with pytest.raises(rs.RecordsmithError, match="3 of the 3 files"):
        rs.open(folder)
    (folder / "dataset_info.json").write_text('{"name": "pets", "fileFormat": "array_record", "splits": []}')
    with pytest.raises(rs.SchemaError, match="stored as array_record"):
        rs.open(folder)
    (folder / "dataset_info.json").write_text("not json")
    with pytest.raises(rs.SchemaError, match="not JSON"):
        rs.open(folder)


# --- rows by number ---


def test_every_row_by_its_number(ds: rs.Dataset):
    for n in range(100):
        assert same_row(ds[n], row(n))
        assert same_row(ds[n - 100], row(n))


def test_a_row_holds_the_plainest_values(one_file: Path):
    found = rs.open(one_file)[7]
    assert list(found) == ["n", "name", "values"]
    assert isinstance(found["n"], np.int64)
    assert found["name"] == "row 7"
    assert found["values"].dtype == np.float32


@pytest.mark.parametrize("n", [100, -101, 2**31, 2**63, -(2**63), 2**64 - 1, 2**64, -(2**70)])
def test_numbers_outside(n: int, ds: rs.Dataset):
    with pytest.raises(IndexError, match=f"no record {n}: the dataset has 100"):
        ds[n]
    with pytest.raises(IndexError, match="the dataset has 100"):
        ds.raw(n)
    with pytest.raises(IndexError, match="the dataset has 100"):
        ds[[n]]


def test_numbers_of_numpy(ds: rs.Dataset):
    for kind in (np.int8, np.uint8, np.int32, np.uint64, np.int64):
        assert int(ds[kind(7)]["n"]) == 7
        assert ds[np.array([7, 3], kind)]["n"].tolist() == [7, 3]
    with pytest.raises(IndexError):
        ds[np.array([2**64 - 1], np.uint64)]


@pytest.mark.parametrize("key", [1.0, None, True, [True, False], np.array([True]), [1.5], b"a", {"a": 1}])
def test_keys_that_are_not_numbers(key: Any, ds: rs.Dataset):
    with pytest.raises(TypeError, match="whole numbers"):
        ds[key]
    with pytest.raises(TypeError, match="whole numbers"):
        ds.raw(key)


def test_a_name_as_key(ds: rs.Dataset):
    with pytest.raises(rs.SchemaError, match=r"Did you mean 'name'.*") as caught:
        ds["nmae"]  # type: ignore[call-overload]
    assert "ds.select" in str(caught.value)


def test_several_rows_come_as_columns(ds: rs.Dataset):
    for key in ([99, 0, 50, 50, -1], (99, 0, 50, 50, -1), np.array([99, 0, 50, 50, -1])):
        batch = ds[key]
        assert batch["n"].tolist() == [99, 0, 50, 50, 99]
        assert batch["name"].to_list() == ["row 99", "row 0", "row 50", "row 50", "row 99"]
        assert [len(values) for values in batch["values"]] == [3, 0, 2, 2, 3]
    assert ds[range(0, 100, 33)]["n"].tolist() == [0, 33, 66, 99]
    assert ds[[]]["n"].tolist() == []


@pytest.mark.parametrize(
    "cut",
    [
        slice(None),
        slice(10, 20),
        slice(-5, None),
        slice(None, None, 7),
        slice(None, None, -1),
        slice(90, 10, -9),
        slice(50, 50),
        slice(200, 300),
        slice(-1000, 3),
    ],
)
def test_slices(cut: slice, ds: rs.Dataset):
    expected = list(range(100))[cut]
    part = ds[cut]
    assert len(part) == len(expected)
    assert numbers(part) == expected
    assert [n for batch in part.batch(7) for n in batch["n"].tolist()] == expected
    assert numbers(part.head(3)) == expected[:3]
    if expected:
        assert int(part[0]["n"]) == expected[0]
        assert int(part[-1]["n"]) == expected[-1]
        assert part[[0, -1]]["n"].tolist() == [expected[0], expected[-1]]
        assert rs.decode_example(part.raw(-1))["n"].tolist() == [expected[-1]]
    with pytest.raises(IndexError, match=f"the dataset has {len(expected)}"):
        part[len(expected)]


def test_slices_of_slices(ds: rs.Dataset):
    everything = list(range(100))
    for first in (slice(10, 90), slice(None, None, -1), slice(5, 95, 3)):
        for second in (slice(2, 12), slice(None, None, -2), slice(-4, None)):
            assert numbers(ds[first][second]) == everything[first][second]
            assert numbers(ds[first][second][1:3]) == everything[first][second][1:3]


def test_a_slice_leaves_the_whole_alone(ds: rs.Dataset):
    part = ds[10:20]
    assert len(ds) == 100
    assert numbers(part) == list(range(10, 20))
    assert "of 10 rows" in repr(part)


def test_selected_features(ds: rs.Dataset):
    assert list(ds.select("name")[5]) == ["name"]
    assert list(ds.select("values", "n")[5]) == ["values", "n"]
    assert list(ds[3:9].select("n")[0]) == ["n"]
    assert numbers(ds.select("n")[3:9]) == list(range(3, 9))
    with pytest.raises(rs.SchemaError, match=r"no feature 'nmae'\. Did you mean 'name'"):
        ds.select("nmae")
    with pytest.raises(rs.SchemaError, match="at least one"):
        ds.select()


def test_raw_payloads(ds: rs.Dataset):
    payloads = [payload for file in ds.files for payload in rs.RecordReader(file)]
    assert [ds.raw(n) for n in range(100)] == payloads
    assert ds.raw(-1) == payloads[-1]
    assert ds.raw([99, 0, 41, 41]) == [payloads[n] for n in (99, 0, 41, 41)]
    assert ds.raw(range(38, 43)) == payloads[38:43]
    assert ds.raw([]) == []


def test_head(ds: rs.Dataset):
    assert numbers(ds.head()) == [0, 1, 2, 3, 4]
    assert numbers(ds.head(60)) == list(range(60))
    assert numbers(ds.head(1000)) == list(range(100))
    assert ds.head(0) == ds.head(-3) == []


def test_iterating_again_starts_again(ds: rs.Dataset):
    assert numbers(ds) == numbers(ds)
    first, second = iter(ds), iter(ds)
    assert [int(next(first)["n"]) for _ in range(3)] == [0, 1, 2]
    assert int(next(second)["n"]) == 0
    assert int(next(first)["n"]) == 3


def test_verify_counts(ds: rs.Dataset):
    assert ds.verify() == ds.verify(threads=1) == 100


def test_without_verification(one_file: Path):
    content = bytearray(one_file.read_bytes())
    place = content.index(b"row 4") + 4
    content[place] = ord("!")
    one_file.write_bytes(content)
    with pytest.raises(rs.CorruptRecordError, match="record 4"):
        rs.open(one_file)[4]
    with pytest.raises(rs.CorruptRecordError, match="record 4"):
        rs.open(one_file).raw(4)
    unchecked = rs.open(one_file, verify=False)
    assert unchecked[4]["name"] == "row !"
    assert [row["name"] for row in unchecked][4] == "row !"


# --- tables ---


def test_to_arrow(ds: rs.Dataset):
    pa = pytest.importorskip("pyarrow")
    table = ds.to_arrow()
    assert table.column_names == ["n", "name", "values"]
    assert table["n"].to_pylist() == list(range(100))
    assert table["name"].to_pylist() == [f"row {n}" for n in range(100)]
    assert table["values"].to_pylist() == [list(range(n % 4)) for n in range(100)]
    assert table.schema.field("n").type == pa.int64()
    assert ds[5:8].select("n").to_arrow().to_pydict() == {"n": [5, 6, 7]}


def test_to_arrow_of_every_kind_of_feature(tmp_path: Path):
    pytest.importorskip("pyarrow")
    schema = rs.Schema(
        {
            "flag": rs.Scalar("bool"),
            "maybe": rs.Scalar("int64", optional=True),
            "matrix": rs.Tensor("uint8", (2, 2)),
            "some": rs.Tensor("float32", (2,), optional=True),
            "blob": rs.Bytes(),
            "words": rs.Text((None,), optional=True),
            "default": rs.Scalar("int64", default=7),
        }
    )
    rows = [
        {"flag": True, "maybe": 1, "matrix": [[1, 2], [3, 4]], "some": [0.5, 1.5], "blob": b"a", "words": ["x", "y"]},
        {"flag": False, "maybe": None, "matrix": [[5, 6], [7, 8]], "some": None, "blob": b"", "words": None},
    ]
    with rs.RecordWriter(tmp_path / "data.tfrecord") as writer:
        writer.write_rows(rows, schema)
    found = rs.open(tmp_path / "data.tfrecord", schema=schema).to_arrow().to_pylist()
    assert found == [{**row, "default": 7} for row in rows]


def test_to_arrow_of_nothing(tmp_path: Path):
    pytest.importorskip("pyarrow")
    (tmp_path / "empty.tfrecord").touch()
    table = rs.open(tmp_path / "empty.tfrecord", schema=SCHEMA).to_arrow()
    assert table.num_rows == 0
    assert table.column_names == ["n", "name", "values"]


def test_to_pandas(ds: rs.Dataset):
    pytest.importorskip("pandas")
    frame = ds.to_pandas()
    assert frame["n"].tolist() == list(range(100))
    assert frame["name"].tolist() == [f"row {n}" for n in range(100)]
    assert [len(values) for values in frame["values"]] == [n % 4 for n in range(100)]


# --- SequenceExamples ---


def test_sequence_examples(tmp_path: Path):
    path = tmp_path / "sequences.tfrecord"
    with rs.RecordWriter(path) as writer:
        for n in range(6):
            writer.write(
                rs.encode_sequence_example(
                    {"id": n, "title": f"number {n}"},
                    {"tokens": [[t] * (t % 3 + 1) for t in range(n)], "words": [f"w{t}" for t in range(n)]},
                )
            )
    ds = rs.open(path)
    assert ds.payload == "sequence_example"
    assert ds.schema == rs.Schema(
        {
            "id": rs.Scalar("int64"),
            "title": rs.Text(),
            "tokens": rs.Steps(rs.Tensor("int64", (None,))),
            "words": rs.Steps(rs.Text()),
        }
    )
    found = ds[4]
    assert (int(found["id"]), found["title"]) == (4, "number 4")
    assert [step.tolist() for step in found["tokens"]] == [[0], [1, 1], [2, 2, 2], [3]]
    assert found["words"] == ["w0", "w1", "w2", "w3"]
    assert [len(row["words"]) for row in ds] == list(range(6))
    assert [len(words) for batch in ds.batch(4) for words in batch["words"]] == list(range(6))


# --- other payloads ---


def elwc(n: int) -> bytes:
    examples = b"".join(wire.delimited(1, rs.encode_example({"relevance": float(r), "doc": f"d{r}"})) for r in range(3))
    return examples + wire.delimited(2, rs.encode_example({"query": f"query {n}"}))


def event(n: int) -> bytes:
    step = wire.tag(2, wire.VARINT) + wire.varint(n)
    content = wire.delimited(3, b"brain.Event:2") if n == 0 else wire.delimited(5, wire.delimited(1, b"\x0a\x04loss"))
    return wire.tag(1, wire.FIXED64) + struct.pack("<d", 1.7e9 + n) + step + content


OTHERS: dict[str, list[bytes]] = {
    "text": [b"This is line %d of a text." % n for n in range(5)],
    "example_list": [elwc(n) for n in range(5)],
    "event": [event(n) for n in range(5)],
    "unknown": [bytes([255, 254, n, 0, 128]) * 3 for n in range(5)],
}


@pytest.mark.parametrize("kind", OTHERS)
def test_other_payloads_are_counted_verified_and_read_raw(kind: str, tmp_path: Path):
    path = tmp_path / "other.tfrecord"
    path.write_bytes(file_bytes(OTHERS[kind]))
    ds = rs.open(path)
    assert ds.payload == kind
    assert len(ds) == ds.verify() == 5
    assert ds.raw(range(5)) == OTHERS[kind]


@pytest.mark.parametrize("kind", OTHERS)
def test_other_payloads_are_never_shown_as_examples(kind: str, tmp_path: Path):
    path = tmp_path / "other.tfrecord"
    path.write_bytes(file_bytes(OTHERS[kind]))
    ds = rs.open(path)
    attempts = [
        lambda: ds.schema,
        lambda: ds[0],
        lambda: ds[[0, 1]],
        lambda: ds[1:3][0],
        lambda: list(ds),
        lambda: list(ds[1:3]),
        ds.head,
        lambda: list(ds.batch(2)),
        ds.to_arrow,
        ds.to_pandas,
        lambda: ds.select("a"),
        lambda: rs.infer_schema(path),
    ]
    for attempt in attempts:
        with pytest.raises(rs.SchemaError, match=r"not tf\.train\.Example") as caught:
            attempt()
    assert "Dataset.raw" in str(caught.value)


def test_examples_among_other_payloads(tmp_path: Path):
    path = tmp_path / "mixture.tfrecord"
    path.write_bytes(file_bytes([rs.encode_example({"n": 1}), b"This is a line of text.", rs.encode_example({"n": 2})]))
    ds = rs.open(path)
    assert ds.payload == "unknown"
    with pytest.raises(rs.SchemaError, match=r"not tf\.train\.Example"):
        _ = ds.schema


# --- what is stored does not match the schema ---


def mismatch(path: Path, schema: rs.Schema, how: str, compression: str | None = None) -> rs.SchemaMismatchError:
    with rs.RecordWriter(path, compression) as writer:
        for n in range(10):
            writer.write_example({"image": b"x", "label": n, "box": [0.5] * (4 if n < 6 else 5)})
    ds = rs.open(path, schema=schema)
    with pytest.raises(rs.SchemaMismatchError) as caught:
        match how:
            case "row":
                ds[7]
            case "rows":
                ds[[1, 7]]
            case "batches":
                list(ds.batch(4, threads=2))
            case _:
                list(ds)
    return caught.value


WAYS = ["row", "rows", "batches", "iteration"]


@pytest.mark.parametrize("compression", [None, "gzip"])
@pytest.mark.parametrize("how", WAYS)
def test_a_missing_feature_with_a_suggestion(how: str, compression: str | None, tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    error = mismatch(path, rs.Schema({"lable": rs.Scalar("int64")}), how, compression)
    assert error.problem == "Feature 'lable' is missing. Did you mean 'label'?"
    assert "'box', 'image', 'label'" in str(error)
    assert "optional=True" in str(error)
    check_place(error, path, how, first=0)


@pytest.mark.parametrize("compression", [None, "gzip"])
@pytest.mark.parametrize("how", WAYS)
def test_another_kind(how: str, compression: str | None, tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    error = mismatch(path, rs.Schema({"label": rs.Scalar("float32")}), how, compression)
    assert "another kind of value" in error.problem
    assert (error.found, error.expected) == ("an int64 list", "a float list")
    check_place(error, path, how, first=0)


@pytest.mark.parametrize("compression", [None, "gzip"])
@pytest.mark.parametrize("how", WAYS)
def test_another_number_of_values(how: str, compression: str | None, tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    error = mismatch(path, rs.Schema({"box": rs.Tensor("float32", (4,))}), how, compression)
    assert "another number of values" in error.problem
    assert (error.found, error.expected) == ("5 values", "4 values")
    assert "(None,)" in str(error)
    check_place(error, path, how, first=6)


def check_place(error: rs.SchemaMismatchError, path: Path, how: str, *, first: int) -> None:
    """The error names the file and the record's number in it, whichever way led there."""
    expected = {"row": 7, "rows": 7 if first else 1}.get(how, first)
    assert error.path == str(path)
    assert error.record == expected
    assert error.feature is not None


def test_the_number_in_an_error_is_that_of_its_file(tmp_path: Path):
    write(tmp_path / "a-00000-of-00002", 0, 5)
    with rs.RecordWriter(tmp_path / "a-00001-of-00002") as writer:
        writer.write_rows([row(5)], SCHEMA)
        writer.write_example({"n": 6})
    with pytest.raises(rs.SchemaMismatchError, match="'name' is missing") as caught:
        rs.open(tmp_path, schema=SCHEMA)[6]
    assert (caught.value.path, caught.value.record) == (str(tmp_path / "a-00001-of-00002"), 1)


def test_another_size_in_bytes(tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    with rs.RecordWriter(path) as writer:
        writer.write_example({"pixels": b"1234"})
        writer.write_example({"pixels": b"12345"})
    with pytest.raises(rs.SchemaMismatchError, match="another size in bytes") as caught:
        list(rs.open(path, schema=rs.Schema({"pixels": rs.Tensor("uint8", (2, 2))})))
    assert (caught.value.found, caught.value.expected, caught.value.record) == ("5 bytes", "4 bytes", 1)


def test_text_that_is_not_utf8(tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    with rs.RecordWriter(path) as writer:
        writer.write_example({"name": b"fine"})
        writer.write_example({"name": b"\xff"})
    ds = rs.open(path, schema=rs.Schema({"name": rs.Text()}))
    assert ds[0]["name"] == "fine"
    with pytest.raises(rs.SchemaMismatchError, match="not UTF-8") as caught:
        ds[1]
    assert "Bytes instead of Text" in str(caught.value)


def test_a_schema_that_was_inferred_from_a_part_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from recordsmith.dataset import inference

    monkeypatch.setattr(inference, "_SAMPLED_BYTES", 1)
    path = tmp_path / "data.tfrecord"
    with rs.RecordWriter(path) as writer:
        for n in range(20_000):
            writer.write_example({"n": [n] if n < 19_000 else [n, n]})
    ds = rs.open(path)
    for attempt in (lambda: list(ds.batch(1000)), lambda: ds[19_500]):
        with pytest.raises(rs.SchemaMismatchError, match=r"inferred from the first \d+ records") as caught:
            attempt()
        assert "infer_schema" in str(caught.value)


# --- features that are absent ---


def test_optional_features_and_defaults(tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    with rs.RecordWriter(path) as writer:
        writer.write_example({"a": 1, "b": 0.5, "c": "x", "d": [1, 2]})
        writer.write_example({})
    schema = rs.Schema(
        {
            "a": rs.Scalar("int64", optional=True),
            "b": rs.Scalar("float32", default=2.5),
            "c": rs.Text(optional=True),
            "d": rs.Tensor("int64", (None,), default=[7]),
        }
    )
    ds = rs.open(path, schema=schema)
    first, second = ds
    assert (first["a"], first["b"], first["c"], first["d"].tolist()) == (1, 0.5, "x", [1, 2])
    assert (second["a"], second["b"], second["c"], second["d"].tolist()) == (None, 2.5, None, [7])
    assert ds[1]["a"] is None
