"""Exports and the way back: nothing is lost, whatever the features; other tools open the files."""

from __future__ import annotations

import csv
import io
import json
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import recordsmith as rs
from recordsmith.columns import SparseRow
from recordsmith.dataset import find_layout
from recordsmith.images import encode_image
from recordsmith.schema import Feature
from tests.copying.conftest import SCHEMA
from tests.schema.test_round_trip import columns

SUFFIXES = {"parquet": ".parquet", "csv": ".csv", "jsonl": ".jsonl", "webdataset": ".tar"}


def payloads(path: Path, split: str | None = None) -> list[bytes]:
    return [payload for file in find_layout(path).select(split).files for payload in rs.RecordReader(file)]


def there_and_back(source: Path, work: Path, kind: str, **options: Any) -> Path:
    """Export to a file, and make a dataset from it."""
    file = work / f"data{SUFFIXES[kind]}"
    rs.export(source, file, **options)
    rs.make(file, work / f"back-{kind}", shuffle=False, on_error="stop", name="back")
    return work / f"back-{kind}"


def with_one_nan(value: Any) -> Any:
    """NaN has many bit patterns, and texts have one word for them."""
    if isinstance(value, list):
        return [with_one_nan(one) for one in value]
    if isinstance(value, dict):
        return {name: with_one_nan(one) for name, one in value.items()}
    if isinstance(value, SparseRow):
        return SparseRow(value.indices, with_one_nan(value.values))
    if isinstance(value, np.ndarray) and value.dtype.kind == "c":
        parts = np.stack([value.real, value.imag], axis=-1)
        return np.ascontiguousarray(with_one_nan(parts)).view(value.dtype)[..., 0]
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return np.where(np.isnan(value), value.dtype.type(np.nan), value)
    return value


@st.composite
def tables(draw: st.DrawFn) -> tuple[rs.Schema, list[dict[str, Any]]]:
    """A few features of any type, and rows of them."""
    drawn = draw(st.lists(columns(), min_size=1, max_size=4))
    names = draw(
        st.lists(
            st.sampled_from(["image", "label", "a/b", "a.b", "Größe", 'x"y', "n,m", "text", "empty"]),
            min_size=len(drawn),
            max_size=len(drawn),
            unique=True,
        )
    )
    features: dict[str, Feature] = {}
    values: dict[str, list[Any]] = {}
    for name, (feature, rows) in zip(names, drawn, strict=True):
        features[name], values[name] = feature, rows
    count = min(map(len, values.values()))
    rows = [{name: with_one_nan(values[name][row]) for name in names} for row in range(count)]
    return rs.Schema(features), rows


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(table=tables(), kind=st.sampled_from(sorted(SUFFIXES)))
def test_nothing_is_lost(
    table: tuple[rs.Schema, list[dict[str, Any]]], kind: str, quick_folders: Iterator[Path]
) -> None:
    schema, rows = table
    has_steps = any(isinstance(feature, rs.Steps) for feature in schema.values())
    lonely = len(schema) == 1 and next(iter(schema.values())).optional
    assume(bool(rows))
    if kind == "csv" and (has_steps or lonely):
        kind = "jsonl"
    work = next(quick_folders)
    with rs.write(work / "in", schema) as writer:
        for row in rows:
            writer.add(row)
    back = there_and_back(work / "in", work, kind)
    assert rs.open(back).schema == schema
    assert payloads(back) == payloads(work / "in")


