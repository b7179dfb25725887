"""JSON lines: nested objects, lists, and lines that are no JSON."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.formats.tables import lines as table_lines
from tests.formats.loaded_rows import stored_rows


def written(folder: Path, rows: list[Any], name: str = "data.jsonl") -> Path:
    path = folder / name
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_lines, "WINDOW", 256)
    monkeypatch.setattr(table_lines, "LINES_AT_ONCE", 3)


@pytest.mark.source("jsonl", keeps="numbers, text, lists, nested keys, missing keys")
def test_types_names_and_shapes(tmp_path):
    rows = [
        {"n": 1, "x": 2, "ok": True, "when": "2024-01-05T00:00:00", "who": {"name": "né", "age": 3}, "v": [1, 2]},
        {"n": 2, "x": 0.5, "ok": False, "when": "2024-01-06T00:00:00", "who": {"name": "", "age": 4}, "v": [3, 4]},
    ]
    source = rs.sources.jsonl(written(tmp_path, rows))
    assert source.schema() == rs.Schema(
        {
            "n": rs.Scalar("int64"),
            "x": rs.Scalar("float32"),
            "ok": rs.Scalar("bool", storage="list"),
            "when": rs.Text(),
            "who/name": rs.Text(),
            "who/age": rs.Scalar("int64"),
            "v": rs.Tensor("int64", (2,)),
        }
    )
    stored = stored_rows(source)
    assert stored.rows[0] == {
        "n": 1,
        "x": 2.0,
        "ok": True,
        "when": "2024-01-05T00:00:00",
        "who/name": "né",
        "who/age": 3,
        "v": [1, 2],
    }
    assert source.row_count == 2


def test_lists_of_every_kind(tmp_path):
    rows = [
        {"tokens": [1, 2, 3], "words": ["a", "b"], "boxes": [[0, 1.5], [2, 3]], "objects": [{"x": 1, "y": "a"}]},
        {"tokens": [], "words": ["c"], "boxes": [[4, 5]], "objects": []},
    ]
    source = rs.sources.jsonl(written(tmp_path, rows))
    assert source.schema() == rs.Schema(
        {
            "tokens": rs.Tensor("int64", (None,)),
            "words": rs.Text((None,)),
            "boxes": rs.Tensor("float32", (None, 2)),
            "objects/x": rs.Tensor("int64", (None,)),
            "objects/y": rs.Text((None,)),
        }
    )
    stored = stored_rows(source)
    assert stored.column("tokens") == [[1, 2, 3], []]
    assert stored.column("words") == [["a", "b"], ["c"]]
    assert stored.column("boxes") == [[[0.0, 1.5], [2.0, 3.0]], [[4.0, 5.0]]]
    assert stored.column("objects/y") == [["a"], []]


@pytest.mark.usefixtures("_small_pieces")
def test_a_late_line_counts(tmp_path):
    rows: list[Any] = [{"n": 1, "s": "a", "v": [1]} for _ in range(200)]
    rows += [{"n": 1.5, "s": "b", "v": [1, 2], "new": {"key": 7}}, {"s": "c", "v": None}]
    source = rs.sources.jsonl(written(tmp_path, rows))
    assert source.schema() == rs.Schema(
        {
            "n": rs.Scalar("float32", optional=True),
            "s": rs.Text(),
            "v": rs.Tensor("int64", (None,), optional=True),
            "new/key": rs.Scalar("int64", optional=True),
        }
    )
    stored = stored_rows(source)
    assert stored.chunks > 50
    assert stored.rows[0] == {"n": 1.0, "s": "a", "v": [1], "new/key": None}
    assert stored.rows[-2] == {"n": 1.5, "s": "b", "v": [1, 2], "new/key": 7}
    assert stored.rows[-1] == {"n": None, "s": "c", "v": None, "new/key": None}


@pytest.mark.usefixtures("_small_pieces")
def test_bad_lines_are_rejects_with_their_line(tmp_path):
    lines: list[Any] = [{"n": n, "deep": {"s": "x" * (n % 5)}} for n in range(40)]
    lines[5] = '{"n": 5, "deep": '
    lines[9] = "[9]"
    lines[20] = {"n": "twenty", "deep": {"s": "x"}}
    lines[21] = {"n": 21, "deep": {"s": 3}}
    lines[30] = ""
    path = written(tmp_path, lines)
    stored = stored_rows(rs.sources.jsonl(path))
    kept = [n for n in range(40) if n not in (5, 9, 20, 21, 30)]
    assert stored.column("n") == kept
    assert stored.places == [f"{path}, line {n + 1}" for n in kept]
    assert [(reject.source, reject.feature, reject.value) for reject in stored.rejects] == [
        (f"{path}, line 6", None, '{"n": 5, "deep": '),
        (f"{path}, line 10", None, "[9]"),
        (f"{path}, line 21", "n", '"twenty"'),
        (f"{path}, line 22", "deep/s", "3"),
    ]


def test_text_that_is_no_utf8_is_refused(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_bytes(b'{"s": "a"}\n{"s": "\xff"}\n{"s": "b"}\n')
    stored = stored_rows(rs.sources.jsonl(path))
    assert stored.column("s") == ["a", "b"]
    assert stored.rejects[0].source == f"{path}, line 2"


def test_a_label_must_be_one_value(tmp_path):
    with pytest.raises(rs.SchemaError, match="one value per row") as caught:
        rs.sources.jsonl(written(tmp_path, [{"y": [1, 2]}]), label="y").schema()
    assert caught.value.feature == "y"


@pytest.mark.usefixtures("_small_pieces")
def test_kinds_that_differ_from_piece_to_piece_are_rejects(tmp_path):
    rows: list[Any] = [{"a": 1, "b": "x"}] * 30 + [{"a": [1, 2], "b": "x"}] * 5 + [{"a": {"k": 1}, "b": ["y"]}] * 5
    rows += [{"a": 2, "b": "z", "odd": "\ud800"}]
    stored = stored_rows(rs.sources.jsonl(written(tmp_path, rows)))
    assert stored.column("a") == [1] * 30
    assert len(stored.rejects) == 11
    assert {reject.feature for reject in stored.rejects} == {"a", "odd"}


def test_keys_given_twice_and_nan_are_as_python_reads_them(tmp_path):
    path = written(tmp_path, ['{"a": 1, "a": 2, "x": NaN}', '{"a": 3, "x": 1.5}'])
    stored = stored_rows(rs.sources.jsonl(path))
    assert stored.column("a") == [2, 3]
    assert stored.column("x")[1] == 1.5
    assert stored.column("x")[0] != stored.column("x")[0]


def test_labels_and_numbers_as_text(tmp_path):
    path = written(tmp_path, [{"y": "b", "id": 7, "meta": {"k": 1}}, {"y": "a", "id": 8, "meta": {"k": 2}}])
    source = rs.sources.jsonl(path, label="y", text="id", columns=["meta/k"])
    assert source.schema() == rs.Schema({"y": rs.Label(["a", "b"]), "id": rs.Text(), "meta/k": rs.Scalar("int64")})
    assert stored_rows(source).rows == [{"y": 1, "id": "7", "meta/k": 1}, {"y": 0, "id": "8", "meta/k": 2}]


def test_a_schema_of_ones_own(tmp_path):
    path = written(tmp_path, [{"v": [1, 2], "b": "x", "other": 1}])
    schema = rs.Schema({"v": rs.Tensor("uint8", (2,)), "missing": rs.Text(optional=True)})
    stored = stored_rows(rs.sources.jsonl(path, schema=schema))
    assert stored.rows == [{"v": [1, 2], "missing": None}]


def test_compressed_lines(tmp_path):
    path = tmp_path / "data.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"n": 1}\n{"n": 2}\n'))
    source = rs.sources.jsonl(path)
    assert source.sequential
    assert stored_rows(source).column("n") == [1, 2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"data": [{"a": 1}, {"a": 2}]}', r"'data' is a list of objects(.|\n)*\['data'\]"),
        ('{\n  "a": 1\n}\n', "one JSON object, and not a list of rows"),
        ('{"a": {"0": 1, "1": 2}}', r"an object for each column(.|\n)*pandas.read_json\('.*'\)"),
        ('{"columns": ["a"], "data": [[1], [2]]}', 'orient="split"'),
        ('{"r1": {"a": 1, "b": 2}, "r2": {"a": 1, "b": 2}, "r3": {"a": 1, "b": 2}}', 'orient="index"'),
        ("", "no rows"),
        ('{"a": 123456789012345678901234}\n', "not a 64-bit integer"),
        ('{"a/b": 1, "a": {"b": 2}}\n' * 2, "Two columns are named 'a/b'"),
    ],
)
def test_what_is_no_json_lines_says_so(text, message, tmp_path):
    path = tmp_path / "data.json"
    path.write_text(text)
    with pytest.raises(rs.RecordsmithError, match=message):
        rs.sources.jsonl(path).schema()


def test_several_files_of_one_object_each_are_rows(tmp_path):
    for number in range(3):
        (tmp_path / f"{number}.json").write_text(json.dumps({"id": number, "of": {"tags": ["a\n", "b"]}}, indent=2))
    rows = stored_rows(rs.sources.jsonl(tmp_path)).rows
    assert [(row["id"], list(row["of/tags"])) for row in rows] == [(number, ["a\n", "b"]) for number in range(3)]
    (tmp_path / "0.json").rename(tmp_path / "train.json")
    (tmp_path / "1.json").rename(tmp_path / "test.json")
    (tmp_path / "2.json").unlink()
    with pytest.raises(rs.RecordsmithError, match="one JSON object"):
        rs.sources.jsonl(tmp_path).schema()


def test_the_description_follows_file_and_options(tmp_path):
    path = written(tmp_path, [{"a": 1, "b": 2}])
    plain = rs.sources.jsonl(path).describe()
    assert json.loads(json.dumps(plain)) == plain == rs.sources.jsonl(path).describe()
    assert plain != rs.sources.jsonl(path, columns="a").describe()


@pytest.mark.parametrize("depth", [2_000, 20_000])
@pytest.mark.parametrize("form", ["lists", "objects", "lines"])
def test_what_is_nested_too_deep_is_a_reject(depth, form, tmp_path):
    inside = "[" * depth + "]" * depth if form != "objects" else '{"a":' * depth + "1" + "}" * depth
    deep = f'{{"a":{inside}}}'
    if form == "lines":
        deep = deep.replace("[", "[\n")
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n' * 10 + deep + "\n")
    stored = stored_rows(rs.sources.jsonl(tmp_path / "a.jsonl"))
    assert stored.column("a") == [1] * 10
    assert stored.rejects[0].source.endswith("line 11")
    assert form == "lines" or "nested more than 64 levels deep" in stored.rejects[0].reason


def test_lists_nested_as_deep_as_is_read(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"a":' + "[" * 31 + "7" + "]" * 31 + "}\n")
    (row,) = stored_rows(rs.sources.jsonl(tmp_path / "a.jsonl")).rows
    assert np.shape(row["a"]) == (1,) * 31


def test_when_no_line_can_be_used_the_first_says_why(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"a":' + "[" * 5000 + "]" * 5000 + "}\n")
    with pytest.raises(rs.RecordsmithError, match=r"No row can be used: The line cannot be read: lists and objects"):
        rs.make(tmp_path / "a.jsonl", tmp_path / "out")


def test_reasons_are_about_the_value(tmp_path):
    lines = ['{"a": "x"}', '{"a": "\\ud83d"}', '{"a": "y"}', '{"a": "z"},', '{"a": 7}']
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    stored = stored_rows(rs.sources.jsonl(tmp_path / "a.jsonl"))
    assert [row["a"] for row in stored.rows] == ["x", "y"]
    assert sorted(one.reason for one in stored.rejects) == [
        "The line is not JSON: Extra data at character 11.",
        "The text has half of a surrogate pair, so it is not Unicode.",
        "The value is not a string, as in other rows.",
    ]
