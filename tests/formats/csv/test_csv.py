"""CSV files: types inferred from all cells, rows that span lines, bad lines by number."""

from __future__ import annotations

import csv
import gzip
import io
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recordsmith as rs
from recordsmith.formats.csv import parsing as csv_parsing
from recordsmith.formats.files.source_files import SourceFile
from recordsmith.formats.tables import kept_tables
from recordsmith.formats.tables import lines as table_lines
from recordsmith.formats.tables.lines import LineRules, pieces_of, row_ends
from recordsmith.images import encode_image
from tests.formats.loaded_rows import stored_rows


def written(folder: Path, text: str | bytes, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.fixture
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_lines, "WINDOW", 64)
    monkeypatch.setattr(table_lines, "LINES_AT_ONCE", 3)


@pytest.mark.source("csv", keeps="numbers, text, leading zeros, missing cells")
def test_types_are_told_from_the_cells(tmp_path):
    path = written(tmp_path, "n,x,ok,day,word\n1,0.5,true,2024-01-05,a\n-2,3,False,2024-01-06,b\n")
    source = rs.sources.csv(path)
    assert source.schema() == rs.Schema(
        {
            "n": rs.Scalar("int64"),
            "x": rs.Scalar("float32"),
            "ok": rs.Scalar("bool", storage="list"),
            "day": rs.Text(),
            "word": rs.Text(),
        }
    )
    assert stored_rows(source).rows == [
        {"n": 1, "x": 0.5, "ok": True, "day": "2024-01-05", "word": "a"},
        {"n": -2, "x": 3.0, "ok": False, "day": "2024-01-06", "word": "b"},
    ]
    assert source.row_count == 2


@pytest.mark.usefixtures("_small_pieces")
@pytest.mark.parametrize(
    ("late", "feature"),
    [
        ("1.5", rs.Scalar("float32")),
        ("", rs.Scalar("int64", optional=True)),
        ("NA", rs.Scalar("int64", optional=True)),
        ("007", rs.Text()),
        ("0x10", rs.Text()),
        ("92233720368547758070", rs.Text()),
        ("20000000.5", rs.Scalar("float64")),
    ],
)
def test_a_single_late_cell_counts(late, feature, tmp_path):
    path = written(tmp_path, "n,m\n" + "1,1\n" * 500 + f"{late},1\n")
    source = rs.sources.csv(path)
    assert source.schema()["n"] == feature
    stored = stored_rows(source)
    assert stored.chunks > 100
    assert not stored.rejects
    expected: Any = {"text": late}.get(feature.type_name)
    if feature == rs.Scalar("float32") or feature == rs.Scalar("float64"):
        expected = float(late)
    assert stored.column("n")[-1] == expected
    assert stored.places[-1] == f"{path}, line 502"


@pytest.mark.usefixtures("_small_pieces")
@pytest.mark.parametrize("numbers", [["1", "-2"], ["1.5", "2"], ["1", ""]])
@pytest.mark.parametrize("mistake", ["word", "true", "1-2", "2024-01-05", "?"])
def test_a_rare_mistake_in_a_column_of_numbers_is_a_reject(numbers, mistake, tmp_path):
    cells = numbers * 100
    cells[77] = mistake
    path = written(tmp_path, "n,m\n" + "".join(f"{cell},1\n" for cell in cells))
    source = rs.sources.csv(path)
    assert source.schema()["n"].type_name == "scalar"
    stored = stored_rows(source)
    assert len(stored.rows) == 199
    (reject,) = stored.rejects
    assert (reject.source, reject.feature, reject.value) == (f"{path}, line 79", "n", mistake)


@pytest.mark.parametrize(
    ("numbers", "words", "kind"), [(300, 3, "scalar"), (299, 3, "text"), (10, 1, "scalar"), (9, 1, "text")]
)
def test_what_counts_as_rare(numbers, words, kind, tmp_path):
    path = written(tmp_path, "n,m\n" + "".join(f"{cell},1\n" for cell in ["7"] * numbers + ["12a"] * words))
    assert rs.sources.csv(path).schema()["n"].type_name == kind


