"""Tables in memory and Arrow files: what DataFrames, tables and datasets of Hugging Face hold is what is stored."""

from __future__ import annotations

import datetime as dt
import io
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest
from PIL import Image
from pyarrow import feather

import recordsmith as rs
from recordsmith.formats.tables import batch_source
from tests.formats.loaded_rows import plain, stored_rows

ROWS = 50
COLUMNS: dict[str, list[Any]] = {
    "n": list(range(ROWS)),
    "big": [2**60 + number for number in range(ROWS)],
    "x": [number / 4 for number in range(ROWS)],
    "gap": [None if number % 7 == 3 else number for number in range(ROWS)],
    "ok": [number % 3 == 0 for number in range(ROWS)],
    "words": [f"né {number}" for number in range(ROWS)],
    "raw": [bytes([number, 0, 255]) for number in range(ROWS)],
    "lists": [[number] * (number % 4) for number in range(ROWS)],
    "species": ["setosa" if number % 2 else "virginica" for number in range(ROWS)],
}
SCHEMA = rs.Schema(
    {
        "n": rs.Scalar("int64"),
        "big": rs.Scalar("int64"),
        "x": rs.Scalar("float32"),
        "gap": rs.Scalar("int64", optional=True),
        "ok": rs.Scalar("bool", storage="list"),
        "words": rs.Text(),
        "raw": rs.Bytes(),
        "lists": rs.Tensor("int64", (None,)),
        "species": rs.Label(["setosa", "virginica"]),
    }
)
NAMES = ["setosa", "virginica"]
EXPECTED = [
    {name: values[row] if name != "species" else NAMES.index(values[row]) for name, values in COLUMNS.items()}
    for row in range(ROWS)
]


def made_rows(source: Any, folder: Path, split: str | None = None, **options: Any) -> list[dict[str, Any]]:
    rs.make(source, folder / "made", shuffle=False, **options)
    return [{name: plain(value) for name, value in row.items()} for row in rs.open(folder / "made", split=split)]


def frame() -> Any:
    return pd.DataFrame({**COLUMNS, "gap": pd.array(COLUMNS["gap"], "Int64")})


@pytest.mark.source("DataFrame (pandas, polars), Arrow table", keeps="types, lists, bytes, missing values, categories")
@pytest.mark.parametrize("kind", ["pandas", "categories", "polars", "arrow", "batch", "stream", "scanned", "capsule"])
def test_tables_in_memory(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(batch_source, "_CHUNK_ROWS", 7)
    table = pa.table(COLUMNS)

    class Capsule:
        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            return table.__arrow_c_stream__(requested_schema)

    forms: dict[str, Any] = {
        "pandas": frame(),
        "categories": frame().assign(species=pd.Categorical(COLUMNS["species"])),
        "polars": pl.DataFrame(COLUMNS),
        "arrow": table,
        "batch": table.to_batches()[0],
        "stream": pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=9)),
        "scanned": pyarrow.dataset.dataset(table),
        "capsule": Capsule(),
    }
    assert made_rows(forms[kind], tmp_path, label="species") == EXPECTED
    assert rs.open(tmp_path / "made").schema == SCHEMA


def test_types_of_polars_are_kept(tmp_path):
    frame = pl.DataFrame(
        {
            "words": [["a", "né"], ["c"]],
            "inner": [{"x": "u", "y": [b"1"]}, {"x": "v", "y": [b"2", b"3"]}],
            "many": [[{"k": "a"}], [{"k": "b"}, {"k": "c"}]],
            "pair": pl.Series([[1.0, 2.0], [3.0, 4.0]], dtype=pl.Array(pl.Float32, 2)),
            "price": [Decimal("1.50"), Decimal("2.25")],
            "small": pl.Series([1, 2], dtype=pl.UInt8),
            "took": [dt.timedelta(seconds=1), None],
            "kind": pl.Series(["p", "q"], dtype=pl.Enum(["p", "q"])),
            "word": pl.Series(["p", None], dtype=pl.Categorical),
        }
    )
    assert made_rows(frame, tmp_path, label="kind") == [
        {
            "words": ["a", "né"],
            "inner/x": "u",
            "inner/y": [b"1"],
            "many/k": ["a"],
            "pair": [1.0, 2.0],
            "price": 1.5,
            "small": 1,
            "took": 1_000_000,
            "kind": 0,
            "word": "p",
        },
        {
            "words": ["c"],
            "inner/x": "v",
            "inner/y": [b"2", b"3"],
            "many/k": ["b", "c"],
            "pair": [3.0, 4.0],
            "price": 2.25,
            "small": 2,
            "took": None,
            "kind": 1,
            "word": None,
        },
    ]


