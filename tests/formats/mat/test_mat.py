"""MATLAB's files: version 5 as scipy writes it, version 7.3 as HDF5 with the dimensions the other way round."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import scipy.io

import recordsmith as rs
from recordsmith.formats.mat import source as mat_source
from tests.formats.loaded_rows import plain

RNG = np.random.default_rng(0)
X = RNG.integers(0, 256, (20, 6, 5, 3), np.uint8)
Z = RNG.normal(size=(20, 2)).astype(np.float32)
Y = (np.arange(20) % 3).astype(np.uint8)


def written(path: Path, version: str, variables: dict[str, Any]) -> Path:
    if version == "5":
        scipy.io.savemat(path, variables, do_compression=True)
        return path
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, values in variables.items():
            dataset = file.create_dataset(name, data=np.asarray(values).T)
            dataset.attrs["MATLAB_class"] = np.bytes_(str(np.asarray(values).dtype))
        file.create_group("#refs#")
    with open(path, "r+b") as raw:
        raw.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM")
    return path


@pytest.mark.source(
    "MATLAB .mat (5 and 7.3)", keeps="dtypes, shapes, vectors as one value per row, texts of cell arrays"
)
@pytest.mark.parametrize("version", ["5", "7.3"])
@pytest.mark.parametrize("rows", ["first", "last"])
@pytest.mark.parametrize("vector", ["column", "row"])
def test_values_are_those_of_matlab(version, rows, vector, tmp_path):
    variables = {"X": X, "z": Z, "y": Y[:, None] if vector == "column" else Y[None]}
    if rows == "last":
        variables |= {"X": np.moveaxis(X, 0, -1), "z": np.moveaxis(Z, 0, -1)}
    path = written(tmp_path / "a.mat", version, variables)
    made = rs.make(path, tmp_path / "made", label="y", shuffle=False)
    assert bool([word for word in made.warnings if "last dimension" in word]) is (rows == "last")
    opened = rs.open(tmp_path / "made")
    assert opened.schema == rs.Schema(
        {"X": rs.Tensor("uint8", (6, 5, 3)), "z": rs.Tensor("float32", (2,)), "y": rs.Label(3)}
    )
    assert [[plain(row[name]) for name in ("X", "z", "y")] for row in opened] == [
        [plain(X[row]), plain(Z[row]), int(Y[row])] for row in range(20)
    ]


def test_cells_of_text_are_read_and_other_things_left_out(tmp_path):
    names = np.array(["ann", "né"], object)
    scipy.io.savemat(tmp_path / "a.mat", {"name": names, "n": [1, 2], "info": {"a": 1}})
    source = rs.sources.mat(tmp_path / "a.mat")
    assert source.schema() == rs.Schema({"name": rs.Text(), "n": rs.Scalar("int64")})
    assert source.warnings == ("'info' left out: only arrays of numbers and text are read.",)


@pytest.mark.parametrize("version", ["5", "7.3"])
def test_a_file_cut_short_is_an_error_that_names_it(version, tmp_path):
    path = written(tmp_path / "a.mat", version, {"X": X, "y": Y[:, None]})
    whole = path.read_bytes()
    for size in range(0, len(whole) - 64, len(whole) // 40):
        path.write_bytes(whole[:size])
        with pytest.raises(rs.RecordsmithError, match=r"a\.mat"):
            [chunk.load() for chunk in rs.sources.mat(path).chunks()]


def test_the_size_of_what_is_read_whole_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(mat_source, "MOST_BYTES", 1 << 20)
    scipy.io.savemat(tmp_path / "bomb.mat", {"x": np.zeros((1000, 1000))}, do_compression=True)
    assert (tmp_path / "bomb.mat").stat().st_size < 100_000
    with pytest.raises(rs.RecordsmithError, match="are read whole"):
        rs.make(tmp_path / "bomb.mat", tmp_path / "out")


def test_files_that_are_splits_and_a_struct(tmp_path):
    for split, rows in {"train": 4, "test": 2}.items():
        pixels = np.arange(3 * 5 * rows, dtype=np.uint8).reshape(3, 5, rows)
        scipy.io.savemat(tmp_path / f"{split}_32x32.mat", {"X": pixels, "y": np.arange(rows)[:, None]})
    made = rs.make(tmp_path, tmp_path / "out", label="y")
    assert {name: split.rows for name, split in made.splits.items()} == {"train": 4, "test": 2}
    assert rs.open(tmp_path / "out", split="test")[1]["X"].tolist() == pixels[:, :, 1].tolist()
    path = tmp_path / "struct.mat"
    scipy.io.savemat(path, {"s": {"X": np.zeros((3, 2)), "y": np.arange(3)}})
    with pytest.raises(rs.RecordsmithError) as caught:
        rs.sources.mat(path)
    lines = str(caught.value).partition("pass the arrays:")[2].replace('"data"', repr(str(tmp_path / "made")))
    exec(inspect.cleandoc(lines), {"rs": rs})
    assert len(rs.open(tmp_path / "made")) == 3
