"""Databases: what a query gives is what is stored, through every kind of connection."""

from __future__ import annotations

import datetime as dt
import sqlite3
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
import sqlalchemy

import recordsmith as rs
from recordsmith.formats.tables import value_rows
from tests.formats.loaded_rows import plain, stored_rows

ROWS: list[tuple[Any, ...]] = [
    (
        number,
        2**60 + number,
        number / 4,
        None if number % 7 == 3 else number,
        f"né {number}",
        bytes([number, 0]),
        "ab"[number % 2],
    )
    for number in range(40)
]
NAMES = ("n", "big", "x", "gap", "words", "raw", "kind")
EXPECTED = [dict(zip(NAMES, (*row[:-1], "ab".index(row[-1])), strict=True)) for row in ROWS]
SCHEMA = rs.Schema(
    {
        "n": rs.Scalar("int64"),
        "big": rs.Scalar("int64"),
        "x": rs.Scalar("float32"),
        "gap": rs.Scalar("int64", optional=True),
        "words": rs.Text(),
        "raw": rs.Bytes(),
        "kind": rs.Label(["a", "b"]),
    }
)


def filled(connection: Any, table: str = "t", rows: list[tuple[Any, ...]] = ROWS) -> Any:
    connection.execute(
        f"CREATE TABLE {table} (n BIGINT, big BIGINT, x DOUBLE, gap BIGINT, words TEXT, raw BLOB, kind TEXT)"
    )
    connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    connection.commit()
    return connection


def file_of(kind: str, path: Path, **tables: list[tuple[Any, ...]]) -> Path:
    connection = sqlite3.connect(path) if kind == "sqlite" else duckdb.connect(str(path))
    for table, rows in (tables or {"t": ROWS}).items():
        filled(connection, table, rows)
    connection.close()
    return path


def made_rows(source: Any, folder: Path) -> list[dict[str, Any]]:
    rs.make(source, folder / "made", shuffle=False)
    opened = rs.open(folder / "made")
    assert opened.schema == SCHEMA
    return [{name: plain(value) for name, value in row.items()} for row in opened]


@pytest.mark.source(
    "SQLite and DuckDB files", keeps="types, bytes, missing values, declared times, tables named like splits"
)
@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
@pytest.mark.parametrize("name", ["a.db", "suffix"])
def test_files(kind, name, tmp_path, monkeypatch):
    monkeypatch.setattr(value_rows, "ROWS_AT_ONCE", 7)
    path = file_of(kind, tmp_path / (name if name == "a.db" else f"a.{kind}"))
    rs.make(path, tmp_path / "made", label="kind", shuffle=False)
    assert rs.open(tmp_path / "made").schema == SCHEMA
    assert [{name: plain(value) for name, value in row.items()} for row in rs.open(tmp_path / "made")] == EXPECTED


@pytest.mark.source(
    "any SQL query (DB-API, SQLAlchemy, DuckDB)", keeps="the rows of the query in its order, types, missing values"
)
@pytest.mark.parametrize("kind", ["path", "dbapi", "function", "url", "engine", "sqlalchemy", "duckdb"])
def test_queries(kind, tmp_path):
    path = file_of("sqlite", tmp_path / "a.sqlite", t=ROWS, other=ROWS[:3])
    url = f"sqlite:///{path}"
    engine = sqlalchemy.create_engine(url)
    forms: dict[str, Any] = {
        "path": path,
        "dbapi": sqlite3.connect(path),
        "function": lambda: sqlite3.connect(path),
        "url": url,
        "engine": engine,
        "sqlalchemy": engine.connect(),
        "duckdb": filled(duckdb.connect()),
    }
    source = rs.sources.sql(forms[kind], query="SELECT * FROM t ORDER BY n DESC", label="kind")
    assert made_rows(source, tmp_path) == EXPECTED[::-1]
    for form in forms.values():
        if hasattr(form, "close"):
            form.close()
    engine.dispose()


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_tables_named_like_splits_are_splits(kind, tmp_path):
    path = file_of(kind, tmp_path / "a.db", pets_train=ROWS[:30], pets_test=ROWS[30:])
    made = rs.make(path, tmp_path / "made", label="kind")
    assert {name: split.rows for name, split in made.splits.items()} == {"train": 30, "test": 10}
    path = file_of(kind, tmp_path / "b.db", one=ROWS[:30], two=ROWS[30:])
    with pytest.raises(rs.RecordsmithError, match=r"several tables(.|\n)*'one', 'two'(.|\n)*table") as caught:
        rs.make(path, tmp_path / "out")
    assert "--table" in caught.value.on_command_line()
    assert rs.make(rs.sources.sql(path, table="two"), tmp_path / "two").splits["train"].rows == 10
    with pytest.raises(rs.RecordsmithError, match="Did you mean 'two'"):
        rs.sources.sql(path, table="twoo")


