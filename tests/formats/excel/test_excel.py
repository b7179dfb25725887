"""Excel sheets, as openpyxl and pandas write them."""

from __future__ import annotations

import datetime as dt
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest

import recordsmith as rs
from recordsmith.formats.excel import source as excel_source
from recordsmith.images import encode_image
from tests.formats.loaded_rows import plain, stored_rows

ROWS: list[dict[str, Any]] = [
    {
        "n": number,
        "x": number + 0.25,
        "gap": None if number % 5 == 2 else number,
        "words": f"né {number}",
        "ok": number % 2 == 0,
        "when": dt.datetime(  # noqa: DTZ001 - cells have no zone
            2020, 9, 13, 12, 26, number, 500_000
        ),
        "kind": "ab"[number % 2],
    }
    for number in range(20)
]
EXPECTED = [
    {**row, "when": f"2020-09-13T12:26:{row['n']:02}.5", "kind": "ab".index(row["kind"])} for row in ROWS
]  # fmt: skip


def book(path: Path, **sheets: Any) -> Path:
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    made.save(path)
    return path


def table(rows: list[dict[str, Any]]) -> list[list[Any]]:
    return [list(rows[0]), *(list(row.values()) for row in rows)]


@pytest.mark.source("Excel", keeps="numbers, text, dates and times, missing cells, sheets named like splits")
@pytest.mark.parametrize("writer", ["openpyxl", "pandas"])
def test_values_are_those_of_the_sheet(writer, tmp_path):
    path = tmp_path / "a.xlsx"
    if writer == "pandas":
        pd.DataFrame(ROWS).to_excel(path, index=False)
    else:
        book(path, Sheet=table(ROWS), Empty=[])
    rs.make(path, tmp_path / "made", label="kind", shuffle=False)
    opened = rs.open(tmp_path / "made")
    assert [{name: plain(value) for name, value in row.items()} for row in opened] == EXPECTED
    assert opened.schema["gap"].optional
    assert opened.schema["n"] == rs.Scalar("int64")


def test_sheets_named_like_splits_are_splits(tmp_path):
    path = book(tmp_path / "a.xlsx", train=table(ROWS[:12]), test=table(ROWS[12:]))
    made = rs.make(path, tmp_path / "made", label="kind")
    assert {name: split.rows for name, split in made.splits.items()} == {"train": 12, "test": 8}
    path = book(tmp_path / "b.xlsx", one=table(ROWS), two=table(ROWS[:3]))
    with pytest.raises(rs.RecordsmithError, match=r"several sheets(.|\n)*'one', 'two'"):
        rs.make(path, tmp_path / "out")
    assert rs.make(rs.sources.excel(path, sheet="two"), tmp_path / "two").splits["train"].rows == 3
    with pytest.raises(rs.RecordsmithError, match="Did you mean 'two'"):
        rs.sources.excel(path, sheet="tow")


def test_images_are_relative_to_the_workbook(tmp_path, monkeypatch):
    monkeypatch.chdir("/")
    (tmp_path / "a.png").write_bytes(encode_image(np.zeros((4, 4, 3), np.uint8), "png"))
    path = book(tmp_path / "a.xlsx", s=[["image"], ["a.png"], ["none.png"]])
    stored = stored_rows(rs.sources.excel(path, images="image"))
    assert stored.rows == [{"image": (tmp_path / "a.png").read_bytes()}]
    assert "cannot be read" in stored.rejects[0].reason


def test_cells_of_another_type_and_empty_rows(tmp_path):
    path = book(tmp_path / "a.xlsx", s=[["n", "m"], [1, 2], [None, None], ["#N/A", 3], [4, 5], [7], [None]])
    stored = stored_rows(rs.sources.excel(path))
    assert stored.rows == [{"n": 1, "m": 2}, {"n": 4, "m": 5}, {"n": 7, "m": None}]
    (reject,) = stored.rejects
    assert reject.source == f"{path}, sheet 's', empty rows not counted, row 3"
    assert (reject.feature, reject.value) == ("n", "#N/A")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["a", "a"], [1, 2]], "different name for each column(.|\n)*'a' twice"),
        ([["a", None, "column_2"], [1, 2, 3]], "different name for each column(.|\n)*'column_2' twice"),
        ([], "no cells"),
        ([["a"]], "There are no rows"),
        ([["My report"], [], ["id", "name"], [1, "x"]], "fewer names than another row has cells(.|\n)*'id', 'name'"),
    ],
)
def test_what_is_wrong_with_a_sheet_is_said(rows, message, tmp_path):
    with pytest.raises(rs.RecordsmithError, match=message):
        rs.sources.excel(book(tmp_path / "a.xlsx", s=rows)).schema()


