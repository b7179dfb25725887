"""FILE:NAME: which object it is, and what is said where there is none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import recordsmith as rs
from recordsmith.doctor.diagnose.named_objects import NamedObject

PROGRAM = """
import json
from collections import OrderedDict

imported_as = __name__
dataset = [1, 2]

def make(size=3):
    return list(range(size))

def batches():
    yield from dataset

class Batches:
    def __iter__(self):
        return iter([7])

def needs_path(path, *, size, shuffle=True):
    return []
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    return path


def test_objects_and_what_functions_and_classes_return(program: Path):
    loaded = {name: NamedObject(str(program), name).load_result() for name in ("dataset", "make", "batches", "Batches")}
    assert loaded["dataset"] == [1, 2]
    assert loaded["make"] == [0, 1, 2]
    assert list(loaded["Batches"]) == [7]
    assert [list(loaded["batches"]), list(loaded["batches"])] == [[1, 2], [1, 2]]  # two epochs of a generator function
    assert NamedObject(str(program), "imported_as").load() == "train"
    assert callable(NamedObject(str(program), "make").load())


def test_a_file_that_is_called_as_a_library_replaces_none(program: Path):
    other = program.with_name("json.py")
    other.write_text("dataset = [3]")
    assert NamedObject(str(other), "dataset").load() == [3]
    assert sys.modules["json"].__file__ != str(other)


def test_names_that_the_file_does_not_have(program: Path):
    with pytest.raises(rs.RecordsmithError, match="Did you mean 'dataset'") as caught:
        NamedObject(str(program), "datset").load()
    assert caught.value.expected == "'imported_as', 'dataset', 'make', 'batches', 'Batches', 'needs_path'"


def test_functions_that_need_arguments(program: Path):
    with pytest.raises(rs.RecordsmithError, match="'needs_path' cannot be called without arguments") as caught:
        NamedObject(str(program), "needs_path").load_result()
    assert caught.value.found == "needs_path(path, size)"


@pytest.mark.parametrize("text", ["train.py", "train.py:", ":dataset", "train.py:a b", ""])
def test_what_names_nothing_is_refused(text: str):
    with pytest.raises(rs.RecordsmithError, match="The argument must name an object in a file"):
        NamedObject.parse(text)


def test_files_that_cannot_be_imported(tmp_path: Path):
    (tmp_path / "book.ipynb").write_text("{}")
    with pytest.raises(rs.RecordsmithError, match="in the notebook itself"):
        NamedObject.parse(f"{tmp_path}/book.ipynb:dataset")
    with pytest.raises(FileNotFoundError):
        NamedObject.parse(f"{tmp_path}/absent.py:dataset")