def test_numbers_that_must_stay_text_do_so_beside_words(tmp_path):
    path = written(tmp_path, "n,m\n" + "10001,1\n" * 200 + "02134,1\nword,1\n")
    assert rs.sources.csv(path).schema()["n"] == rs.Text()


def test_text_keeps_what_is_missing_elsewhere(tmp_path):
    path = written(tmp_path, "word,n\nNA,1\n,\nnull,3\n")
    stored = stored_rows(rs.sources.csv(path))
    assert stored.column("word") == ["NA", "", "null"]
    assert stored.column("n") == [1, None, 3]


def test_a_column_without_any_value_is_empty_text(tmp_path):
    stored = stored_rows(rs.sources.csv(written(tmp_path, "a,b\n1,\n2,\n")))
    assert stored.column("b") == ["", ""]


def test_leading_zeros_of_a_quoted_or_first_cell_are_kept(tmp_path):
    path = written(tmp_path, 'zip,n,q\n02134,10,"00"\n10001,0,"7"\n')
    stored = stored_rows(rs.sources.csv(path))
    assert stored.column("zip") == ["02134", "10001"]
    assert stored.column("q") == ["00", "7"]
    assert stored.column("n") == [10, 0]


def test_labels_by_name_are_sorted_and_numbered(tmp_path):
    path = written(tmp_path, "x,kind\n1,dog\n2,cat\n3,dog\n4,\n")
    source = rs.sources.csv(path, label="kind")
    assert source.schema()["kind"] == rs.Label(["cat", "dog"], optional=True)
    assert source.label == "kind"
    assert stored_rows(source).column("kind") == [1, 0, 1, None]


@pytest.mark.parametrize(
    ("cells", "feature", "stored"),
    [
        (["3", "0", "1"], rs.Label(4), [3, 0, 1]),
        (["-1", "1", "-1"], rs.Label(["-1", "1"]), [0, 1, 0]),
        (["0.5", "1", "2"], rs.Scalar("float32"), [0.5, 1.0, 2.0]),
        (["true", "false", "true"], rs.Label(["false", "true"]), [1, 0, 1]),
    ],
)
def test_labels_by_number(cells, feature, stored, tmp_path):
    source = rs.sources.csv(written(tmp_path, "y,x\n" + "".join(f"{cell},1\n" for cell in cells)), label="y")
    assert source.schema()["y"] == feature
    assert stored_rows(source).column("y") == stored


def test_a_label_that_was_not_declared_is_refused_by_line(tmp_path):
    path = written(tmp_path, "x,kind\n1,dog\n2,cow\n3,cat\n")
    source = rs.sources.csv(path, types={"kind": rs.Label(["cat", "dog"]), "x": "int64"})
    assert source.label == "kind"
    stored = stored_rows(source)
    assert stored.rows == [{"x": 1, "kind": 1}, {"x": 3, "kind": 0}]
    assert stored.places == [f"{path}, line 2", f"{path}, line 4"]
    (reject,) = stored.rejects
    assert (reject.source, reject.feature, reject.value) == (f"{path}, line 3", "kind", "cow")


def test_classes_may_be_given_by_number(tmp_path):
    path = written(tmp_path, "kind,other\n1,b\n0,a\nyes,b\n2,a\n")
    source = rs.sources.csv(path, types={"kind": rs.Label(["no", "yes"]), "other": "label"})
    stored = stored_rows(source)
    assert stored.rows == [{"kind": 1, "other": 1}, {"kind": 0, "other": 0}, {"kind": 1, "other": 1}]
    assert stored.rejects[0].value == "2"


