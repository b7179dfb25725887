"""Exceptions in worker processes that cannot be sent home: what they say arrives, with file and record."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

import recordsmith as rs


class LockedError(Exception):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.lock = threading.Lock()


def refuse_seven(row: dict[str, Any]) -> dict[str, Any]:
    if int(row["x"]) == 7:
        raise LockedError("seven is not welcome")
    return row


def test_in_map(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    with rs.RecordWriter(path) as writer:
        for number in range(20):
            writer.write_example({"x": number})
    with pytest.raises(rs.RecordsmithError, match="raised LockedError: seven is not welcome") as caught:
        list(rs.open(path).map(refuse_seven, processes=True).batch(4))
    assert (caught.value.path, caught.value.record) == (str(path), 7)
    assert "refuse_seven" in str(caught.value.__cause__)


def test_in_make(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("x\n" + "\n".join(map(str, range(20))) + "\n")
    with pytest.raises(rs.RecordsmithError, match="raised LockedError: seven is not welcome") as caught:
        rs.make(table, tmp_path / "out", map=refuse_seven, workers=2, on_error="stop")
    assert any("table.csv, line 9" in note for note in caught.value.__notes__)
