"""Folders of what only fsspec knows, with its storage in memory."""

from __future__ import annotations

from pathlib import Path

import pytest

import recordsmith as rs
from recordsmith.storage.objects import open_folder

fsspec = pytest.importorskip("fsspec")


def test_objects_are_written_listed_read_and_deleted(tmp_path: Path) -> None:
    fsspec.filesystem("memory").rm("/", recursive=True)
    folder = open_folder("memory://bucket/data")
    folder.put("a", b"some bytes")
    (tmp_path / "file").write_bytes(b"of a file")
    sent: list[int] = []
    folder.upload("deep/b", str(tmp_path / "file"), advance=sent.append)
    assert sum(sent) == 9
    assert {facts.key: facts.size for facts in folder.walk()} == {"a": 10, "deep/b": 9}
    files, folders = folder.contents()
    assert ([facts.key for facts in files], folders) == (["a"], ["deep"])
    facts = folder.head("a")
    assert bytes(folder.get_range("a", 5, 8, etag=facts.etag)) == b"byt"
    assert folder.read("a", longest=10)[0] == b"some bytes"
    folder.put("a", b"some other bytes")
    with pytest.raises(rs.RecordsmithError, match="changed"):
        folder.get_range("a", 5, 8, etag=facts.etag)
    folder.delete(["a", "deep/b", "missing"])
    assert list(folder.walk()) == []
    with pytest.raises(FileNotFoundError, match="memory://bucket/data/a"):
        folder.head("a")


def test_there_are_no_conditional_writes() -> None:
    with pytest.raises(rs.RecordsmithError, match="no conditional writes"):
        open_folder("memory://bucket").put("a", b"", create=True)


def test_an_unknown_scheme_is_said() -> None:
    with pytest.raises(rs.RecordsmithError, match="cannot be used"):
        open_folder("nosuch://bucket").head("a")
