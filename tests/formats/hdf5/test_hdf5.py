"""HDF5 files: the values that h5py wrote are those of the records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import recordsmith as rs
from recordsmith.formats.arrays import source as array_source
from tests.formats.loaded_rows import plain, stored_rows

RNG = np.random.default_rng(0)
ARRAYS: dict[str, Any] = {
    "image": RNG.integers(0, 256, (30, 5, 4, 3), np.uint8),
    "x": RNG.normal(size=(30, 2)),
    "half": RNG.normal(size=30).astype(np.float16),
    "swapped": np.arange(30, dtype=">i4"),
    "ok": np.arange(30) % 2 == 0,
    "name": [f"né {number}" for number in range(30)],
    "fixed": np.array([f"f{number}" for number in range(30)], "S4"),
    "y": np.arange(30) % 4,
}


def written(path: Path, arrays: dict[str, Any], start: int = 0, stop: int = 30, **options: Any) -> Path:
    with h5py.File(path, "a") as file:
        for name, values in arrays.items():
            part = values[start:stop]
            file.create_dataset(name, data=part, **(options if not isinstance(part, list) else {}))
    return path


def expected(start: int, stop: int) -> list[dict[str, Any]]:
    rows = []
    for row in range(start, stop):
        entry = {
            name: plain(np.asarray(values[row])) if name not in ("name", "fixed") else values[row]
            for name, values in ARRAYS.items()
        }
        rows.append({**entry, "x": plain(ARRAYS["x"][row].astype(np.float32)), "fixed": ARRAYS["fixed"][row].decode()})
    return rows


@pytest.mark.source("HDF5", keeps="dtypes, shapes, text, classes, splits in groups and names")
@pytest.mark.parametrize("layout", ["plain", "chunked", "groups", "names", "files", "nested"])
def test_values_are_those_of_h5py(layout, tmp_path, monkeypatch):
    monkeypatch.setattr(array_source, "_CHUNK_ROWS", 7)
    path: Any = tmp_path / "a.h5"
    parts = {"train": (0, 20), "test": (20, 30)}
    if layout in ("plain", "chunked"):
        written(path, ARRAYS, **dict.fromkeys(["shuffle", "fletcher32"], layout == "chunked"))
    elif layout == "nested":
        written(path, {f"inner/{name}": values for name, values in ARRAYS.items()})
    for split, part in parts.items() if layout in ("groups", "names", "files") else ():
        form = {"groups": f"{split}/{{}}", "names": f"{{}}_{split}", "files": "{}"}[layout]
        file = tmp_path / f"{split}.h5" if layout == "files" else path
        written(file, {form.format(name): values for name, values in ARRAYS.items()}, *part)
        path = tmp_path if layout == "files" else path
    prefix = "inner/" if layout == "nested" else ""
    made = rs.make(path, tmp_path / "made", label=f"{prefix}y", shuffle=False)
    assert list(made.splits) == (["train", "test"] if layout in ("groups", "names", "files") else ["train"])
    rows = [row for split in made.splits for row in rs.open(tmp_path / "made", split=split)]
    assert [{name.removeprefix(prefix): plain(value) for name, value in row.items()} for row in rows] == expected(0, 30)
    schema = rs.open(tmp_path / "made", split="train").schema
    assert schema[f"{prefix}image"] == rs.Tensor("uint8", (5, 4, 3))
    assert (schema[f"{prefix}y"], schema[f"{prefix}name"]) == (rs.Label(4), rs.Text())


def test_arrays_are_read_in_parts_anywhere(tmp_path, monkeypatch):
    monkeypatch.setattr(array_source, "_CHUNK_ROWS", 7)
    source = rs.sources.hdf5(written(tmp_path / "a.h5", ARRAYS), label="y")
    assert not source.sequential
    stored = stored_rows(source)
    assert (stored.rows, stored.chunks, stored.places[29]) == (expected(0, 30), 5, f"{tmp_path}/a.h5, row 29")


def test_some_datasets_are_chosen(tmp_path):
    path = written(tmp_path / "a.h5", {**ARRAYS, "list_classes": [f"c{number}" for number in range(5)]})
    with h5py.File(path, "a") as file:
        file["version"] = 3  # a single value is no column
    with pytest.raises(rs.RecordsmithError, match=r"differ in length(.|\n)*columns=\["):
        rs.sources.hdf5(path)
    assert list(rs.sources.hdf5(path, columns=["x"], label="y").schema()) == ["x", "y"]


def test_some_datasets_of_splits_are_chosen(tmp_path):
    for split, rows in (("train", 20), ("test", 10)):
        written(
            tmp_path / "a.h5",
            {f"X_{split}": np.zeros((rows, 2)), f"y_{split}": np.arange(rows) % 2, f"other_{split}": [b"a"]},
        )
    source = rs.sources.hdf5(tmp_path / "a.h5", columns=["X"], label="y")
    assert (list(source.schema()), source.splits, source.row_count) == (["X", "y"], ("train", "test"), 30)


def test_nothing_outside_the_file_is_read(tmp_path):
    secret = written(tmp_path / "secret.h5", {"key": np.arange(3)})
    for number, make in enumerate(
        (
            lambda file: file.__setitem__("a", h5py.ExternalLink("secret.h5", "/key")),
            lambda file: file.__setitem__("a", h5py.SoftLink("/b")),
            lambda file: file.create_dataset("a", (10,), "u1", external=[(str(secret), 0, 10)]),
            lambda file: file.create_virtual_dataset("a", _virtual(secret)),
        )
    ):
        with h5py.File(tmp_path / f"{number}.h5", "w") as file:
            file["b"] = np.arange(3)
            make(file)
        with pytest.raises(rs.RecordsmithError, match=r"is not followed|are not read"):
            rs.sources.hdf5(tmp_path / f"{number}.h5")


def _virtual(path: Path) -> h5py.VirtualLayout:
    layout = h5py.VirtualLayout(shape=(3,), dtype="i8")
    layout[:] = h5py.VirtualSource(str(path), "key", shape=(3,))
    return layout


def test_a_file_damaged_anywhere_is_an_error_that_names_it(tmp_path):
    path = written(tmp_path / "a.h5", ARRAYS, chunks=True, compression="gzip", fletcher32=True)
    whole = path.read_bytes()
    damaged = 0
    for step in range(0, len(whole), len(whole) // 60):
        for data in (whole[:step], whole[:step] + b"\xff" * 8 + whole[step + 8 :]):
            path.write_bytes(data)
            try:
                stored_rows(rs.sources.hdf5(path))
            except (rs.RecordsmithError, UnicodeError) as error:
                damaged += 1
                assert not isinstance(error, UnicodeError)  # noqa: PT017 - not every damage shows
    assert damaged > 60


def test_what_is_no_data_is_named(tmp_path):
    with h5py.File(tmp_path / "model.h5", "w") as file:
        file.attrs["keras_version"] = "3"
    with pytest.raises(rs.RecordsmithError, match="a Keras model"):
        rs.make(tmp_path / "model.h5", tmp_path / "out")
    with h5py.File(tmp_path / "frame.h5", "w") as file:  # as pandas marks its groups
        file.create_group("df").attrs["pandas_type"] = "frame_table"
    with pytest.raises(rs.RecordsmithError, match=r"written by pandas(.|\n)*pandas.read_hdf\(.*'df'\)"):
        rs.make(tmp_path / "frame.h5", tmp_path / "out")
    with h5py.File(tmp_path / "ragged.h5", "w") as file:
        file.create_dataset("a", (2,), h5py.vlen_dtype(np.int64))
    with pytest.raises(rs.RecordsmithError, match="different lengths"):
        rs.make(tmp_path / "ragged.h5", tmp_path / "out")


def test_files_that_are_splits_with_the_split_in_the_names_of_arrays(tmp_path):
    for split, rows in {"train": 4, "test": 2}.items():
        with h5py.File(tmp_path / f"{split}_signs.h5", "w") as file:
            file[f"{split}_set_x"], file[f"{split}_set_y"] = np.full((rows, 2), rows), np.arange(rows)
    made = rs.make(tmp_path, tmp_path / "out", label="set_y")
    assert {name: split.rows for name, split in made.splits.items()} == {"train": 4, "test": 2}
    assert rs.open(tmp_path / "out", split="test")[0]["set_x"].tolist() == [2, 2]
    with h5py.File(tmp_path / "test_signs.h5", "a") as file:
        file["extra"] = file["test_set_y"][:]
        del file["test_set_y"]
    with pytest.raises(rs.RecordsmithError, match=r"The split '(train|test)' lacks arrays"):
        rs.sources.hdf5(tmp_path)


def test_a_shape_without_values_is_refused(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("x", (10**7, 10**5), chunks=(1, 10**5), dtype="f8", fillvalue=1.0)
    with pytest.raises(rs.RecordsmithError, match="no stored values, only a shape"):
        rs.sources.hdf5(tmp_path / "a.h5")