@pytest.mark.parametrize("workers", [1, 2])
def test_chunks_carry_their_rows_anywhere(workers, tmp_path, monkeypatch):
    monkeypatch.setattr(batch_source, "_CHUNK_ROWS", 7)
    stored = stored_rows(rs.sources.arrow(pa.table(COLUMNS), label="species"))
    assert (stored.rows, stored.chunks, stored.places[49]) == (EXPECTED, 8, "the table, row 49")
    made = rs.make(pa.table(COLUMNS), tmp_path / "a", map=lambda row: {"n": row["n"]}, workers=workers)
    assert made.splits["train"].rows == ROWS


def test_options_of_columns_go_to_the_source(tmp_path):
    (tmp_path / "a.csv").write_text("zip,path,y\n02134,a.png,1\n")
    Image.new("RGB", (2, 2)).save(tmp_path / "a.png")
    table = pd.DataFrame({"zip": [2134], "path": [str(tmp_path / "a.png")], "y": [1]})
    for source in (tmp_path / "a.csv", table):
        rs.make(source, tmp_path / "out", label="y", text="zip", images=["path"], overwrite=True)
        schema = rs.open(tmp_path / "out").schema
        assert (type(schema["zip"]), type(schema["path"]), schema["y"]) == (rs.Text, rs.Image, rs.Label(2))
    assert rs.make({"x": [1, 2], "y": [0, 1]}, tmp_path / "b", label="y").splits["train"].classes == {"0": 1, "1": 1}
    assert rs.make([{"y": "a"}, {"y": "b"}], tmp_path / "c", label="y").splits["train"].classes == {"a": 1, "b": 1}
    with pytest.raises(rs.RecordsmithError, match=r"with a source(.|\n)*sources.csv\(\.\.\., label=\.\.\.\)"):
        rs.make(rs.sources.csv(tmp_path / "a.csv"), tmp_path / "d", label="y")
    with pytest.raises(rs.RecordsmithError, match="'rows' has no option 'images'"):
        rs.make([{"y": "a"}], tmp_path / "d", images="y")
    with pytest.raises(TypeError, match="Did you mean 'label'"):
        rs.sources.arrow(table, lable="y")  # type: ignore[call-arg]


def test_a_named_index_is_a_column_and_row_numbers_are_not(tmp_path):
    table = pd.DataFrame({"a": [1, 2, 3]}, index=pd.Index(["x", "y", "z"], name="id"))
    assert made_rows(table[table.a > 1], tmp_path) == [{"id": "y", "a": 2}, {"id": "z", "a": 3}]
    table = pd.DataFrame({"a": [1, 2, 3]})
    assert stored_rows(rs.sources.arrow(table[table.a > 1])).rows == [{"a": 2}, {"a": 3}]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "Several columns have the same name(.|\n)*'a'"),
        (pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]), "Several columns have the same name(.|\n)*'a'"),
        (pd.DataFrame({"a": [1, "x", b"y"]}), "cannot be converted to Arrow(.|\n)*feature 'a'(.|\n)*astype"),
        (pd.DataFrame({"a": []}), "There are no rows"),
        (pa.table({"a": pa.array([[["x"]]])}), "Lists of lists of strings(.|\n)*feature 'a'"),
        ({"../up": pa.table({"a": [1]})}, "must be split names"),
        ({"train": pa.table({"a": [1]}), "test": pa.table({"b": [1]})}, "different columns(.|\n)*the table 'test'"),
        (pl.LazyFrame({"a": [1]}), r"cannot be used as a source(.|\n)*LazyFrame(.|\n)*collect\(\)"),
        (pd.Series([1, 2]), "A row must be a mapping|The rows must be mappings"),
    ],
)
def test_what_is_wrong_with_a_table_is_said(table, message, tmp_path):
    with pytest.raises(rs.RecordsmithError, match=message):
        rs.make(table, tmp_path / "out")
    assert not (tmp_path / "out" / "recordsmith.json").exists()


def test_periods_and_intervals_of_pandas_are_text(tmp_path):
    frame = pd.DataFrame({"month": pd.period_range("2020-01", periods=2, freq="M"), "range": pd.interval_range(0, 2)})
    frame.loc[1, "month"] = pd.NaT
    rows = stored_rows(rs.sources.arrow(frame)).rows
    assert rows == [{"month": "2020-01", "range": "(0, 1]"}, {"month": None, "range": "(1, 2]"}]


