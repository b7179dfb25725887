"""Whatever a number comes from: what is stored is the number that was written, or its row is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import recordsmith as rs

LITERALS = [
    "1e400",
    "-1e400",
    "1e9999999999999999999",
    "9" * 400,
    "9" * 5000,
    "1.8e308",
    "1e308",
    "1e23",
    "12345678901234567",
    "-9007199254740993",
    "9007199254740992",
    "9007199254740993.0",
    "1234567890123456789",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "123456789012345678901234567890",
    "16777217",
    "0.1",
    "-0",
    "5e-324",
]
BESIDE = {"whole": "7", "fractions": "0.5"}


def value_of(literal: str) -> Any:
    """The literal as Python has it: an int, a float, or the Decimal that neither holds."""
    if literal.strip("-").isdigit():
        return int(literal) if len(literal) < 4000 else Decimal(literal)
    number = float(literal)
    return number if np.isfinite(number) else Decimal(literal)


def is_kept(literal: str, stored: Any) -> bool:
    if isinstance(stored, str):
        return stored == literal
    if not np.isfinite(stored):
        return False
    with np.errstate(over="ignore"):
        rounded = (float(literal), float(np.float32(float(literal))))
    exact = Fraction(stored) == Fraction(Decimal(literal))
    return exact or (not literal.strip("-").isdigit() and stored in rounded)


def csv(folder: Path, literals: list[str], **options: Any) -> Any:
    (folder / "a.csv").write_text("n,zip\n" + "".join(f"{literal},02134\n" for literal in literals))
    return rs.sources.csv(folder / "a.csv", **options)


def jsonl(folder: Path, literals: list[str], **options: Any) -> Any:
    (folder / "a.jsonl").write_text("".join(f'{{"n": {literal}}}\n' for literal in literals))
    return rs.sources.jsonl(folder / "a.jsonl", **options)


def nested_jsonl(folder: Path, literals: list[str], **options: Any) -> Any:
    (folder / "a.jsonl").write_text("".join(f'{{"in": {{"n": [{literal}]}}}}\n' for literal in literals))
    return rs.sources.jsonl(folder / "a.jsonl", **options)


def rows(_: Path, literals: list[str], **options: Any) -> Any:
    return rs.sources.rows([{"n": value_of(literal)} for literal in literals], **options)


def parquet(folder: Path, literals: list[str], **options: Any) -> Any:
    pq.write_table(pa.table({"n": [value_of(literal) for literal in literals]}), folder / "a.parquet")
    return rs.sources.parquet(folder / "a.parquet", **options)


def decimals(folder: Path, literals: list[str], **options: Any) -> Any:
    column = pa.array([Decimal(literal) for literal in literals])
    pq.write_table(pa.table({"n": column}), folder / "a.parquet")
    return rs.sources.parquet(folder / "a.parquet", **options)


def arrays(_: Path, literals: list[str], **options: Any) -> Any:
    return rs.sources.arrays({"n": np.array([value_of(literal) for literal in literals])}, **options)


SOURCES: dict[str, Callable[..., Any]] = {
    "csv": csv,
    "jsonl": jsonl,
    "nested jsonl": nested_jsonl,
    "rows": rows,
    "parquet": parquet,
    "decimals": decimals,
    "arrays": arrays,
}
DECLARED = {
    "inferred": None,
    "int64": rs.Scalar("int64"),
    "uint64": rs.Scalar("uint64"),
    "float32": rs.Scalar("float32"),
    "float64": rs.Scalar("float64"),
}


def stored_after_making(source: Any, folder: Path, **options: Any) -> list[Any] | None:
    """What is in the dataset that a source makes; None if it is refused as a whole."""
    try:
        rs.make(source, folder / "out", shuffle=False, max_rejects=0.5, overwrite=True, **options)
    except rs.RecordsmithError:
        return None
    return [plain(row) for row in rs.open(folder / "out")]


def plain(row: dict[str, Any]) -> Any:
    value = row["n"] if "n" in row else row["in/n"]
    return value if isinstance(value, str) else np.asarray(value).reshape(()).item()


@pytest.mark.parametrize("declared", DECLARED)
@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("kind", SOURCES)
def test_a_number_is_stored_as_it_is_written_or_refused(kind, beside, declared, quick_path):
    feature = DECLARED[declared]
    if kind == "nested jsonl" and feature is not None:
        return
    if kind in ("parquet", "arrays") and beside == "fractions":
        return  # numpy and Arrow have made floats of all numbers before they come here
    for literal in LITERALS:
        literals = [*[BESIDE[beside]] * 20, literal]
        if declared in ("int64", "uint64"):
            literals = [*["7"] * 20, literal]
        try:
            source = SOURCES[kind](
                quick_path, literals, **({} if feature is None else {"schema": rs.Schema({"n": feature})})
            )
        except (rs.RecordsmithError, pa.ArrowException, OverflowError, ValueError, InvalidOperation):
            continue  # nothing to make a dataset of
        found = stored_after_making(source, quick_path)
        if found is None:
            continue
        assert len(found) in (20, 21)
        assert all(is_kept(literals[0], value) for value in found[:20])
        assert len(found) == 20 or is_kept(literal, found[20]), (literal, found[20])


@pytest.mark.parametrize("literal", ["12345678901234567", "1e400"])
@pytest.mark.parametrize("kind", ["csv", "jsonl", "nested jsonl"])
def test_a_number_that_no_float_holds_is_a_reject_with_a_way_out(kind, literal, quick_path):
    source = SOURCES[kind](quick_path, [*["0.5"] * 20, literal])
    made = rs.make(source, quick_path / "out", shuffle=False)
    assert (made.rows, made.rejects) == (20, 1)
    reject = json.loads((quick_path / "out/rejected.jsonl").read_text())
    assert reject["feature"] in ("n", "in/n")
    assert literal[:2] in reject["value"].lower()
    assert "cast=True" in reject["reason"]


def test_consent_rounds_it(quick_path):
    for kind in ("csv", "jsonl", "nested jsonl", "rows"):
        source = SOURCES[kind](quick_path, [*["0.5"] * 20, "12345678901234567"])
        assert stored_after_making(source, quick_path, cast=True) == [*[0.5] * 20, float(12345678901234567)]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "uint64"])
def test_rows_and_columns_that_are_written_keep_their_numbers(dtype, quick_path):
    schema = rs.Schema({"n": rs.Scalar(dtype)})
    for value in map(value_of, (literal for literal in LITERALS if len(literal) != 21)):
        for form in ([value], [value, 7], [7, value], np.array([value]), pd.Series([value], dtype=object)):
            path = quick_path / "a.tfrecord"
            try:
                with rs.RecordWriter(path) as writer:
                    writer.write_columns({"n": form}, schema)
                    if isinstance(form, list):
                        writer.write_rows([{"n": one} for one in form], schema)
            except rs.RecordsmithError:
                continue
            stored = [row["n"].item() for row in rs.open(path, schema=schema)]
            given = [*form, *form] if isinstance(form, list) else list(form)
            for one, kept in zip(given, stored, strict=True):
                wanted = float(np.dtype(dtype).type(one)) if isinstance(one, float) and dtype.startswith("f") else one
                assert Fraction(kept) == Fraction(wanted), (form, kept)


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
@pytest.mark.parametrize("literal", ["1e400", "12345678901234567", "9" * 400])
def test_exported_files_that_were_changed_do_not_bend_numbers(kind, literal, quick_path):
    with rs.write(quick_path / "in", rs.Schema({"n": rs.Scalar("float64"), "v": rs.Tensor("float32", (1,))})) as writer:
        writer.extend({"n": [0.5] * 20 + [77.5], "v": [[0.5]] * 20 + [[88.5]]})
    out = quick_path / f"out.{kind}"
    for old in ("77.5", "88.5"):
        rs.export(quick_path / "in", out, overwrite=True)
        out.write_text(out.read_text().replace(old, literal))
        made = rs.make(out, quick_path / "back", shuffle=False, overwrite=True)
        assert (made.rows, made.rejects) == (20, 1)


def test_the_type_of_a_column_does_not_depend_on_others(quick_path):
    ids = "".join(f"{1234567890123456789 + n},{n:03},{n}\n" for n in range(50))
    (quick_path / "a.csv").write_text("id,zip,n\n" + ids + "x,007,12\n")
    source = rs.sources.csv(quick_path / "a.csv")
    assert source.schema() == rs.Schema({"id": rs.Scalar("int64"), "zip": rs.Text(), "n": rs.Scalar("int64")})
    made = rs.make(source, quick_path / "out", shuffle=False)
    assert (made.rows, made.rejects) == (50, 1)
    assert [int(row["id"]) for row in rs.open(quick_path / "out")][:2] == [1234567890123456789, 1234567890123456790]


def test_whole_numbers_of_one_piece_keep_their_digits_beside_fractions_of_another(quick_path, monkeypatch):
    monkeypatch.setattr("recordsmith.formats.tables.lines.WINDOW", 256)
    (quick_path / "a.csv").write_text("n\n" + "20000001\n" * 100 + "0.5\n" * 100)
    assert rs.sources.csv(quick_path / "a.csv").schema()["n"] == rs.Scalar("float64")
    (quick_path / "b.csv").write_text("n\n" + "1234567890123456789\n" * 100 + "0.5\n" * 100)
    assert rs.sources.csv(quick_path / "b.csv").schema()["n"] == rs.Text()