@pytest.mark.parametrize("optional", [False, True])
def test_steps_of_images(*, optional: bool, quick_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from recordsmith.formats.parquet import source as parquet_source

    monkeypatch.setattr(parquet_source, "_CHUNK_ROWS", 2)
    frames = [encode_image(np.full((2, 2, 3), shade, np.uint8), "png") for shade in (0, 100, 200)]
    schema = rs.Schema({"n": rs.Scalar("int64"), "frames": rs.Steps(rs.Image(), optional=optional)})
    rows = [{"n": n, "frames": frames[: n % 4]} for n in range(9)]
    with rs.write(quick_path / "in", schema) as writer:
        for row in rows:
            writer.add({"n": row["n"]} if optional and row["n"] == 4 else row)
    back = there_and_back(quick_path / "in", quick_path, "parquet")
    assert rs.open(back).schema == schema
    assert payloads(back) == payloads(quick_path / "in")


@pytest.mark.parametrize("kind", sorted(SUFFIXES))
def test_many_rows_in_small_pieces(kind: str, folder: Path, quick_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from recordsmith.formats.parquet import source as parquet_source
    from recordsmith.formats.parquet import writer as parquet_writer
    from recordsmith.formats.tables import lines as table_lines
    from recordsmith.formats.webdataset import exported as exported_tar
    from recordsmith.making.sources import tfrecord_files

    monkeypatch.setattr(tfrecord_files, "_CHUNK_ROWS", 7)
    monkeypatch.setattr(parquet_writer, "_GROUP_BYTES", 500)
    monkeypatch.setattr(parquet_source, "_CHUNK_ROWS", 5)
    monkeypatch.setattr(exported_tar, "_CHUNK_SAMPLES", 5)
    monkeypatch.setattr(table_lines, "LINES_AT_ONCE", 5)
    back = there_and_back(folder, quick_path, kind, split="train")
    assert payloads(back) == payloads(folder, "train")
    assert rs.open(back).schema == SCHEMA


def test_a_folder_gets_a_file_for_each_split(folder: Path, quick_path: Path) -> None:
    for kind, suffix in SUFFIXES.items():
        exported = rs.export(folder, quick_path / kind, to=kind)
        rows = {os.path.basename(path): rows for path, rows in exported.files.items()}
        assert rows == {f"train{suffix}": 48, f"test{suffix}": 12}
        rs.make(quick_path / kind, quick_path / f"{kind}-back", shuffle=False, on_error="stop")
        assert sorted(payloads(quick_path / f"{kind}-back")) == sorted(payloads(folder))


def test_files_of_a_size(folder: Path, quick_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from recordsmith.formats.parquet import writer as parquet_writer
    from recordsmith.making.sources import tfrecord_files

    monkeypatch.setattr(tfrecord_files, "_CHUNK_ROWS", 7)
    monkeypatch.setattr(parquet_writer, "_GROUP_BYTES", 100)
    for kind, suffix in SUFFIXES.items():
        exported = rs.export(folder, quick_path / f"data{suffix}", split="train", shard_size="1KB")
        names = [os.path.basename(path) for path in exported.files]
        assert len(names) > 1
        assert names == [f"data-{number:05}{suffix}" for number in range(len(names))]
        assert exported.rows == 48
        rs.make(quick_path / f"data-*{suffix}", quick_path / kind, shuffle=False, on_error="stop")
        assert payloads(quick_path / kind) == payloads(folder, "train")
    with pytest.raises(rs.RecordsmithError, match="already"):
        rs.export(folder, quick_path / "data.csv", split="train", shard_size="1KB")


def test_exports_do_not_depend_on_workers(folder: Path, quick_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from recordsmith.making.sources import tfrecord_files

    monkeypatch.setattr(tfrecord_files, "_CHUNK_ROWS", 7)
    for suffix in (*SUFFIXES.values(), ".csv.gz"):
        for workers in (1, 4):
            rs.export(folder, quick_path / f"{workers}{suffix}", split="train", workers=workers)
        assert (quick_path / f"1{suffix}").read_bytes() == (quick_path / f"4{suffix}").read_bytes()


def test_compressed_texts(folder: Path, quick_path: Path) -> None:
    for name in ("data.csv.gz", "data.jsonl.gz"):
        rs.export(folder, quick_path / name, split="test")
        assert (quick_path / name).read_bytes()[:2] == b"\x1f\x8b"
        rs.make(quick_path / name, quick_path / f"{name}-back", shuffle=False, on_error="stop")
        assert payloads(quick_path / f"{name}-back") == payloads(folder, "test")


def test_records_without_a_description(plain_file: Path, quick_path: Path) -> None:
    for kind in SUFFIXES:
        back = there_and_back(plain_file, quick_path, kind)
        for old, new in zip(rs.open(plain_file), rs.open(back), strict=True):
            assert old.keys() == new.keys()
            assert all(np.array_equal(old[name], new[name]) for name in old)


def test_choosing_what_is_exported(folder: Path, quick_path: Path) -> None:
    exported = rs.export(
        folder, quick_path / "dogs.jsonl", split="train", where="label == 'dog'", features=["n", "label"]
    )
    assert (exported.rows, exported.unmatched, exported.left_out) == (9, 39, ("x", "tokens", "name", "who"))
    rows = [json.loads(line) for line in (quick_path / "dogs.jsonl").read_text().splitlines()]
    assert all(row == {"n": row["n"], "label": "dog"} for row in rows)


def test_sequences(quick_path: Path) -> None:
    schema = rs.Schema(
        {"id": rs.Scalar("int64"), "words": rs.Steps(rs.Text()), "at": rs.Steps(rs.Tensor("float32", (2,)))}
    )
    with rs.write(quick_path / "in", schema) as writer:
        writer.add({"id": 1, "words": ["a", "b"], "at": [[0.5, 1.0]]})
        writer.add({"id": 2, "words": [], "at": []})
    for kind in ("parquet", "jsonl", "webdataset"):
        assert payloads(there_and_back(quick_path / "in", quick_path, kind)) == payloads(quick_path / "in")
    with pytest.raises(rs.SchemaError, match=r"cannot store features with steps(.|\n)*'words', 'at'"):
        rs.export(quick_path / "in", quick_path / "in.csv")
    assert json.loads((quick_path / "data.jsonl").read_text().splitlines()[0]) == {
        "id": 1, "words": ["a", "b"], "at": [[0.5, 1.0]],
    }  # fmt: skip


# --- other tools ---


def test_pandas_and_arrow_open_parquet(folder: Path, quick_path: Path) -> None:
    import pandas as pd
    import pyarrow.parquet as pq

    rs.export(folder, quick_path / "data.parquet", split="test")
    frame = pd.read_parquet(quick_path / "data.parquet")
    assert set(frame["label"]) == {0, 1}  # the names are in the metadata, as Hugging Face's datasets stores them
    assert frame["n"].tolist() == [int(row["n"]) for row in rs.open(folder, split="test")]
    assert frame["tokens"][frame["n"] == 51].tolist()[0].tolist() == [0, 1, 2]
    assert frame["name"].isna().sum() == 4
    metadata = pq.read_schema(quick_path / "data.parquet").metadata[b"recordsmith"]
    assert rs.Schema.from_json(json.loads(metadata)["schema"]) == SCHEMA
    changed = frame.assign(n=frame["n"] + 1000)
    changed.to_parquet(quick_path / "changed.parquet")  # without our metadata: types are inferred as for any file
    rs.make(quick_path / "changed.parquet", quick_path / "changed", shuffle=False)
    assert int(rs.open(quick_path / "changed")[0]["n"]) == int(frame["n"][0]) + 1000


def test_csv_and_json_are_what_others_expect(folder: Path, quick_path: Path) -> None:
    import pandas as pd

    rs.export(folder, quick_path / "data.csv", split="test")
    with open(quick_path / "data.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[1] == {
        "n": "50",
        "x": "[25.0, -50.0]",
        "tokens": "[0, 1]",
        "name": "pet 50",
        "label": "cat",
        "who": "16",
    }
    frame = pd.read_csv(quick_path / "data.csv")
    assert frame["n"].dtype == np.int64
    assert frame["who"].isna().sum() == 6
    rs.export(folder, quick_path / "data.jsonl", split="test")
    lines = pd.read_json(quick_path / "data.jsonl", lines=True)
    assert lines["tokens"][lines["n"] == 51].tolist() == [[0, 1, 2]]
    sidecar = json.loads((quick_path / "data.csv.schema.json").read_text())
    assert sidecar["encodings"] == {"x": "json", "tokens": "json"}


def test_floats_have_few_digits_and_come_back(quick_path: Path) -> None:
    schema = rs.Schema({"x": rs.Scalar("float32"), "v": rs.Tensor("float32", (None,))})
    values = np.array([0.1, 1e-45, 3.4028235e38, -0.0, np.nan, np.inf, -np.inf, 16777217], np.float32)
    with rs.write(quick_path / "in", schema) as writer:
        writer.extend({"x": values, "v": [values] * len(values)})
    for kind in ("csv", "jsonl"):
        assert payloads(there_and_back(quick_path / "in", quick_path, kind)) == payloads(quick_path / "in")
    first = json.loads((quick_path / "data.jsonl").read_text().splitlines()[0])
    assert first == {"x": 0.1, "v": [0.1, 1e-45, 3.4028235e38, -0.0, "NaN", "Infinity", "-Infinity", 16777216.0]}
    assert (quick_path / "data.csv").read_text().splitlines()[1].startswith("0.1,")


def test_samples_are_those_of_webdataset(quick_path: Path) -> None:
    schema = rs.Schema(
        {
            "image": rs.Image(encoding="png"),
            "label": rs.Label(["cat", "dog"]),
            "caption": rs.Text(optional=True),
            "box": rs.Tensor("int64", (4,)),
            "view": rs.Image(optional=True),
        }
    )
    png, jpeg = (encode_image(np.full((2, 3, 3), 9, np.uint8), kind) for kind in ("png", "jpeg"))
    with rs.write(quick_path / "in", schema) as writer:
        writer.add({"image": png, "label": "dog", "caption": "a dog", "box": [1, 2, 3, 4], "view": jpeg})
        writer.add({"image": png, "label": "cat", "box": [0, 0, 1, 1]})
    rs.export(quick_path / "in", quick_path / "data.tar")
    with tarfile.open(quick_path / "data.tar") as tar:
        contents = {member.name: tar.extractfile(member).read() for member in tar}  # type: ignore[union-attr]
    assert list(contents) == [
        ".recordsmith.json",
        *(f"0000000000.{end}" for end in ("png", "cls", "caption.txt", "box.npy", "view.jpg")),
        *(f"0000000001.{end}" for end in ("png", "cls", "box.npy")),
    ]
    assert contents["0000000000.cls"] == b"1"
    assert np.load(io.BytesIO(contents["0000000000.box.npy"])).tolist() == [1, 2, 3, 4]
    assert payloads(there_and_back(quick_path / "in", quick_path / "again", "webdataset")) == payloads(
        quick_path / "in"
    )


def test_the_way_back_can_be_told_otherwise(folder: Path, quick_path: Path) -> None:
    """With options of one's own, an exported file is a file like any other."""
    rs.export(folder, quick_path / "data.csv", split="test")
    source = rs.sources.csv(quick_path / "data.csv", columns=["n", "name"])
    assert list(source.schema()) == ["n", "name"]
    assert list(rs.sources.csv(quick_path / "data.csv", label="label").schema()) == list(SCHEMA)


# --- refusals ---


def test_changed_texts_are_refused_row_by_row(folder: Path, quick_path: Path) -> None:
    rs.export(folder, quick_path / "data.jsonl", split="test")
    lines = (quick_path / "data.jsonl").read_text().splitlines()
    lines[1] = lines[1].replace('"label": "cat"', '"label": "cow"')
    lines[2] = "{"
    (quick_path / "data.jsonl").write_text("\n".join(lines) + "\n")
    made = rs.make(quick_path / "data.jsonl", quick_path / "out")
    assert (made.rows, made.rejects) == (10, 2)
    rejected = (quick_path / "out" / "rejected.jsonl").read_text()
    assert "line 2" in rejected
    assert "line 3" in rejected
    rs.export(folder, quick_path / "data.csv", split="test")
    text = (quick_path / "data.csv").read_text().replace("\n50,", "\nfifty,")
    (quick_path / "data.csv").write_text(text)
    made = rs.make(quick_path / "data.csv", quick_path / "other")
    assert (made.rows, made.rejects) == (11, 1)
    assert "line 3" in (quick_path / "other" / "rejected.jsonl").read_text()


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("data.xml", {}, "export format cannot be detected"),
        ("data.csv", {"to": "parquet"}, "does not match the format"),
        ("data", {"to": "parqet"}, "Did you mean 'parquet'"),
        ("data.csv", {"features": ["nam"], "split": "test"}, "Did you mean 'name'"),
        ("data.csv", {}, r"several splits(.|\n)*split='train'"),
        ("data.csv", {"split": "tset"}, "Did you mean 'test'"),
        ("data.csv", {"features": ["name"], "split": "test"}, "one column"),
        ("there.csv", {"split": "test"}, "already"),
    ],
)
def test_refused_before_anything_is_written(
    name: str, options: dict[str, Any], words: str, folder: Path, quick_path: Path
) -> None:
    (quick_path / "there.csv").write_text("kept")
    with pytest.raises(rs.RecordsmithError, match=words):
        rs.export(folder, quick_path / name, **options)
    assert sorted(path.name for path in quick_path.iterdir()) == ["pets", "there.csv"]
    assert (quick_path / "there.csv").read_text() == "kept"


def test_nothing_is_left_of_an_export_that_fails(
    folder: Path, quick_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from recordsmith.exporting.export_files import WRITERS

    for kind, writer in WRITERS.items():
        calls = 0

        def failing(*_: object) -> None:
            nonlocal calls
            calls += 1
            if calls > 1:
                raise OSError(28, os.strerror(28))

        monkeypatch.setattr(writer, "write", failing)
        with pytest.raises(OSError, match="space"):
            rs.export(folder, quick_path / "out", to=kind)
        assert list((quick_path / "out").iterdir()) == []


def test_damage_and_numbers_that_are_no_class(plain_file: Path, quick_path: Path) -> None:
    data = bytearray(plain_file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    plain_file.write_bytes(data)
    with pytest.raises(rs.RecordsmithError, match="on_error='skip'"):
        rs.export(plain_file, quick_path / "out.jsonl", schema=SCHEMA)
    exported = rs.export(plain_file, quick_path / "out.jsonl", schema=SCHEMA, on_error="skip")
    assert (exported.rows, exported.rejects) == (29, 1)
    with rs.RecordWriter(quick_path / "odd.tfrecord") as writer:
        for label in (0, 7):
            writer.write_example({"label": label, "n": 1})
    schema = rs.Schema({"label": rs.Label(["cat", "dog"]), "n": rs.Scalar("int64")})
    with pytest.raises(rs.RecordsmithError, match=r"not one of the classes(.|\n)*odd.tfrecord, record 1(.|\n)*label"):
        rs.export(quick_path / "odd.tfrecord", quick_path / "odd.parquet", schema=schema)
    rs.export(quick_path / "odd.tfrecord", quick_path / "odd.jsonl", schema=schema)
    assert '"label": 7' in (quick_path / "odd.jsonl").read_text()


def test_a_copy_and_an_export_agree(folder: Path, quick_path: Path) -> None:
    rs.copy(folder, quick_path / "copy", where="n < 30", rename={"n": "number"})
    back = there_and_back(quick_path / "copy", quick_path, "parquet", split="train")
    assert payloads(back) == payloads(quick_path / "copy", "train")