def test_values_of_every_kind_that_drivers_give(tmp_path):
    when = dt.datetime(2020, 9, 13, 12, 26, 40, 500_000)  # noqa: DTZ001 - with and without a zone
    row = {
        "ok": True,
        "money": Decimal("12345.67"),
        "whole": Decimal(7),
        "id": uuid.UUID(int=5),
        "view": memoryview(b"ab"),
        "when": when,
        "zoned": when.replace(tzinfo=dt.timezone(dt.timedelta(hours=2))),
        "day": when.date(),
        "clock": when.time(),
        "took": dt.timedelta(seconds=1.5),
        "list": [1, 2],
        "inner": {"a": 1.5},
    }

    class Cursor:
        description = tuple((name,) for name in row)

        def execute(self, _: str) -> None:
            self.left = [tuple(row.values())]

        def fetchmany(self, _: int) -> list[Any]:
            left, self.left = self.left, []
            return left

    class Connection:
        cursor = Cursor

    (stored,) = stored_rows(rs.sources.sql(Connection(), query="SELECT")).rows
    assert stored == {
        "ok": True,
        "money": float(np.float32(12345.67)),
        "whole": 7.0,
        "id": "00000000-0000-0000-0000-000000000005",
        "view": b"ab",
        "when": "2020-09-13T12:26:40.5",
        "zoned": "2020-09-13T10:26:40.5Z",
        "day": "2020-09-13",
        "clock": "12:26:40.5",
        "took": 1_500_000,
        "list": [1, 2],
        "inner/a": 1.5,
    }


def test_values_of_another_type_are_rejects(tmp_path):
    connection = sqlite3.connect(tmp_path / "a.db")
    connection.execute("CREATE TABLE t (n, words TEXT)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", [(1, "a"), ("two", "b"), (2.5, "c"), (b"x", "d"), (3, "e")])
    connection.execute("INSERT INTO t VALUES (4, CAST(x'ff' AS TEXT))")
    connection.commit()
    connection.close()
    source = rs.sources.sql(tmp_path / "a.db")
    assert source.schema() == rs.Schema({"n": rs.Scalar("float32"), "words": rs.Text()})
    stored = stored_rows(source)
    assert stored.column("n") == [1, 2.5, 3]
    assert [(reject.source.rpartition(", ")[2], reject.feature) for reject in stored.rejects] == [
        ("row 1", "n"),
        ("row 3", "n"),
        ("row 5", "words"),
    ]
    assert stored_rows(rs.sources.sql(tmp_path / "a.db", text="n")).column("n") == ["1", "two", "2.5", "3"]


