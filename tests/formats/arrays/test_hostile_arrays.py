"""Arrays in files that are cut, wrong, hostile, or change while they are read: an error that names the file."""

from __future__ import annotations

import io
import os
import zipfile
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.formats.arrays.npy_format import array_of_bytes
from recordsmith.formats.arrays.stored_arrays import StoredArray


def npy(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


def header(text: str) -> bytes:
    body = text.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(body).to_bytes(2, "little") + body


HOSTILE = {
    "cut values": npy(np.zeros((1000, 10)))[:5000],
    "cut header": npy(np.zeros(10))[:40],
    "no array": b"hello",
    "empty": b"",
    "more rows than values": header("{'descr': '<f8', 'fortran_order': False, 'shape': (99999,), }") + bytes(80),
    "absurd shape": header("{'descr': '<f8', 'fortran_order': False, 'shape': (10, 1000000000000000000), }"),
    "rows without values": header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000000, 0), }"),
    "letters without length": header("{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000000,), }"),
    "negative shape": header("{'descr': '<f8', 'fortran_order': False, 'shape': (-5, 2), }") + bytes(80),
    "nested header": header("(" * 100),
    "no dictionary": header("1"),
    "missing keys": header("{'descr': '<f8'}"),
    "objects": npy(np.array([{}], dtype=object)),
}


@pytest.mark.parametrize("kind", ["npy", "npz", "compressed npz", "tar"])
@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_array_is_an_error_that_names_the_file(case, kind, quick_path):
    path = quick_path / f"a.{kind[-3:]}"
    if kind == "tar":
        with pytest.raises(ValueError, match=r"array|header"):
            array_of_bytes(HOSTILE[case])
        return
    if kind == "npy":
        path.write_bytes(HOSTILE[case])
    else:
        method = zipfile.ZIP_STORED if kind == "npz" else zipfile.ZIP_DEFLATED
        with zipfile.ZipFile(path, "w", method) as archive:
            archive.writestr("a.npy", HOSTILE[case])
    with pytest.raises(rs.RecordsmithError) as caught:
        rs.make(path, quick_path / "out")
    assert caught.value.path == str(path)


@pytest.mark.parametrize("compressed", [False, True])
def test_an_archive_damaged_anywhere_is_an_error_that_names_the_file(compressed, quick_path):
    path = quick_path / "a.npz"
    (np.savez_compressed if compressed else np.savez)(path, a=np.arange(64), b=np.arange(64) % 3)
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):
        for damaged in (whole[:place], whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :]):
            path.write_bytes(damaged)
            try:
                for chunk in rs.sources.arrays(path).chunks():
                    chunk.load()
            except rs.RecordsmithError as error:
                assert error.path == str(path) or "length" in error.problem, error  # noqa: PT017


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_file_that_shrinks_while_it_is_read_is_an_error(order, quick_path):
    path = quick_path / "a.npy"
    np.save(path, np.asarray(np.arange(40_000.0).reshape(10_000, 4), order=order))
    source = rs.sources.arrays(path)
    (chunk,) = source.chunks()
    assert chunk.load().columns["a"].tolist() == np.arange(40_000.0).reshape(10_000, 4).tolist()
    times = os.stat(path)
    with open(path, "r+b") as file:
        file.truncate(1000)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(rs.RecordsmithError, match=r"changed|cut short") as caught:
        chunk.load()
    assert caught.value.path == str(path)


def test_rows_of_a_fortran_array_of_any_rank_are_read_in_parts(quick_path):
    array = np.asfortranarray(np.arange(5 * 2 * 3).reshape(5, 2, 3))
    np.save(quick_path / "a.npy", array)
    source = rs.sources.arrays(quick_path / "a.npy")
    column = source._tables[None]["a"]
    assert isinstance(column, StoredArray)
    assert [column.rows(n, n + 2).tolist() for n in range(4)] == [array[n : n + 2].tolist() for n in range(4)]
