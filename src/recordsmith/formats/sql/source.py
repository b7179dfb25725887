"""The rows of a database as a source: a table of a file, or a query."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar, Unpack

from recordsmith.errors import RecordsmithError, advise, did_you_mean, list_names
from recordsmith.formats.arrow.memory_tables import without_views
from recordsmith.formats.sql.connections import Database, database_of, quoted
from recordsmith.formats.tables.batch_source import Batch, BatchReader, BatchSource
from recordsmith.formats.tables.options import ColumnOptions, column_options
from recordsmith.formats.tables.value_digest import add_values
from recordsmith.formats.tables.value_rows import value_batches
from recordsmith.records.shards import split_in_name

__all__ = ["SqlSource", "sql"]


def sql(
    database: Any, *, query: str | None = None, table: str | None = None, **columns: Unpack[ColumnOptions]
) -> SqlSource:
    """Return the rows of a query, or of a table of a SQLite or DuckDB file, as a source for `make`.

    The query runs twice: once to learn the types, and once for the rows. Rows come in the order of the database.
    Without ORDER BY that order may differ from run to run, except for a table of a file, which is read in the order of
    its rows. If the second run gives other rows than the first, it is an error.

    Args:
        database: the path of a SQLite or DuckDB file, a URL such as "postgresql://user@host/shop" (SQLAlchemy), a
            connection of any driver (DB-API), an engine or connection of SQLAlchemy, a connection of DuckDB, or a
            function that returns a connection.
        query: a SELECT.
        table: instead of a query, a table of a file; None: the only one, or tables named like splits.
        columns: options for the columns, as in `rs.sources.parquet`: label, text, images, columns, types,
            schema, floats, size, channels, image_encoding, quality, strip.

    >>> import recordsmith as rs, sqlite3
    >>> connection = sqlite3.connect(":memory:")
    >>> _ = connection.execute("CREATE TABLE irises (length REAL, species TEXT)")
    >>> _ = connection.execute("INSERT INTO irises VALUES (5.1, 'setosa'), (4.9, 'virginica')")
    >>> rs.sources.sql(connection, query="SELECT * FROM irises", label="species").schema()
    Schema({
        'length':  Scalar('float32'),
        'species': Label(['setosa', 'virginica']),
    })
    """
    options = column_options(columns)
    found = database_of(database)
    if query is not None and table is not None:
        raise RecordsmithError("Pass either a query or a table, not both.")
    readers = _tables(found, table, options.text) if query is None else [QueryReader(found, query, options.text)]
    said = {name: value for name, value in (("query", query), ("table", table)) if value is not None}
    return SqlSource(readers, options, said)


class SqlSource(BatchSource):
    """The rows of a database. Made by `rs.sources.sql`."""

    kind: ClassVar[str] = "sql"


class QueryReader(BatchReader):
    """The rows of a query. Each run must give the same rows."""

    def __init__(
        self,
        database: Database,
        query: str,
        text: Sequence[str],
        times: Mapping[str, Callable[[str], Any]] | None = None,
        name: str | None = None,
        split: str | None = None,
    ) -> None:
        self._database, self._query, self._text, self._times = database, query, set(text), times or {}
        self.name = name or database.name
        self.file = database.file
        self.folder = "" if database.file is None else os.path.dirname(database.file.path)
        self.split = split
        self._digest: str | None = None

    def batches(self, fields: Any) -> Iterator[Batch]:
        """Run the query."""
        digest = hashlib.blake2b(digest_size=16)
        with self._database.ask(self._query) as answer:
            twice = [name for name in dict.fromkeys(answer.names) if list(answer.names).count(name) > 1]
            if twice:
                raise RecordsmithError(
                    "Several columns of the query have the same name.",
                    path=self.name,
                    found=list_names(twice),
                    advice="Name them with AS.",
                )
            if answer.batches is None:
                rows = self._noted(answer.rows, answer.names, digest)
                yield from value_batches(rows, answer.names, fields, self._text)
            else:
                for batch in answer.batches:
                    if self.file is None:
                        for column in batch.columns:
                            add_values(column, digest)
                    yield Batch(without_views(batch))
        if self._digest not in (None, digest.hexdigest()):
            raise RecordsmithError(
                "The query returned different rows the second time.",
                path=self.name,
                found=self._query,
                advice="Add ORDER BY, and run it while nothing changes the tables, or on a copy.",
            )
        self._digest = digest.hexdigest()

    def describe(self) -> Any:
        """Return the query, and a digest of its rows."""
        if self._digest is None:
            for _ in self.batches(None):
                pass
        return {"database": self._database.name, "query": self._query, "digest": self._digest}

    def _noted(self, rows: Any, names: Sequence[str], digest: Any) -> Iterator[Sequence[Any]]:
        """Give the rows, note them in a digest, and read the text of columns that are declared as times."""
        readers = [(place, self._times[name]) for place, name in enumerate(names) if name in self._times]
        for row in rows:
            if self.file is None:
                digest.update(repr(tuple(row)).encode(errors="surrogateescape"))
            if readers:
                row = list(row)  # noqa: PLW2901 - the same row
                for place, read in readers:
                    if isinstance(row[place], str):
                        with suppress(ValueError):  # it stays text, and is refused where others are times
                            row[place] = read(row[place])
            yield row


def _tables(database: Database, table: str | None, text: Sequence[str]) -> list[QueryReader]:
    if database.file is None:
        raise RecordsmithError("A query is needed.", path=database.name, advice="Pass query='SELECT ... FROM ...'.")
    found = database.tables()
    splits = [split_in_name(name) for name in found]
    if table is not None:
        if table not in (named := [*found, *database.views()]):
            raise RecordsmithError(
                f"There is no table {table!r}.{did_you_mean(table, named)}", path=database.name, found=list_names(named)
            )
        return [_table(database, table, text, None)]
    if len(found) == 1:
        return [_table(database, found[0], text, None)]
    if len(found) > 1 and None not in splits and len(set(splits)) == len(splits):
        return [_table(database, name, text, split) for name, split in zip(found, splits, strict=True)]
    raise RecordsmithError(
        "The database has several tables." if found else "The database has no tables.",
        path=database.name,
        found=list_names(found),
        advice=advise("Choose one with {table}, or pass {query}.", table=..., query=...) if found else None,
    )


def _table(database: Database, name: str, text: Sequence[str], split: str | None) -> QueryReader:
    every = f"SELECT * FROM {quoted(name)}"  # noqa: S608 - the name is quoted
    ordered = f"{every} ORDER BY rowid"
    place = f"{database.name}, table {name!r}"
    try:
        with database.ask(f"{ordered} LIMIT 1"):
            pass
    except RecordsmithError:  # a table without row numbers has its rows in the order of its key
        ordered = every
    return QueryReader(database, ordered, text, database.times_of(name), place, split)