def test_a_query_that_fails_midway_leaves_nothing(tmp_path):
    connection = filled(sqlite3.connect(":memory:"))
    connection.create_function("fail_at", 1, lambda n: 1 / (20 - n))
    with pytest.raises(rs.RecordsmithError, match="The query failed: user-defined function raised"):
        rs.make(rs.sources.sql(connection, query="SELECT n, fail_at(n) AS x FROM t"), tmp_path / "out")
    assert not (tmp_path / "out" / "recordsmith.json").exists()
    calls = iter(range(70, -1, -1))
    connection.create_function("fail_later", 1, lambda _: 1 / next(calls))
    with pytest.raises(rs.RecordsmithError, match="The query failed"):  # in its second run
        rs.make(rs.sources.sql(connection, query="SELECT n, fail_later(n) AS x FROM t"), tmp_path / "out")
    assert not (tmp_path / "out" / "recordsmith.json").exists()


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_rows_that_differ_from_run_to_run_are_an_error(kind, tmp_path):
    connection = filled(sqlite3.connect(":memory:") if kind == "sqlite" else duckdb.connect())
    source = rs.sources.sql(connection, query="SELECT n, random() AS r FROM t")
    with pytest.raises(rs.RecordsmithError, match=r"different rows the second time(.|\n)*ORDER BY"):
        rs.make(source, tmp_path / "out")
    source = rs.sources.sql(connection, query="SELECT n FROM t ORDER BY n")
    same = rs.sources.sql(connection, query="SELECT n FROM t ORDER BY n")
    assert source.describe() == same.describe()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"query": "SELECT other FROM t"}, "The query failed: no such column"),
        ({"query": "SELECT n, n FROM t"}, "same name(.|\n)*AS"),
        ({"query": "CREATE TABLE u (a)"}, "readonly|read-only|no rows"),
        ({"query": "SELECT * FROM t WHERE n < 0"}, "There are no rows"),
        ({"query": "SELECT 1", "table": "t"}, "either a query or a table"),
    ],
)
def test_what_is_wrong_with_a_query_is_said(options, message, tmp_path):
    path = file_of("sqlite", tmp_path / "a.db")
    before = path.read_bytes()
    with pytest.raises(rs.RecordsmithError, match=message):
        rs.sources.sql(path, **options).schema()
    assert path.read_bytes() == before


def test_what_is_no_database_is_said(tmp_path):
    with pytest.raises(rs.RecordsmithError, match="A query is needed"):
        rs.sources.sql(sqlite3.connect(":memory:"))
    with pytest.raises(rs.RecordsmithError, match="not a database"):
        rs.sources.sql(3)
    (tmp_path / "a.db").write_bytes(b"x" * 100)
    with pytest.raises(rs.RecordsmithError, match="neither a SQLite nor a DuckDB file"):
        rs.sources.sql(tmp_path / "a.db")
    (tmp_path / "a.db").write_bytes(b"SQLite format 3\0" + b"x" * 1000)
    with pytest.raises(rs.RecordsmithError, match="The query failed"):
        rs.sources.sql(tmp_path / "a.db")
    with pytest.raises(rs.RecordsmithError, match="cannot be opened") as caught:
        rs.sources.sql("nodriver://user:secret@host/db", query="SELECT 1")
    assert "secret" not in str(caught.value)


def test_a_duckdb_file_reads_no_other_file(tmp_path):
    (tmp_path / "secret.csv").write_text("a\n1\n")
    path = file_of("duckdb", tmp_path / "a.duckdb")
    with pytest.raises(rs.RecordsmithError, match="The query failed"):
        rs.sources.sql(path, query=f"SELECT * FROM read_csv('{tmp_path}/secret.csv')").schema()


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_view_is_read_by_its_name(kind, tmp_path):
    path = file_of(kind, tmp_path / "a.db")
    connection = sqlite3.connect(path) if kind == "sqlite" else duckdb.connect(str(path))
    connection.execute("CREATE VIEW few AS SELECT n, words FROM t WHERE n < 3")
    connection.commit()
    connection.close()
    rows = stored_rows(rs.sources.sql(str(path), table="few")).rows
    assert rows == [{"n": number, "words": f"né {number}"} for number in range(3)]
    assert stored_rows(rs.sources.sql(str(path))).rows[0]["n"] == 0  # the only table
    with pytest.raises(rs.RecordsmithError, match=r"(?s)no table 'fwe'\. Did you mean 'few'.*'t', 'few'"):
        rs.sources.sql(str(path), table="fwe")
