"""Each value means one thing in each feature type, or is refused with an error that says everything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recordsmith as rs
from docs import refresh_values
from recordsmith.errors import EncodeError
from recordsmith.schema import Feature, Schema
from tests.schema.value_cases import CAST_CASES, COLUMN_CASES, FEATURES, ROW_CASES, ColumnCase, RowCase, plain

CASES = [case for group in ROW_CASES.values() for case in group]
GOOD = {
    "int64": 5,
    "uint8": 5,
    "float32": 5,
    "bool": 1,
    "floats": [5],
    "matrix": [[5, 5], [5, 5]],
    "shaped": [[5]],
    "text": "a",
    "texts": ["a"],
    "bytes": b"a",
    "label": 0,
    "image": np.zeros((1, 1, 3), np.uint8),
    "sparse": {},
    "packed": bytes(9),
    "steps": [5],
}


def same(found: Any, expected: Any, folder: Path) -> bool:
    if isinstance(found, str) and str(folder) in found:
        found = Path(found).name
    return bool(found == expected) or (found != found and expected != expected)  # noqa: PLR0124 - NaN


def written(path: Path, name: str, feature: Feature, rows: list[Any], *, as_columns: bool) -> list[Any]:
    schema = Schema({"x": feature})
    with rs.RecordWriter(path, sync=False) as writer:
        if as_columns:
            writer.write_columns({"x": rows}, schema)
        else:
            writer.write_rows([{"x": row} for row in rows], schema)
    return [plain(FEATURES[name], row["x"]) for row in rs.open(path, schema=schema)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_value_in_every_feature(case: RowCase, tmp_path: Path) -> None:
    for name, feature in FEATURES.items():
        for as_columns in (False, True):
            if name in case.takes:
                rows = written(
                    tmp_path / "data", name, feature, [case.make(tmp_path), GOOD[name]], as_columns=as_columns
                )
                assert same(rows[0], case.takes[name], tmp_path), (name, as_columns, rows[0])
                continue
            with pytest.raises(EncodeError) as caught:
                written(tmp_path / "data", name, feature, [GOOD[name], case.make(tmp_path)], as_columns=as_columns)
            error = caught.value
            assert (error.row, error.feature) == (1, "x"), (name, as_columns, str(error))
            assert error.found is not None, (name, as_columns, str(error))
            assert error.expected is not None, (name, as_columns, str(error))
            assert error.advice is not None, (name, as_columns, str(error))
            assert error.problem.startswith("A required feature") == case.missing, (name, as_columns, str(error))


@pytest.mark.parametrize("case", [case for case in CASES if case.missing], ids=str)
def test_what_stands_for_no_value_is_absent_where_that_is_allowed(case: RowCase, tmp_path: Path) -> None:
    for name, feature in FEATURES.items():
        settings = {key: value for key, value in feature.to_json().items() if key != "type"}
        optional = type(feature).from_json({**settings, "optional": True})
        for as_columns in (False, True):
            rows = [GOOD[name], case.make(tmp_path)]
            assert written(tmp_path / "data", name, optional, rows, as_columns=as_columns)[1] is None


@pytest.mark.parametrize("case", COLUMN_CASES, ids=str)
def test_a_column_in_every_feature(case: ColumnCase, tmp_path: Path) -> None:
    for name, feature in FEATURES.items():
        if name in case.takes:
            rows = written(tmp_path / "data", name, feature, case.make(), as_columns=True)
            assert rows == case.takes[name], name
            continue
        with pytest.raises(EncodeError) as caught:
            Schema({"x": feature}).columns_to_parts({"x": case.make()})
        assert caught.value.feature == "x"
        assert caught.value.expected is not None, (name, str(caught.value))
        assert caught.value.advice is not None, (name, str(caught.value))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("values")


@settings(max_examples=400, deadline=None)
@given(
    feature=st.sampled_from(list(FEATURES.values())),
    cases=st.lists(st.sampled_from(CASES), min_size=1, max_size=3),
    optional=st.booleans(),
    cast=st.booleans(),
)
def test_values_mean_the_same_beside_others(
    folder: Path, feature: Feature, cases: list[RowCase], *, optional: bool, cast: bool
) -> None:
    if optional:
        settings_of = {key: value for key, value in feature.to_json().items() if key != "type"}
        feature = type(feature).from_json({**settings_of, "optional": True})
    wrong = []
    for row, case in enumerate(cases):
        try:
            feature.value_to_canonical(case.make(folder), cast=cast)
        except EncodeError:
            wrong.append(row)
    column = [case.make(folder) for case in cases]
    if not wrong:
        feature.column_to_parts(column, len(cases), cast=cast)
        return
    with pytest.raises(EncodeError) as caught:
        feature.column_to_parts(column, len(cases), cast=cast)
    assert caught.value.row in wrong


@pytest.mark.parametrize(("shown", "value", "dtype", "result"), CAST_CASES, ids=str)
def test_loss_is_refused_unless_allowed(shown: str, value: Any, dtype: Any, result: Any) -> None:
    feature = rs.Scalar(dtype, storage="bytes")
    with pytest.raises(EncodeError, match="cast=True"):
        feature.column_to_parts([value])
    stored = feature.column_to_parts([value], cast=True)[0][0].view(dtype)
    assert stored.reshape(()).item() == result


def test_the_table_is_up_to_date() -> None:
    assert refresh_values.PAGE.read_text() == refresh_values.page(), "run: python docs/refresh_values.py"