def test_a_mapping_of_tables_has_splits(tmp_path):
    table = pl.DataFrame(COLUMNS)
    made = rs.make({"test": table[40:], "train": table[:40]}, tmp_path / "made", label="species", shuffle=False)
    assert {name: split.rows for name, split in made.splits.items()} == {"train": 40, "test": 10}
    assert [row["n"] for row in rs.open(tmp_path / "made", split="test")] == list(range(40, 50))


def test_the_description_follows_the_rows():
    one = rs.sources.arrow(pa.table({"a": [1, 2]})).describe()
    assert one == rs.sources.arrow(pa.table({"a": [1, 2]})).describe()
    assert one != rs.sources.arrow(pa.table({"a": [1, 3]})).describe()


# --- files ---


@pytest.mark.source("Arrow IPC, Feather", keeps="types, lists, bytes, missing values, splits in file names")
@pytest.mark.parametrize("kind", ["file", "stream", "feather", "compressed"])
def test_arrow_files(kind, tmp_path):
    table = pa.table(COLUMNS)
    for split, part in (("train", table[:30]), ("test", table[30:])):
        path = tmp_path / f"data-{split}.{'arrow' if kind in ('file', 'stream') else 'feather'}"
        if kind in ("feather", "compressed"):
            feather.write_feather(part, path, compression="zstd" if kind == "compressed" else "uncompressed")
            continue
        opened = pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
        with opened(str(path), part.schema) as writer:
            writer.write_table(part, max_chunksize=8)
    rs.make(tmp_path, tmp_path / "made", label="species", shuffle=False)
    assert rs.open(tmp_path / "made", split="train").schema == SCHEMA
    rows = [
        {name: plain(value) for name, value in row.items()}
        for split in ("train", "test")
        for row in rs.open(tmp_path / "made", split=split)
    ]
    assert rows == EXPECTED