@pytest.mark.usefixtures("_small_pieces")
def test_bad_lines_are_rejects_with_their_line(tmp_path):
    lines = [f"{n},row {n}" for n in range(40)]
    lines[7] = "7"
    lines[21] = "21,too,many"
    lines[22] = ""
    path = written(tmp_path, "n,text\n" + "\n".join(lines) + "\n")
    stored = stored_rows(rs.sources.csv(path))
    assert [(reject.source, reject.value) for reject in stored.rejects] == [
        (f"{path}, line 9", "7"),
        (f"{path}, line 23", "21,too,many"),
    ]
    assert stored.rejects[0].reason == "The line has 1 cell, but there are 2 columns."
    assert stored.column("n") == [n for n in range(40) if n not in (7, 21, 22)]
    assert stored.places == [f"{path}, line {n + 2}" for n in range(40) if n not in (7, 21, 22)]


def test_cells_that_do_not_fit_a_declared_type_are_rejects(tmp_path):
    path = written(tmp_path, b"n,x,word\n1,0.5,a\nx,1,b\n3,y,c\n 4 ,2,d\n,1,e\n" + b"5,1,\xff\n")
    schema = rs.Schema({"n": rs.Scalar("int64", optional=True), "x": rs.Scalar("float32"), "word": rs.Text()})
    source = rs.sources.csv(path, schema=schema)
    stored = stored_rows(source)
    assert stored.rows == [
        {"n": 1, "x": 0.5, "word": "a"},
        {"n": 4, "x": 2.0, "word": "d"},
        {"n": None, "x": 1.0, "word": "e"},
    ]
    assert [(reject.source, reject.feature, reject.value) for reject in stored.rejects] == [
        (f"{path}, line 3", "n", "x"),
        (f"{path}, line 4", "x", "y"),
        (f"{path}, line 7", "word", "\\xff"),
    ]


def test_fractions_in_a_column_of_whole_numbers_are_left_to_the_schema(tmp_path):
    path = written(tmp_path, "n,m\n1,1\n50.0,1\nx,1\n3,1\n")
    stored = stored_rows(rs.sources.csv(path, schema=rs.Schema({"n": rs.Scalar("int64")})))
    assert stored.column("n") == [1, 50, 3]
    assert [reject.value for reject in stored.rejects] == ["x"]
    (chunk,) = rs.sources.csv(
        written(tmp_path, "n,m\n1,1\n2.5,1\n"), schema=rs.Schema({"n": rs.Scalar("int64")})
    ).chunks()
    assert list(chunk.load().columns["n"]) == [1, 2.5]


@pytest.mark.parametrize("budget", [0, 1000, 1 << 20])
def test_what_was_kept_of_the_first_look_is_what_a_second_one_gives(budget, tmp_path, monkeypatch):
    monkeypatch.setattr(kept_tables, "BUDGET", budget)
    monkeypatch.setattr(table_lines, "WINDOW", 256)
    head = "n,f,big,s,y,ok,mixed,gap,late"
    rows = [f"{n},{n / 7:.6f},{n * 1e6 / 3:.3f},word {n},{'ab'[n % 2]},{n % 2 == 0},{n},,{n}" for n in range(300)]
    rows[150] = rows[150].replace("150,,150", "150.5,,x")
    rows[200] = "200,too,few"
    rows[201] = rows[201].replace("201,,201", "201,7,201").replace("28.714286", "inf")
    source = rs.sources.csv(written(tmp_path, "\n".join([head, *rows])), label="y")
    assert source.schema()["big"] == rs.Scalar("float64")
    chunks = list(source.chunks())
    first, second = [[chunk.load() for chunk in chunks] for _ in range(2)]
    for one, two in zip(first, second, strict=True):
        assert (one.rows, one.rejects) == (two.rows, two.rejects)
        assert [one.places.of(row) for row in range(one.rows)] == [two.places.of(row) for row in range(two.rows)]
        for (_, left), (_, right) in zip(parts_of(source, one), parts_of(source, two), strict=True):
            np.testing.assert_array_equal(left, right)
    assert sum(len(one.rejects) for one in first) == 2


def parts_of(source: Any, loaded: Any) -> list[tuple[str, Any]]:
    """The values and the presence of every column as they are written."""
    _, parts = source.schema().columns_to_parts(loaded.columns)
    return [("", entry) for part in parts for entry in part if entry is not None]


