"""Dates, times and durations: ISO text with zone and all digits, or whole numbers of a unit that was asked for."""

from __future__ import annotations

import datetime as dt
import json
import sqlite3
from typing import Any

import datasets
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import recordsmith as rs
from recordsmith.making.sources.detect import source_for
from tests.formats.loaded_rows import stored_rows

NOON = "2020-09-13T12:26:40"  # 1,600,000,000 seconds since 1970


def parquet_of(folder: Any, **columns: Any) -> str:
    pq.write_table(pa.table(columns), folder / "a.parquet", coerce_timestamps=None)
    return str(folder / "a.parquet")


def test_the_text_of_times_has_zone_and_all_digits(tmp_path):
    nanos = pa.array([1_600_000_000_123_456_789])
    path = parquet_of(
        tmp_path,
        plain=nanos.cast(pa.timestamp("ns")),
        utc=nanos.cast(pa.timestamp("ns", "UTC")),
        berlin=nanos.cast(pa.timestamp("ns", "Europe/Berlin")),
        day=pa.array([100], pa.int32()).cast(pa.date32()),
        clock=pa.array([1_600_000_000]).cast(pa.time64("ns")),
    )
    (row,) = stored_rows(rs.sources.parquet(path)).rows
    assert row == {
        "plain": f"{NOON}.123456789",
        "utc": f"{NOON}.123456789Z",
        "berlin": "2020-09-13T14:26:40.123456789+02:00",
        "day": "1970-04-11",
        "clock": "00:00:01.6",
    }


def test_durations_are_numbers_whose_unit_is_described(tmp_path):
    path = parquet_of(tmp_path, took=pa.array([1500, None]).cast(pa.duration("ms")))
    source = rs.sources.parquet(path)
    assert source.schema()["took"] == rs.Scalar("int64", optional=True, description="duration in milliseconds")
    assert stored_rows(source).column("took") == [1500, None]
    assert stored_rows(rs.sources.parquet(path, types={"took": "us"})).column("took") == [1_500_000, None]


