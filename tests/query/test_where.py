"""Conditions over rows: what they mean, alike for rows and for columns, and what is refused in which words."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recordsmith as rs
from recordsmith import _core
from recordsmith.query.where import compile_where
from recordsmith.schema.native import compile_plan

SCHEMA = rs.Schema(
    {
        "n": rs.Scalar("int64", optional=True),
        "x": rs.Scalar("float32", optional=True),
        "flag": rs.Scalar("bool"),
        "name": rs.Text(optional=True),
        "raw": rs.Bytes(),
        "label": rs.Label(["cat", "dog"], optional=True),
        "tokens": rs.Tensor("int64", (None,)),
        "image/height": rs.Scalar("int64"),
    }
)


@pytest.mark.parametrize(
    ("text", "row", "expected"),
    [
        ("x == 0.1", {"x": np.float32(0.1)}, True),
        ("n == 1.0 and not n != 1", {"n": np.int64(1)}, True),
        ("label == 'dog'", {"label": 1}, True),
        ("label in ['cat', 'dog']", {"label": 0}, True),
        ("label not in ('cat',)", {"label": 0}, False),
        ("label == 1", {"label": 1}, True),
        ("image/height > 3", {"image/height": 4}, True),
        ("`image/height` > 3", {"image/height": 3}, False),
        ("0 < n < 3", {"n": 2}, True),
        ("0 < n < 3", {"n": 3}, False),
        ("n is missing", {}, True),
        ("n is not missing", {"n": 0}, True),
        ("n is None", {"n": None}, True),
        ("not n > 3", {}, False),  # a missing value answers nothing, and neither does the opposite
        ("n > 3 or x > 3", {"x": 4.0}, True),
        ("len(tokens) == 2", {"tokens": np.array([1, 2])}, True),
        ("len(name) == 3", {"name": "für"}, True),
        ("max(tokens) - min(tokens) == 4", {"tokens": [1, 5, 3]}, True),
        ("mean(tokens) == 3", {"tokens": [1, 5, 3]}, True),
        ("mean(tokens) == 3", {"tokens": []}, False),
        ("sum(tokens) % 2 == 1", {"tokens": [1, 5, 3]}, True),
        ("any(tokens == 5)", {"tokens": [1, 5]}, True),
        ("all(tokens > 1)", {"tokens": [1, 5]}, False),
        ("all(tokens > 1)", {"tokens": []}, True),
        ("5 in tokens", {"tokens": [1, 5]}, True),
        ("'at' in name", {"name": "cat"}, True),
        ("name == 'cat'", {"name": b"cat"}, True),
        ("raw == b'\\xff'", {"raw": b"\xff"}, True),
        ("flag", {"flag": np.bool_(True)}, True),
        ("not flag", {"flag": np.bool_(True)}, False),
        ("n * 2 == 18446744073709551614", {"n": np.int64(2**63 - 1)}, True),  # no overflow
        ("n / 0 > 1", {"n": 3}, False),
        ("any(tokens <= x)", {"tokens": [1, 2], "x": np.float32("nan")}, False),
        (r"name == '\d'", {"name": "\\d"}, True),
        ("abs(n) == 3 and -n == 3", {"n": -3}, True),
    ],
)
def test_meaning(text: str, row: dict[str, object], expected: object) -> None:
    assert compile_where(text, SCHEMA).matches(row) is expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("labl == 'cat'", r"no feature 'labl', at column 1\. Did you mean 'label'"),
        ("n > 1 and labl == 2", r"no feature 'labl', at column 11"),
        ("image/heigth > 1", "Did you mean 'image/height'"),
        ("label == 'catt'", r"no class 'catt', at column 10\. Did you mean 'cat'"),
        ("label < 'dog'", "no order"),
        ("label = 'cat'", r"at column 7\..*\n.*\n.*'=='"),
        ("n > 1 & flag", "'and'"),
        ("n > 1 && flag", "'and'"),
        ("n == None", "is missing"),
        ("__import__('os')", "no function __import__"),
        ("lenn(name) > 1", r"Did you mean 'len'"),
        ("name.upper()", "no function"),
        ("name.x == 1", "not supported in a condition"),
        ("name[0] == 'a'", "not supported in a condition"),
        ("[n for n in tokens]", "not supported in a condition"),
        ("n ** 9", "operator that is not supported"),
        ("n if flag else x", "not supported in a condition"),
        ("`image/height > 3", "not closed"),
        ("", "empty"),
        ("(" * 500 + "n" + ")" * 500, "cannot be parsed"),
        ("not " * 300 + "flag", "nested too deeply|cannot be parsed"),
        ("n" + " " * 20_000, "too long"),
    ],
)
def test_refused(text: str, words: str) -> None:
    with pytest.raises(rs.PipelineError, match=words):
        compile_where(text, SCHEMA)


@pytest.mark.parametrize(
    ("text", "row", "words"),
    [
        ("name > 3", {"name": "cat"}, "cannot be compared"),
        ("tokens == 5", {"tokens": [1, 5]}, r"any\(\)"),
        ("tokens", {"tokens": [1, 5]}, "true or false"),
        ("n and flag", {"n": 3}, "not true or false"),
        ("name + 1 == 3", {"name": "cat"}, "not both numbers"),
        ("len(n) == 3", {"n": 3}, "single value"),
        ("max(n) == 3", {"n": 3}, "needs a list"),
    ],
)
def test_values_that_do_not_fit(text: str, row: dict[str, object], words: str) -> None:
    with pytest.raises(rs.PipelineError, match=words):
        compile_where(text, SCHEMA).matches(row)


def test_a_slash_between_features_is_ambiguous() -> None:
    names = ["a", "b", "a/b"]
    with pytest.raises(rs.PipelineError, match="or arithmetic"):
        compile_where("a/b > 1", names)
    row = {"a": 8, "b": 2, "a/b": 0}
    assert compile_where("a / b == 4 and `a/b` == 0", names).matches(row)


def test_keywords_and_other_names() -> None:
    row = {"class": 3, "my name": "x", "a-b": 1, "1st": 2}
    assert compile_where("class == 3 and `my name` == 'x' and a-b == 1 and 1st == 2", row).matches(row)


CONDITIONS = st.sampled_from(
    [
        "n > 1",
        "2 >= n",
        "n == 1.0",
        "n < 0.5",
        "n in (1, 2.0, 7)",
        "x <= 0.1",
        "x != 1",
        "x == 16777217",
        "flag == True",
        "flag != 0",
        "name == 'ab'",
        "name in ['', 'é']",
        "name != 'a'",
        "len(raw) > 1",
        "raw not in (b'', b'a')",
        "label == 'cat'",
        "label != 'dog'",
        "label is missing",
        "name is not missing",
        "len(tokens) > 1",
        "any(tokens == 1)",
        "'a' in name",
        "'' in name",
        "'é' not in name",
        "b'\\x00' in raw",
    ]
)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "n": st.none() | st.sampled_from([-1, 0, 1, 2, 2**53 + 1, 2**63 - 1]),
            "x": st.none() | st.sampled_from([0.0, 0.1, 1.0, 16777216.0, float("nan"), float("inf")]),
            "flag": st.booleans(),
            "name": st.none() | st.sampled_from(["", "a", "ab", "é"]),
            "raw": st.sampled_from([b"", b"a", b"\xff\x00"]),
            "label": st.none() | st.sampled_from([0, 1]),
            "tokens": st.lists(st.integers(0, 2), max_size=3),
            "image/height": st.just(1),
        }
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=150, deadline=None)
@given(first=CONDITIONS, second=CONDITIONS, join=st.sampled_from(["and", "or", "and not", "or not"]), rows=ROWS)
def test_columns_answer_as_rows_do(first: str, second: str, join: str, rows: list[dict[str, object]]) -> None:
    sink = _core.RecordSink()
    columns = {name: [row[name] for row in rows] for name in SCHEMA}
    count, parts = SCHEMA.columns_to_parts(columns)
    sink.append_columns(compile_plan(SCHEMA), parts, count)
    batch = SCHEMA.assemble(_core.decode_frames(compile_plan(SCHEMA), *sink.take()))
    where = compile_where(f"not ({first}) {join} ({second})", SCHEMA)
    singly = [
        where.matches({name: feature.row(batch[name], row) for name, feature in SCHEMA.items()})
        for row in range(len(rows))
    ]
    assert where.mask(batch, len(rows)).tolist() == singly


def test_whole_columns_are_compared_without_looking_at_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    def looked_at(*_: object) -> None:
        raise AssertionError("a row was looked at")

    monkeypatch.setattr("recordsmith.query.where._value", looked_at)
    column = np.arange(4)
    assert compile_where("n > 1 and n != 3", ["n"]).mask({"n": column}, 4).tolist() == [False, False, True, False]
    text = rs.ByteColumn(b"a catno dog", [0, 5, 5, 11], text=True, present=[True, False, True])
    assert compile_where("'cat' in t", ["t"]).mask({"t": text}, 3).tolist() == [True, False, False]
    assert compile_where("'tn' in t or 'dog' not in t", ["t"]).mask({"t": text}, 3).tolist() == [True, False, False]