def test_text_in_another_encoding(tmp_path):
    path = written(tmp_path, "name,n\ncafé,1\n".encode("latin-1"))
    refused = stored_rows(rs.sources.csv(path))
    assert not refused.rows
    assert "UTF-8" in refused.rejects[0].reason
    assert stored_rows(rs.sources.csv(path, encoding="latin-1")).column("name") == ["café"]


def test_a_line_that_is_neither_even_nor_utf8_is_a_reject(tmp_path):
    path = written(tmp_path, b"a,b\n1,x\n\xff\n2,y\n3,y,\xff\n\n4\n5,\xff\n6,z\n")
    stored = stored_rows(rs.sources.csv(path))
    assert stored.column("a") == [1, 2, 6]
    assert stored.places == [f"{path}, line {line}" for line in (2, 4, 9)]
    assert sorted((reject.source[-1], reject.value) for reject in stored.rejects) == [
        ("3", "\\xff"),
        ("5", "3,y,\\xff"),
        ("7", "4"),
        ("8", "\\xff"),
    ]
    assert not stored_rows(rs.sources.csv(written(tmp_path, b"a,b\n\xff\n"), schema=rs.Schema({"a": rs.Text()}))).rows


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf", b"\n\n"])
@pytest.mark.parametrize("end", [True, False])
def test_line_ends_and_byte_order_marks(newline, start, end, tmp_path):
    text = newline.join(["a,b", "1,x", "2,y"]) + (newline if end else "")
    start = start.replace(b"\n", newline.encode())
    stored = stored_rows(rs.sources.csv(written(tmp_path, start + text.encode())))
    assert stored.rows == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]
    first = 4 if start.strip() == b"" and start else 2
    assert [place.rpartition(" ")[2] for place in stored.places] == [str(first), str(first + 1)]


@pytest.mark.parametrize(
    ("text", "delimiter"), [("a;b\n1;x\n", ";"), ("a\tb\n1\tx\n", "\t"), ("a|b\n1|x\n", "|"), ("a,b\n1,x\n", ",")]
)
def test_the_delimiter_is_told_or_named(text, delimiter, tmp_path):
    path = written(tmp_path, text)
    assert stored_rows(rs.sources.csv(path)).rows == [{"a": 1, "b": "x"}]
    assert stored_rows(rs.sources.csv(path, delimiter=delimiter)).rows == [{"a": 1, "b": "x"}]


def test_decimal_commas_and_names_of_ones_own(tmp_path):
    path = written(tmp_path, "1,5;x\n2;y\n")
    source = rs.sources.csv(path, header=False, names=["a", "b"], decimal=",")
    assert stored_rows(source).rows == [{"a": 1.5, "b": "x"}, {"a": 2.0, "b": "y"}]


def test_a_column_without_a_name_gets_one(tmp_path):
    stored = stored_rows(rs.sources.csv(written(tmp_path, ",a\n0,5\n")))
    assert stored.rows == [{"column_1": 0, "a": 5}]


@pytest.mark.usefixtures("_small_pieces")
@pytest.mark.parametrize("suffix", [".gz", ""])
def test_several_files_and_compressed_ones(suffix, tmp_path):
    for number in range(3):
        lines = "".join(f"{n},{'x' * (n % 40)}\n" for n in range(number * 50, number * 50 + 50))
        data = f"n,s\n{lines}".encode()
        written(tmp_path, gzip.compress(data) if suffix else data, f"part-{number}.csv{suffix}")
    source = rs.sources.csv(tmp_path)
    assert source.sequential is bool(suffix)
    stored = stored_rows(source)
    assert stored.column("n") == list(range(150))
    assert stored.column("s") == ["x" * (n % 40) for n in range(150)]
    assert stored.places[149] == f"{tmp_path}/part-2.csv{suffix}, line 51"
    assert source.row_count == 150


