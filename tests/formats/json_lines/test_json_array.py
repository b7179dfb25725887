"""A JSON file that is one array of objects, read window after window."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pyarrow as pa
import pytest

import recordsmith as rs
from recordsmith.formats.tables import lines
from tests.formats.loaded_rows import stored_rows

ROWS: list[dict[str, Any]] = [
    {"n": number, "text": f'né "{number}" \\ [}}] \n', "inner": {"x": number / 4}, "list": [number] * (number % 3)}
    for number in range(200)
]
STORED = [{"n": row["n"], "text": row["text"], "inner/x": row["inner"]["x"], "list": row["list"]} for row in ROWS]


@pytest.mark.source("json (an array of objects)", keeps="numbers, text, lists, nested keys, missing keys")
@pytest.mark.parametrize("window", [40, 1 << 20])
@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("packed", ["", "gz", "zst"])
def test_an_array_is_what_its_lines_would_be(window, indent, packed, tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "WINDOW", window)
    data = b"\xef\xbb\xbf \n" + json.dumps(ROWS, indent=indent, ensure_ascii=indent is None).encode() + b"\n"
    path = tmp_path / f"rows.json{'.' * bool(packed)}{packed}"
    if packed == "zst":
        with pa.CompressedOutputStream(str(path), "zstd") as file:
            file.write(data)
    else:
        path.write_bytes(gzip.compress(data) if packed else data)
    stored = stored_rows(rs.sources.jsonl(path))
    assert stored.rows == STORED
    assert (stored.places[0], stored.places[199]) == (f"{path}, entry 1", f"{path}, entry 200")
    rs.make(path, tmp_path / "made")
    assert len(rs.open(tmp_path / "made")) == 200


def test_entries_that_are_no_rows_are_rejects(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('[{"a": 1}, 3, {"a": "x"}, [{"a": 2}], {"b": 1, "a": 2}, 12345678901234567890123]')
    stored = stored_rows(rs.sources.jsonl(path))
    assert stored.rows == [{"a": 1, "b": None}, {"a": 2, "b": 1}]
    assert [(reject.source.partition(", ")[2], reject.reason) for reject in stored.rejects] == [
        ("entry 2", "The entry is not a JSON object."),
        ("entry 3", "The value is not a 64-bit integer, as in other rows."),
        ("entry 4", "The entry is not a JSON object."),
        ("entry 6", "The entry is not a JSON object."),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "There are no rows"),
        ("[1, 2]", "No row can be used: The entry is not a JSON object"),
        ('[{"a": 1}, {"a": 2}', r"The array is not complete(.|\n)*entry 2"),
        ('[{"a": 1}, {"a": ', r"An entry is not JSON(.|\n)*entry 2"),
        ('[{"a": 1} {"a": 2}]', "no comma between two entries"),
        ('[{"a": 1}, nothing]', r"An entry is not JSON(.|\n)*entry 2"),
        ('[{"a": 1}] [2]', "something after the end"),
        ('[{"a": 1},]', r"An entry is not JSON(.|\n)*entry 2"),
        ("[" * 100_000, "nested too deep|not JSON"),
        ('["' + "x" * 100, "An entry is not JSON"),
        ('[{"a": "\udcff"}]', "not UTF-8"),
    ],
)
def test_what_is_wrong_with_an_array_is_said(text, message, tmp_path):
    (tmp_path / "a.json").write_text(text, errors="surrogateescape")
    with pytest.raises(rs.RecordsmithError, match=message):
        rs.sources.jsonl(tmp_path / "a.json").schema()


def test_an_entry_that_never_ends_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "WINDOW", 100)
    monkeypatch.setattr(lines, "LONGEST_ROW", 1000)
    (tmp_path / "a.json").write_text('[{"a": "' + "x" * 100_000 + '"}]')
    with pytest.raises(rs.RecordsmithError, match="An entry is not JSON"):
        rs.sources.jsonl(tmp_path / "a.json").schema()