def test_a_workbook_damaged_anywhere_is_an_error_that_names_it(tmp_path):
    path = book(tmp_path / "a.xlsx", s=table(ROWS))
    whole = path.read_bytes()
    for size in range(0, len(whole), len(whole) // 30):
        path.write_bytes(whole[:size])
        with pytest.raises(rs.RecordsmithError, match=r"a\.xlsx"):
            rs.sources.excel(path).schema()


def changed(path: Path, member: str, data: bytes) -> None:
    """Write the workbook again with another member."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {**members, member: data}.items():
            archive.writestr(name, content)


def test_a_bomb_is_not_unpacked(tmp_path, monkeypatch):
    path = book(tmp_path / "a.xlsx", s=table(ROWS))
    monkeypatch.setattr(excel_source, "MOST_STRINGS", 1 << 20)
    changed(path, "xl/sharedStrings.xml", b"<sst>" + b"<si><t>x</t></si>" * 200_000 + b"</sst>")
    assert path.stat().st_size < 60_000
    with pytest.raises(rs.RecordsmithError, match="too large"):
        rs.sources.excel(path)


@pytest.mark.parametrize("before", ["", f"<!-- {'x' * 10_000} -->", f"<!-- {'x' * 100_000} -->", "<?x ?><!-- > -->"])
def test_entities_of_xml_do_not_multiply(before, tmp_path):
    path = book(tmp_path / "a.xlsx", s=table(ROWS))
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    with zipfile.ZipFile(path) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml").decode()
    bomb = f'{before}<!DOCTYPE worksheet [<!ENTITY l0 "ha">{laughs}]>{sheet.replace("né 7", "&l11;")}'
    changed(path, "xl/worksheets/sheet1.xml", bomb.encode())
    with pytest.raises(rs.RecordsmithError, match="may have a DOCTYPE"):
        rs.sources.excel(path).schema()


def edited(path: Path, *changes: tuple[bytes, bytes]) -> Path:
    """Write a workbook again with other bytes in its first sheet."""
    with zipfile.ZipFile(path) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml")
    for before, after in changes:
        assert before in sheet
        sheet = sheet.replace(before, after)
    changed(path, "xl/worksheets/sheet1.xml", sheet)
    return path


def test_formulas_without_values_are_an_error(tmp_path):
    path = book(tmp_path / "a.xlsx", data=[["a", "b"], [1, "=A2*2"], [2, "=A3*2"]])
    with pytest.raises(rs.RecordsmithError, match=r"formulas without their values(.|\n)*2 formulas(.|\n)*B2: =A2\*2"):
        rs.sources.excel(path).schema()
    saved = (b"<f>A2*2</f><v />", b"<f>A2*2</f><v>2</v>")
    empty_text = (b'<c r="B3"><f>A3*2</f><v />', b'<c r="B3" t="str"><f>A3*2</f><v></v>')
    rows = stored_rows(rs.sources.excel(edited(path, saved, empty_text))).rows
    assert rows == [{"a": 1, "b": 2}, {"a": 2, "b": None}]


def test_rows_with_an_error_in_a_cell_are_rejected(tmp_path):
    path = book(tmp_path / "a.xlsx", data=[["a", "b"], ["#N/A", 1], ["#DIV/0!", 2], [3, 4]])
    stored = stored_rows(rs.sources.excel(path))
    assert stored.rows == [{"a": 3, "b": 4}]
    assert [(one.source[-5:], one.feature, one.reason) for one in stored.rejects] == [
        ("row 2", "a", "The cell has the error #N/A."),
        ("row 3", "a", "The cell has the error #DIV/0!."),
    ]


def test_all_cells_are_read_whatever_range_the_sheet_says_it_has(tmp_path):
    path = book(tmp_path / "a.xlsx", data=[["a", "b"], [1, 2], [3, 4]])
    source = rs.sources.excel(edited(path, (b'ref="A1:B3"', b'ref="A1"')))
    assert stored_rows(source).rows == [{"a": 1, "b": 2}, {"a": 3, "b": 4}]


def test_columns_without_a_name_are_called_after_their_number(tmp_path):
    pd.DataFrame({"x": [1.5, 2.5]}).to_excel(tmp_path / "a.xlsx")
    assert stored_rows(rs.sources.excel(tmp_path / "a.xlsx")).rows == [
        {"column_1": 0, "x": 1.5},
        {"column_1": 1, "x": 2.5},
    ]