def test_a_cut_gzip_file_is_an_error_that_names_it(tmp_path):
    data = gzip.compress(("n\n" + "".join(f"{n}\n" for n in range(5000))).encode())
    path = written(tmp_path, data[: len(data) // 2], "cut.csv.gz")
    with pytest.raises(rs.CompressionError, match=r"cut\.csv\.gz"):
        rs.sources.csv(path).schema()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "The file is empty"),
        (b"\n\n", "The file is empty"),
        (b"a,b\n", "no rows below the header"),
        (b"# a comment\na,b\n1,2\n", r"No line has as many cells(.|\n)*line 2(.|\n)*2 cells: a,b(.|\n)*'# a comment'"),
        (b"a,b,a\n1,2,3\n", "Two columns have the same name"),
        (b'a,b\n1,"x\n2,y\n', "The quote that opens in line 2 is never closed"),
        ("a,b\n1,2\n".encode("utf-16"), "UTF-16"),
        (b"PK\x03\x04\x00\x00\x00\x00", "is a zip archive"),
    ],
)
def test_what_cannot_be_read_says_why(text, message, tmp_path):
    with pytest.raises(rs.RecordsmithError, match=message) as caught:
        rs.sources.csv(written(tmp_path, text)).schema()
    assert "data.csv" in str(caught.value)


@pytest.mark.parametrize("option", ["label", "text", "images", "columns"])
def test_a_column_that_is_not_there_is_named_with_the_nearest(option, tmp_path):
    options: Any = {option: "speceis"}
    source = rs.sources.csv(written(tmp_path, "species,n\na,1\n"), **options)
    with pytest.raises(rs.RecordsmithError, match="Did you mean 'species'"):
        source.schema()


def test_files_of_different_columns_are_refused(tmp_path):
    written(tmp_path, "a,b\n1,2\n", "1.csv")
    written(tmp_path, "a,c\n1,2\n", "2.csv")
    with pytest.raises(rs.RecordsmithError, match="different columns"):
        rs.sources.csv(tmp_path).schema()


def test_columns_may_come_in_another_order_in_another_file(tmp_path):
    written(tmp_path, "a,b\n1,x\n", "1.csv")
    written(tmp_path, "b,a\ny,2\n", "2.csv")
    assert stored_rows(rs.sources.csv(tmp_path)).rows == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]


def test_only_some_columns(tmp_path):
    path = written(tmp_path, "a,b,c,y\n1,2,3,x\n")
    assert list(rs.sources.csv(path, columns=["c"], label="y").schema()) == ["c", "y"]


def test_true_and_false_as_declared(tmp_path):
    path = written(tmp_path, "a,b\n1,TRUE\n0,false\ntrue,True\nno,True\n")
    stored = stored_rows(rs.sources.csv(path, types={"a": "bool", "b": "bool"}))
    assert stored.rows == [{"a": True, "b": True}, {"a": False, "b": False}, {"a": True, "b": True}]
    assert stored.rejects[0].value == "no"


def test_a_tensor_cannot_come_from_a_cell(tmp_path):
    source = rs.sources.csv(written(tmp_path, "a\n1\n"), types={"a": rs.Tensor("int64", (2,))})
    with pytest.raises(rs.SchemaError, match="one number or one string"):
        source.schema()


def test_images_by_path(tmp_path):
    image = encode_image(np.zeros((6, 8, 3), np.uint8), "png")
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "1.png").write_bytes(image)
    (tmp_path / "images" / "2.png").write_bytes(b"no image")
    path = written(
        tmp_path, "file,n\nimages/1.png,1\nimages/2.png,2\nimages/3.png,3\n/dev/zero,4\n../a.png,5\nimages,6\n"
    )
    stored = stored_rows(rs.sources.csv(path, images="file"))
    assert stored.rows == [{"file": image, "n": 1}]
    assert [(reject.source, reject.feature) for reject in stored.rejects] == [
        (f"{path}, line {line}", "file") for line in range(3, 8)
    ]
    assert ["not in the folder" in reject.reason for reject in stored.rejects] == [False, False, True, True, False]
    source = rs.sources.csv(path, images="file", size=(3, 4), image_encoding="jpeg")
    assert source.schema()["file"] == rs.Image(3, 4, encoding="jpeg")
    assert len(stored_rows(source).rows) == 1