def test_a_file_damaged_anywhere_is_an_error_that_names_it(tmp_path):
    path = tmp_path / "a.arrow"
    with pa.ipc.new_file(str(path), pa.table(COLUMNS).schema) as writer:
        writer.write_table(pa.table(COLUMNS))
    whole = path.read_bytes()
    damaged = 0
    for step in range(0, len(whole), len(whole) // 60):
        for data in (whole[:step], whole[:step] + b"\xff\xff\xff\x7f" + whole[step + 4 :]):
            path.write_bytes(data)
            try:
                stored_rows(rs.sources.arrow(path))
            except rs.RecordsmithError as error:
                assert str(path) in str(error) or "feature" in str(error)  # noqa: PT017 - not every damage shows
                damaged += 1
    assert damaged > 60


def test_old_feather_files_are_named(tmp_path):
    (tmp_path / "a.feather").write_bytes(b"FEA1" + bytes(100))
    with pytest.raises(rs.RecordsmithError, match=r"version 1(.|\n)*write_feather"):
        rs.make(tmp_path / "a.feather", tmp_path / "out")


# --- Hugging Face ---


def png(value: int) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(np.full((4, 5, 3), value, np.uint8)).save(buffer, "PNG")
    return buffer.getvalue()


FEATURES = datasets.Features(
    {
        "image": datasets.Image(),
        "label": datasets.ClassLabel(names=["cat", "dog", "bird"]),
        "text": datasets.Value("string"),
        "small": datasets.Value("int8"),
        "half": datasets.Value("float32"),
        "matrix": datasets.Array2D((2, 3), "float32"),
        "tokens": datasets.List(datasets.Value("int32")),
        "answers": {"start": datasets.Value("int64"), "kind": datasets.ClassLabel(names=["x", "y"])},
    }
)


def hugging_face_rows(count: int = 12) -> list[dict[str, Any]]:
    return [
        {
            "image": {"bytes": png(number), "path": None},
            "label": number % 3,
            "text": f"né {number}",
            "small": -number,
            "half": number / 2,
            "matrix": [[number, 1, 2], [3, 4, 5]],
            "tokens": [number] * (number % 3),
            "answers": {"start": number * 10, "kind": number % 2},
        }
        for number in range(count)
    ]


def expected_row(number: int) -> dict[str, Any]:
    row = hugging_face_rows(number + 1)[number]
    answers = row.pop("answers")
    return {**row, "image": png(number), "answers/start": answers["start"], "answers/kind": answers["kind"]}


@pytest.mark.source(
    "Hugging Face Dataset, DatasetDict", keeps="images byte for byte, class names, types, shapes, lists, order, splits"
)
@pytest.mark.source("Hugging Face save_to_disk", keeps="the same, from the folder")
@pytest.mark.parametrize("form", ["object", "folder", "one", "folder of one", "parquet"])
def test_datasets_of_hugging_face(form, tmp_path):
    whole = datasets.Dataset.from_list(hugging_face_rows(), features=FEATURES)
    parts = datasets.DatasetDict({"train": whole.shuffle(seed=3).select(range(8)), "test": whole.select([9, 1])})
    source: Any = parts
    if form == "folder":
        parts.save_to_disk(tmp_path / "saved", num_shards={"train": 2, "test": 1})
        source = tmp_path / "saved"
    elif form == "parquet":
        (tmp_path / "hub" / "data").mkdir(parents=True)
        for split, part in parts.items():
            part.to_parquet(tmp_path / "hub" / "data" / f"{split}-00000-of-00001.parquet")
        (tmp_path / "hub" / "README.md").write_text("---\n---\n")
        source = tmp_path / "hub"
    elif form != "object":
        source = parts["train"]
        if form == "folder of one":
            source.save_to_disk(tmp_path / "saved")
            source = tmp_path / "saved"
    made = rs.make(source, tmp_path / "made", shuffle=False, label="label")
    splits = {"train": list(parts["train"]["small"]), "test": [-9, -1]}
    assert {name: split.rows for name, split in made.splits.items()} == (
        {"train": 8} if "one" in form else {"train": 8, "test": 2}
    )
    for split in made.splits:
        opened = rs.open(tmp_path / "made", split=split)
        assert opened.schema["label"] == rs.Label(["cat", "dog", "bird"])
        assert opened.schema["answers/kind"] == rs.Label(["x", "y"])
        assert opened.schema["matrix"] == rs.Tensor("float32", (2, 3))
        assert isinstance(opened.schema["image"], rs.Image)
        rows = [{name: plain(value) for name, value in row.items()} for row in opened]
        assert rows == [expected_row(-small) for small in splits[split]]


def test_streams_of_hugging_face(tmp_path):
    whole = datasets.Dataset.from_list(hugging_face_rows(), features=FEATURES)
    assert made_rows(whole.to_iterable_dataset(), tmp_path) == [expected_row(number) for number in range(12)]
    unknown = datasets.IterableDataset.from_generator(lambda: iter([{"n": 1}, {"n": 2}]))
    assert unknown.features is None
    assert made_rows(unknown, tmp_path / "b") == [{"n": 1}, {"n": 2}]


def test_class_names_of_lists_are_not_kept_and_it_is_said():
    features = datasets.Features({"tags": datasets.List(datasets.ClassLabel(names=["a", "b"]))})
    source = rs.sources.arrow(datasets.Dataset.from_dict({"tags": [[0, 1], [1]]}, features=features))
    assert source.schema() == rs.Schema({"tags": rs.Tensor("int64", (None,))})
    assert source.warnings == ("The class names of 'tags' are not kept: they are lists of classes.",)


@pytest.mark.source("Hugging Face Dataset with Audio", keeps="sounds byte for byte")
@pytest.mark.parametrize("form", ["object", "folder"])
def test_sounds_of_hugging_face_stay_encoded(form, tmp_path):
    soundfile = pytest.importorskip("soundfile")
    sounds = []
    for number in range(3):
        buffer = io.BytesIO()
        soundfile.write(buffer, np.full(80, number / 10), 8000, format="WAV")
        sounds.append(buffer.getvalue())
    features = datasets.Features({"sound": datasets.Audio(), "label": datasets.ClassLabel(names=["a", "b"])})
    rows = [{"sound": {"bytes": sound, "path": None}, "label": 1} for sound in sounds]
    stored = pa.Table.from_pylist(rows, features.arrow_schema)  # as the library stores them: it encodes with torchcodec
    source: Any = datasets.Dataset(stored, info=datasets.DatasetInfo(features=features))
    if form == "folder":
        source.save_to_disk(tmp_path / "saved")
        source = tmp_path / "saved"
    rs.make(source, tmp_path / "made", shuffle=False)
    opened = rs.open(tmp_path / "made")
    assert isinstance(opened.schema["sound"], rs.Audio)
    assert [row["sound"] for row in opened] == sounds


@pytest.mark.parametrize("name", ["../a.arrow", "/etc/passwd", "..", "", 3])
def test_a_saved_dataset_names_only_files_of_its_folder(name, tmp_path):
    (tmp_path / "state.json").write_text(json.dumps({"_data_files": [{"filename": name}]}))
    with pytest.raises(rs.RecordsmithError, match="not a name in the folder"):
        rs.make(tmp_path, tmp_path / "out")
    (tmp_path / "dataset_dict.json").write_text(json.dumps({"splits": [name]}))
    with pytest.raises(rs.RecordsmithError, match="not a name in the folder"):
        rs.make(tmp_path, tmp_path / "out")
