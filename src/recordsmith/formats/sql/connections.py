"""One way to run a query on every kind of database: names and rows come out, or Arrow batches.

a SQLite or DuckDB file         opened read-only for each run of the query
a URL, an Engine                through SQLAlchemy, streamed
a connection of any driver      cursor, execute, fetchmany (DB-API 2.0); DuckDB's gives Arrow batches
a function                      called for each run; its connection is closed afterwards
"""

from __future__ import annotations

import datetime as dt
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from recordsmith.errors import RecordsmithError, import_extra, list_names
from recordsmith.formats.files.source_files import SourceFile, check_unchanged, find_files
from recordsmith.formats.tables.value_rows import ROWS_AT_ONCE
from recordsmith.storage.ranged.opening import is_ranged

__all__ = ["Answer", "Database", "database_of"]

SUFFIXES = (".sqlite", ".sqlite3", ".db", ".duckdb")
_TIMES: dict[str, Callable[[str], Any]] = {
    "DATE": dt.date.fromisoformat,
    "DATETIME": dt.datetime.fromisoformat,
    "TIMESTAMP": dt.datetime.fromisoformat,
    "TIME": dt.time.fromisoformat,
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a query gives: rows with the names of their values, or batches of Arrow."""

    names: Sequence[str]
    rows: Iterable[Sequence[Any]]
    batches: Iterable[Any] | None = None


@dataclass(frozen=True, slots=True)
class Database:
    """A database.

    Attributes:
        name: what it is called in messages, without any password.
        connect: gives a connection.
        answer: runs a query on it.
        file: the file that it is, if it is one.
    """

    name: str
    connect: Callable[[], Any]
    answer: Callable[[Any, str], Answer]
    file: SourceFile | None = None

    @contextmanager
    def ask(self, query: str) -> Iterator[Answer]:
        """Run a query; what fails is an error that names it."""
        if self.file is not None:
            check_unchanged(self.file)
        try:
            with self.connect() as connection:
                yield self.answer(connection, query)
        except RecordsmithError:
            raise
        except Exception as error:  # noqa: BLE001 - every driver has exceptions of its own
            problem = str(error).partition("\n")[0] or type(error).__name__
            raise RecordsmithError(f"The query failed: {problem}", path=self.name, found=query) from None

    def tables(self) -> list[str]:
        """Return the names of the tables of a file."""
        return self._names(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, 7) != 'sqlite_' ORDER BY name"
            if self.answer is _answer_of_cursor
            else "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main' ORDER BY table_name"
        )

    def views(self) -> list[str]:
        """Return the names of the views of a file."""
        return self._names(
            "SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY name"
            if self.answer is _answer_of_cursor
            else "SELECT view_name FROM duckdb_views() WHERE schema_name = 'main' AND NOT internal ORDER BY view_name"
        )

    def _names(self, listing: str) -> list[str]:
        with self.ask(listing) as answer:
            if answer.batches is not None:
                return [str(name) for batch in answer.batches for name in batch.column(0).to_pylist()]
            return [str(row[0]) for row in answer.rows]

    def times_of(self, table: str) -> dict[str, Callable[[str], Any]]:
        """Return which columns of a table of SQLite, which has no type for times, are declared as such."""
        if self.answer is not _answer_of_cursor or self.file is None:
            return {}
        with self.ask(f"PRAGMA table_info({quoted(table)})") as answer:
            kinds = {row[1]: str(row[2]).upper().partition("(")[0].strip() for row in answer.rows}
        return {name: _TIMES[kind] for name, kind in kinds.items() if kind in _TIMES}


def quoted(name: str) -> str:
    """Return a name as SQL writes it.

    >>> quoted("a b")
    '"a b"'
    """
    return '"' + name.replace('"', '""') + '"'


def database_of(given: Any) -> Database:
    """Return the database that a path, a URL, a connection, an engine or a function stands for."""
    if isinstance(given, (list, tuple)) and len(given) == 1:
        given = given[0]
    if isinstance(given, (str, os.PathLike)):
        text = os.fsdecode(given)
        return _file(text) if "://" not in text or is_ranged(text) else _url(text)
    package = type(given).__module__.partition(".")[0]
    if package in ("duckdb", "_duckdb"):
        return Database("the query", lambda: nullcontext(given), _answer_of_duckdb)
    if package == "sqlalchemy" and hasattr(given, "connect"):
        return Database("the query", given.connect, _answer_of_sqlalchemy)
    if package == "sqlalchemy":
        return Database("the query", lambda: nullcontext(given), _answer_of_sqlalchemy)
    if hasattr(given, "cursor"):
        return Database("the query", lambda: nullcontext(given), _answer_of_cursor)
    if callable(given):
        return Database("the query", lambda: closing(given()), _answer_of_any)
    raise RecordsmithError(
        "This is not a database.",
        found=type(given).__name__ if not isinstance(given, (list, tuple)) else list_names(map(str, given), 4),
        expected="the path of a SQLite or DuckDB file, a URL, a connection, an engine, or a function that connects",
    )


def _file(path: str) -> Database:
    if is_ranged(path):
        raise RecordsmithError("A database must be a local file.", path=path, advice="Download it first.")
    files = find_files(path, SUFFIXES, kind="SQLite or DuckDB")
    if len(files) > 1:
        raise RecordsmithError(
            "The folder has several databases.",
            path=path,
            found=list_names([os.path.basename(file.path) for file in files]),
            advice="Pass one of them.",
        )
    (file,) = files
    path = file.path
    with open(path, "rb") as stream:
        head = stream.read(16)
    if head == b"SQLite format 3\0":
        return Database(path, lambda: closing(_sqlite(path)), _answer_of_cursor, file)
    if head[8:12] == b"DUCK":
        duckdb = import_extra("duckdb", "sql", purpose="Reading DuckDB files")
        # Nothing but this file: a view in it could otherwise read any other.
        options = {"read_only": True, "config": {"enable_external_access": "false"}}
        return Database(path, lambda: closing(duckdb.connect(path, **options)), _answer_of_duckdb, file)
    raise RecordsmithError("This is neither a SQLite nor a DuckDB file.", path=path, found=repr(head))


def _sqlite(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"file:{quote(os.path.abspath(path))}?mode=ro", uri=True)
    connection.execute("PRAGMA trusted_schema = OFF")
    # Text that is not UTF-8 is about its row alone.
    connection.text_factory = lambda data: data.decode(errors="surrogateescape")
    return connection


def _url(url: str) -> Database:
    alchemy = import_extra("sqlalchemy", "sql", purpose="Reading a database by its URL")
    try:
        engine = alchemy.create_engine(url)
    except Exception as error:  # noqa: BLE001 - also of drivers that are not installed
        raise RecordsmithError(f"The database cannot be opened: {error}") from None
    return Database(engine.url.render_as_string(hide_password=True), engine.connect, _answer_of_sqlalchemy)


def _answer_of_any(connection: Any, query: str) -> Answer:
    package = type(connection).__module__.partition(".")[0]
    if package in ("duckdb", "_duckdb"):
        return _answer_of_duckdb(connection, query)
    return (_answer_of_sqlalchemy if package == "sqlalchemy" else _answer_of_cursor)(connection, query)


def _answer_of_cursor(connection: Any, query: str) -> Answer:
    cursor = connection.cursor()
    cursor.execute(query)
    if cursor.description is None:
        raise RecordsmithError("The query returns no rows.", found=query, expected="a SELECT")
    return Answer([str(column[0]) for column in cursor.description], _fetched(cursor))


def _fetched(cursor: Any) -> Iterator[Sequence[Any]]:
    while some := cursor.fetchmany(ROWS_AT_ONCE):
        yield from some


def _answer_of_sqlalchemy(connection: Any, query: str) -> Answer:
    alchemy = import_extra("sqlalchemy", "sql", purpose="Reading a database by its URL")
    streaming = {"stream_results": True, "yield_per": ROWS_AT_ONCE}
    result = connection.execute(alchemy.text(query), execution_options=streaming)
    return Answer(list(result.keys()), result)


def _answer_of_duckdb(connection: Any, query: str) -> Answer:
    found = connection.cursor().sql(query)
    if found is None:
        raise RecordsmithError("The query returns no rows.", found=query, expected="a SELECT")
    batches = (getattr(found, "to_arrow_reader", None) or found.fetch_record_batch)(ROWS_AT_ONCE)
    return Answer(batches.schema.names, (), batches)