def test_the_description_tells_one_file_and_its_options_from_others(tmp_path):
    path = written(tmp_path, "a,b\n1,2\n")
    plain = rs.sources.csv(path).describe()
    assert plain == rs.sources.csv(path).describe()
    assert plain != rs.sources.csv(path, label="b").describe()
    assert plain != rs.sources.csv(path, delimiter=",").describe()
    written(tmp_path, "a,b\n1,3\n4,5\n")
    assert plain != rs.sources.csv(path).describe()


def test_a_file_that_changes_is_not_read_on(tmp_path):
    path = written(tmp_path, "a,b\n1,2\n")
    source = rs.sources.csv(path)
    (chunk,) = source.chunks()
    written(tmp_path, "a,b\n1,2\n3,4\n")
    with pytest.raises(rs.RecordsmithError, match="changed"):
        chunk.load()


@pytest.mark.usefixtures("_small_pieces")
@pytest.mark.parametrize("quoting", [csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
def test_pieces_together_are_the_file_whatever_is_in_quotes(quoting, tmp_path):
    random.seed(7)
    alphabet = ["a", ",", '"', "\n", "\r\n", "né", " "]
    table = [[str(n), "".join(random.choices(alphabet, k=random.randrange(12)))] for n in range(400)]
    text = io.StringIO(newline="")
    csv.writer(text, quoting=quoting, lineterminator="\n").writerows([["n", "cell"], *table])
    path = written(tmp_path, text.getvalue())
    stored = stored_rows(rs.sources.csv(path, text="cell"))
    assert stored.chunks > 50
    assert [[str(row["n"]), row["cell"]] for row in stored.rows] == table
    lines = text.getvalue().split("\n")
    for (number, _), place in zip(table, stored.places, strict=True):
        line = lines[int(place.rpartition(" ")[2]) - 1]
        assert line.replace('"', "").startswith(f"{number},")


def test_a_quote_inside_a_cell_has_no_meaning(tmp_path):
    path = written(tmp_path, 'size,n\n5" pipe,1\n6" pipe,2\n"7"" pipe\nlong",3\n"8"x" pipe,4\n')
    stored = stored_rows(rs.sources.csv(path))
    assert stored.column("size") == ['5" pipe', '6" pipe', '7" pipe\nlong', '8x" pipe']
    assert stored.column("n") == [1, 2, 3, 4]
    assert [place.rpartition(" ")[2] for place in stored.places] == ["2", "3", "4", "6"]


def test_quotes_can_be_without_meaning_at_all(tmp_path):
    path = written(tmp_path, 'word,n\n"open,1\nshut",2\n')
    assert stored_rows(rs.sources.csv(path, quote=None)).column("word") == ['"open', 'shut"']


def ends_one_by_one(data: bytes) -> list[int]:
    """Follow the rules of the format byte by byte."""
    ends, quoted, at_start, position = list[int](), False, True, 0
    while position < len(data):
        byte = data[position : position + 1]
        if quoted:
            if byte == b'"' and data[position + 1 : position + 2] == b'"':
                position += 1
            elif byte == b'"':
                quoted = False
        elif byte == b'"' and at_start:
            quoted = True
        elif byte == b"\n" or (byte == b"\r" and data[position + 1 : position + 2] not in (b"\n", b"")):
            ends.append(position + 1)
        at_start = byte in (b",", b"\n", b"\r") and not quoted
        position += 1
    return ends


@given(
    st.lists(st.sampled_from([b'"', b",", b"\n", b"\r", b"a", b'""', b',"', b'",', b'"\n']), max_size=40).map(b"".join)
)
def test_row_ends_are_those_of_a_reader_that_looks_at_every_byte(data):
    assert row_ends(data, LineRules()).ends.tolist() == ends_one_by_one(data)


@pytest.mark.usefixtures("_small_pieces")
def test_pieces_do_not_depend_on_anything_but_the_file(tmp_path):
    data = b"".join(b"%d\n" % n for n in range(200)) + b"x" * 300 + b"\n" + b"1\n" * 9
    path = written(tmp_path, data)
    pieces = list(pieces_of(SourceFile.at(path), LineRules(), start=0, line=1))
    assert b"".join(piece.read() for piece in pieces) == data
    assert all(piece.lines <= 3 for piece in pieces)
    assert [piece.line for piece in pieces] == [1 + sum(p.lines for p in pieces[:i]) for i in range(len(pieces))]
    packed = written(tmp_path, gzip.compress(data), "data.csv.gz")
    again = list(pieces_of(SourceFile.at(packed), LineRules(), start=0, line=1))
    assert [(piece.start, piece.stop, piece.line) for piece in again] == [
        (piece.start, piece.stop, piece.line) for piece in pieces
    ]
    assert [piece.data for piece in again] == [piece.read() for piece in pieces]


def test_lines_are_counted_once_however_many_rows_are_refused(tmp_path, monkeypatch):
    rows = [f'"a\nb",{n},cat{"" if n % 5 else ",x"}' for n in range(1000)]
    path = written(tmp_path, "t,n,y\n" + "\n".join(rows) + "\n")
    counted: list[int] = []

    def count(data: bytes, rules: LineRules) -> Any:
        counted.append(1)
        return row_ends(data, rules)

    monkeypatch.setattr(csv_parsing, "row_ends", count)
    (chunk,) = rs.sources.csv(path, schema=rs.Schema({"t": rs.Scalar("int64"), "n": rs.Text()})).chunks()
    loaded = chunk.load()
    assert len(loaded.rejects) == 1000
    lines = [int(reject.source.rpartition(" ")[2]) for reject in loaded.rejects]
    assert sorted(lines) == [2 + 2 * n for n in range(1000)]
    assert len(counted) == 1


def test_when_every_row_is_refused_it_stops_after_the_first_chunk(tmp_path, monkeypatch):
    monkeypatch.setattr(table_lines, "LINES_AT_ONCE", 2000)
    path = written(tmp_path, "n\n" + "5\n" * 100_000)
    source = rs.sources.csv(path, schema=rs.Schema({"n": rs.Scalar("int64", max=1)}))
    with pytest.raises(rs.RecordsmithError, match="2000 of 2000 rows were rejected"):
        rs.make(source, tmp_path / "out", workers=1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("5.1,3.5,setosa\n4.9,3.1,other\n", "'5.1' is a number. If the line is a row, pass header=False"),
        ("39,State-gov,13\n50,Self,13\n", "'39' is a number"),
        ("country,1990,1991\nx,1,2\n", None),
        ("a;b\n1,5;x\n2,5;y\n", "Column 'a' is text, and '1,5' looks like a number with a decimal comma"),
        (
            "a\n" + "".join(f"{'?' if n % 20 == 0 else n}\n" for n in range(100)),
            "because 5 of 100 cells are not numbers",
        ),
        ("a\n" + "".join(f"{'?' if n % 2 == 0 else n}\n" for n in range(100)), None),
        ("a\n1\n2\nthree\n", None),
    ],
)
def test_what_looks_like_a_mistake_in_reading_is_said(text, said, tmp_path):
    source = rs.sources.csv(written(tmp_path, text))
    source.schema()
    assert [said in one for one in source.warnings] == ([] if said is None else [True]), source.warnings


def test_what_was_declared_is_no_mistake(tmp_path):
    for options in ({"text": "a"}, {"decimal": ","}, {"schema": rs.Schema({"a": rs.Text()})}):
        source = rs.sources.csv(written(tmp_path, "a;b\n1,5;x\n2,5;y\n"), **options)
        source.schema()
        assert source.warnings == ()