@pytest.mark.parametrize("kind", ["parquet", "csv", "jsonl"])
def test_times_as_numbers_of_a_unit(kind, tmp_path):
    source: Any
    if kind == "parquet":
        micros = pa.array([1_600_000_000_000_000, None]).cast(pa.timestamp("us", "Europe/Berlin"))
        source = rs.sources.parquet(parquet_of(tmp_path, n=pa.array([1, 2]), when=micros), types={"when": "ms"})
    elif kind == "csv":
        (tmp_path / "a.csv").write_text("n,when\n1,2020-09-13 14:26:40+02:00\n2,\n")
        source = rs.sources.csv(tmp_path / "a.csv", types={"when": "ms"})
    else:
        lines = [{"n": 1, "when": f"{NOON}Z"}, {"n": 2}]
        (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        source = rs.sources.jsonl(tmp_path / "a.jsonl", types={"when": "ms"})
    feature = source.schema()["when"]
    assert feature == rs.Scalar("int64", optional=True, description="milliseconds since 1970-01-01T00:00:00 UTC")
    assert stored_rows(source).column("when") == [1_600_000_000_000, None]


def test_digits_that_a_unit_does_not_hold_are_refused(tmp_path):
    micros = pa.array([5_000_000, 5_000_001]).cast(pa.timestamp("us"))
    stored = stored_rows(rs.sources.parquet(parquet_of(tmp_path, when=micros), types={"when": "s"}))
    assert stored.column("when") == [5]
    assert stored.rejects[0].reason == "This is not a time that can be stored as an integer number of seconds."
    (tmp_path / "a.csv").write_text("when\n1970-01-01\n1969-12-31T23:59:59.5Z\n9999-12-31\nnever\n1970-02-30\n")
    stored = stored_rows(rs.sources.csv(tmp_path / "a.csv", types={"when": "ns"}))
    assert stored.column("when") == [0, -500_000_000]
    assert [reject.value for reject in stored.rejects] == ["9999-12-31", "never", "1970-02-30"]


def test_a_schema_with_a_whole_number_takes_the_unit_of_the_column(tmp_path):
    path = parquet_of(tmp_path, when=pa.array([1_600_000_000_000_000]).cast(pa.timestamp("us")))
    source = rs.sources.parquet(path, schema=rs.Schema({"when": rs.Scalar("int64")}))
    assert stored_rows(source).column("when") == [1_600_000_000_000_000]


def test_columns_without_times_have_no_unit(tmp_path):
    with pytest.raises(rs.SchemaError, match="This column does not hold times"):
        rs.sources.parquet(parquet_of(tmp_path, n=pa.array([1])), types={"n": "us"}).schema()


def test_arrays_of_durations_and_times(tmp_path):
    took = np.array([5, "NaT"], "timedelta64[ms]")
    when = np.array(["2020-09-13T12:26:40.5", "NaT"], "datetime64[ns]")
    source = rs.sources.arrays({"took": took})
    assert source.schema()["took"] == rs.Scalar("int64", optional=True, description="duration in milliseconds")
    rs.make(source, tmp_path / "a", shuffle=False)
    assert [row["took"] for row in rs.open(tmp_path / "a")] == [5, None]
    rs.make(rs.sources.arrays({"when": when[:1]}), tmp_path / "b")
    assert rs.open(tmp_path / "b")[0]["when"] == f"{NOON}.5"


STAMPS = [f"{NOON}.5", "1969-12-31T23:59:59.25", "2024-02-29T00:00:00"]


def typed_times(kind: str, folder: Any) -> Any:
    """The same times, as each source that has a type for times stores them."""
    values = [dt.datetime.fromisoformat(stamp) for stamp in STAMPS]
    if kind == "parquet":
        return parquet_of(folder, when=pa.array(values).cast(pa.timestamp("ns")))
    if kind == "feather":
        feather.write_feather(pa.table({"when": pa.array(values).cast(pa.timestamp("ms"))}), folder / "a.feather")
        return folder / "a.feather"
    if kind == "pandas":
        return pd.DataFrame({"when": pd.to_datetime(values)})
    if kind == "polars":
        return pl.DataFrame({"when": values})
    if kind == "numpy":
        return {"when": np.array(values, "datetime64[ns]")}
    if kind == "hugging face":
        return datasets.Dataset.from_dict({"when": values})
    if kind == "excel":
        pd.DataFrame({"when": values[:1] + values[2:]}).to_excel(folder / "a.xlsx", index=False)
        return folder / "a.xlsx"
    connection: Any = sqlite3.connect(folder / "a.db") if kind == "sqlite" else duckdb.connect(str(folder / "a.db"))
    connection.execute("CREATE TABLE t ('when' TIMESTAMP)" if kind == "sqlite" else 'CREATE TABLE t ("when" TIMESTAMP)')
    connection.executemany("INSERT INTO t VALUES (?)", [(str(value),) for value in values])
    connection.commit()
    connection.close()
    return folder / "a.db"


TYPED = ("parquet", "feather", "pandas", "polars", "numpy", "hugging face", "excel", "sqlite", "duckdb")


@pytest.mark.parametrize("kind", [*TYPED, "csv", "csv of pandas", "jsonl", "json"])
@pytest.mark.parametrize("unit", [None, "us"])
def test_times_have_one_meaning_from_every_source(kind, unit, tmp_path):
    source: Any
    if kind in TYPED:
        source = typed_times(kind, tmp_path)
    elif kind.startswith("csv"):
        frame = pd.DataFrame({"when": STAMPS})
        if kind != "csv":  # with a space, and as many digits as the longest has
            frame = pd.DataFrame({"when": pd.to_datetime([dt.datetime.fromisoformat(stamp) for stamp in STAMPS])})
        frame.to_csv(tmp_path / "a.csv", index=False)
        source = tmp_path / "a.csv"
    else:
        rows = [{"when": stamp} for stamp in STAMPS]
        text = json.dumps(rows) if kind == "json" else "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"a.{kind}").write_text(text)
        source = tmp_path / f"a.{kind}"
    stamps = STAMPS[:1] + STAMPS[2:] if kind == "excel" else STAMPS  # which has no times before 1900, and no fractions
    if unit is not None:
        if kind == "numpy":  # arrays take no unit: they are converted before
            return
        options: dict[str, Any] = {"types": {"when": unit}}
        given = (
            rs.sources.arrow(source, **options)
            if kind in ("pandas", "polars", "hugging face")
            else source_for(source, **options)
        )
        rs.make(given, tmp_path / "made", shuffle=False)
        epoch = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - times without a zone
        expected: list[Any] = [
            (dt.datetime.fromisoformat(stamp) - epoch) // dt.timedelta(microseconds=1) for stamp in stamps
        ]
        assert [row["when"].item() for row in rs.open(tmp_path / "made")] == expected
        return
    rs.make(source, tmp_path / "made", shuffle=False)
    stored = [row["when"] for row in rs.open(tmp_path / "made")]
    if kind == "csv of pandas":  # text stays what is written
        assert stored == (tmp_path / "a.csv").read_text().splitlines()[1:]
    else:
        assert stored == stamps
