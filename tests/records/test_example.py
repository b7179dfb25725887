"""encode_example and its kin: which Python values they take, what those become, and what they say of the others."""

from __future__ import annotations

import datetime as dt
import decimal
from collections import UserDict
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import recordsmith as rs

BIG = 2**63

# What comes out is an array or a list, by what went in: each test knows which.
decode_example: Any = rs.decode_example
decode_sequence_example: Any = rs.decode_sequence_example


def shown(value: Any) -> str:
    """A test's id: the value, unless its repr holds an address or does not print."""
    text = repr(value)
    return text if text.isascii() and text.isprintable() and " at 0x" not in text else type(value).__name__


def decoded(value: Any) -> Any:
    """What a value is after it was stored and read."""
    return decode_example(rs.encode_example({"x": value}))["x"]


@pytest.mark.parametrize(
    ("value", "numbers"),
    [
        (0, [0]),
        (3, [3]),
        (-1, [-1]),
        (BIG - 1, [BIG - 1]),
        (-BIG, [-BIG]),
        (True, [1]),
        (np.int64(5), [5]),
        (np.uint8(255), [255]),
        (np.bool_(True), [1]),
        (np.uint64(BIG - 1), [BIG - 1]),
        ([1, 2, 3], [1, 2, 3]),
        ((1, 2), [1, 2]),
        ([True, False], [1, 0]),
        ([1, True], [1, 1]),
        ([np.int32(1), 2], [1, 2]),
        ([np.uint64(1), -1], [1, -1]),
        ([[1, 2], [3, 4]], [1, 2, 3, 4]),
        (range(3), [0, 1, 2]),
        (np.arange(6).reshape(2, 3), [0, 1, 2, 3, 4, 5]),
        (np.arange(6)[::2], [0, 2, 4]),
        (np.arange(6).reshape(2, 3).T, [0, 3, 1, 4, 2, 5]),
        (np.array([1, 2], np.int8), [1, 2]),
        (np.array([1, 2], ">i8"), [1, 2]),
        (np.array([1, 2], np.uint64), [1, 2]),
        (np.array([True, False]), [1, 0]),
        (np.array(7), [7]),
        (np.empty(0, np.int64), []),
        (np.array([1, 2], object), [1, 2]),
    ],
    ids=shown,
)
def test_whole_numbers_become_an_int64_list(value: Any, numbers: list[int]):
    found = decoded(value)
    assert found.dtype == np.int64
    assert found.tolist() == numbers


@pytest.mark.parametrize(
    ("value", "numbers"),
    [
        (1.5, [1.5]),
        (-0.0, [-0.0]),
        (float("inf"), [float("inf")]),
        (np.float32(0.1), [float(np.float32(0.1))]),
        (np.float64(0.1), [float(np.float32(0.1))]),
        (np.float16(0.5), [0.5]),
        ([1.5, 2], [1.5, 2.0]),
        ([1, 2.5], [1.0, 2.5]),
        ([1.5, True], [1.5, 1.0]),
        ([0.5, 2**24 + 2], [0.5, 2.0**24 + 2]),
        (np.array([1.5, 2.5]), [1.5, 2.5]),
        (np.array([[1.5], [2.5]], np.float32), [1.5, 2.5]),
        (np.array([1.5, 2.5], ">f4"), [1.5, 2.5]),
        (np.array([1.5, 9, 2.5], np.float32)[::2], [1.5, 2.5]),
        (np.empty(0, np.float32), []),
        (1e-50, [0.0]),
    ],
    ids=shown,
)
def test_floats_become_a_float_list(value: Any, numbers: list[float]):
    found = decoded(value)
    assert found.dtype == np.float32
    assert found.tolist() == numbers
    assert np.signbit(found).tolist() == np.signbit(numbers).tolist()


def test_nan_stays_nan():
    assert np.isnan(decoded(float("nan"))).all()
    assert np.isnan(decoded([1.0, float("nan")])).tolist() == [False, True]


@pytest.mark.parametrize(
    ("value", "strings"),
    [
        (b"foo", [b"foo"]),
        (b"", [b""]),
        (b"a\0", [b"a\0"]),
        ("foo", [b"foo"]),
        ("", [b""]),
        ("é漢\0", "é漢\0".encode()),
        (bytearray(b"foo"), [b"foo"]),
        (memoryview(b"foo"), [b"foo"]),
        ([b"a", b"bc"], [b"a", b"bc"]),
        (["a", "é"], [b"a", "é".encode()]),
        (["a", b"b"], [b"a", b"b"]),
        ((b"a\0", b"b"), [b"a\0", b"b"]),
        ([["a"], ["b"]], [b"a", b"b"]),
        ([bytearray(b"ab")], [b"ab"]),
        ([memoryview(b"a"), bytearray(b"bc"), b"d"], [b"a", b"bc", b"d"]),
        (np.array(["a", "bc"]), [b"a", b"bc"]),
        (np.array([b"a", b"bc"]), [b"a", b"bc"]),
        (np.array(["a", b"b\0"], object), [b"a", b"b\0"]),
        (np.str_("foo"), [b"foo"]),
        (np.bytes_(b"foo"), [b"foo"]),
    ],
    ids=shown,
)
def test_strings_become_a_bytes_list(value: Any, strings: Any):
    assert decoded(value) == (strings if isinstance(strings, list) else [strings])


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (BIG, "outside int64"),
        (-BIG - 1, "outside int64"),
        ([1, BIG], "int64"),
        ([-1, BIG], "int64"),
        (2**64, "outside int64"),
        (np.array([BIG], np.uint64), "above the largest int64"),
        (1e39, "too large for float32"),
        ([1.0, -1e39], "too large for float32"),
        (np.array([1e39]), "too large for float32"),
        (1j, "complex"),
        (np.array([1j]), "complex"),
        (object(), "the type object"),
        ([1, "a"], "int|str"),
        (["a", 1], "int|str"),
        (["a", None], "NoneType"),
        ([1, None], "NoneType"),
        ([0.5, None], "NoneType"),
        (np.ma.array([1, 2], mask=[False, True]), "masked"),
        ({"a": 1}, "the type dict"),
        ({1, 2}, "the type set"),
        ([[1, 2], [3]], "different lengths"),
        ("\ud800", "lone surrogate"),
        (["a", "\ud800"], "lone surrogate"),
        (dt.datetime(2020, 1, 1), "the type datetime"),  # noqa: DTZ001 - any would do
        (np.datetime64("2020-01-01"), "datetime64"),
        (decimal.Decimal(1), "the type Decimal"),
    ],
    ids=shown,
)
def test_values_that_an_example_cannot_hold(value: Any, said: str):
    with pytest.raises(rs.EncodeError, match=said) as caught:
        rs.encode_example({"fine": 1, "x": value})
    assert caught.value.feature == "x"
    assert caught.value.advice
    with pytest.raises(rs.EncodeError, match=said):
        rs.encode_sequence_example({}, {"x": [1, value]})


@pytest.mark.parametrize("value", [[], (), [[]], [[], []]])
def test_an_empty_list_has_no_kind(value: Any):
    with pytest.raises(rs.EncodeError, match="cannot be inferred") as caught:
        rs.encode_example({"x": value})
    assert "np.empty(0, np.int64)" in str(caught.value)


def test_an_empty_array_has_the_kind_of_its_dtype():
    assert decoded(np.empty(0, np.float64)).dtype == np.float32
    assert decoded(np.empty((0, 3), np.uint8)).dtype == np.int64
    assert decoded(np.empty(0, "S1")) == []


def test_none_is_left_out():
    assert decode_example(rs.encode_example({"a": None, "b": 1})).keys() == {"b"}
    assert rs.encode_example({"a": None}) == rs.encode_example({}) == b""


@pytest.mark.parametrize("mapping", [UserDict({"b": 2, "a": 1}), MappingProxyType({"b": 2, "a": 1})])
def test_any_mapping_will_do(mapping: Any):
    assert rs.encode_example(mapping) == rs.encode_example({"a": 1, "b": 2})


def test_the_order_of_a_mapping_does_not_show():
    names = ["b", "a", "c", "", "ab", "é"]
    forward = rs.encode_example(dict.fromkeys(names, 1))
    assert forward == rs.encode_example(dict.fromkeys(reversed(names), 1))
    assert list(decode_example(forward)) == sorted(names)


@pytest.mark.parametrize("mapping", [[("a", 1)], "a", None, 5])
def test_not_a_mapping(mapping: Any):
    with pytest.raises(rs.EncodeError, match="a mapping of names to values"):
        rs.encode_example(mapping)
    with pytest.raises(rs.EncodeError, match="a mapping of names to values"):
        rs.encode_sequence_example(mapping)


@pytest.mark.parametrize("steps", [3, "text", b"bytes", None])
def test_a_feature_list_is_a_list_of_steps(steps: Any):
    with pytest.raises(rs.EncodeError, match="one entry for each step") as caught:
        rs.encode_sequence_example({}, {"words": steps})
    assert caught.value.feature == "words"


@pytest.mark.parametrize("name", [5, None, b"a", ("a",)])
def test_names_are_strings(name: Any):
    with pytest.raises((TypeError, rs.EncodeError), match="name must be a str"):
        rs.encode_example({name: 1})


def test_a_name_that_utf8_cannot_hold():
    with pytest.raises(ValueError, match="surrogate"):
        rs.encode_example({"\ud800": 1})


@pytest.mark.parametrize("name", ["", "é漢", "a\0b", "k" * 300, "b*has+a:tricky_name"])
def test_any_text_is_a_name(name: str):
    assert decode_example(rs.encode_example({name: 1})).keys() == {name}


@pytest.mark.parametrize("count", [1, 2, 15, 16, 17, 127, 128, 20_000])
def test_lists_of_any_length(count: int):
    numbers = list(range(-count // 2, count - count // 2))
    assert decoded(numbers).tolist() == numbers
    assert decoded([float(number) for number in numbers]).tolist() == numbers
    strings = [b"x" * (number % 200) for number in range(count)]
    assert decoded(strings) == strings


def test_decoded_arrays_are_their_own():
    payload = rs.encode_example({"x": [1, 2, 3]})
    first, second = decode_example(payload)["x"], decode_example(payload)["x"]
    first[0] = 100
    assert second.tolist() == [1, 2, 3]
    assert decode_example(payload)["x"].tolist() == [1, 2, 3]


def test_decoded_arrays_outlive_their_payload():
    kept = [decode_example(rs.encode_example({"x": list(range(n, n + 50))}))["x"] for n in range(200)]
    assert [array.tolist() for array in kept] == [list(range(n, n + 50)) for n in range(200)]


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_payloads_of_any_bytes_type(kind: Any):
    payload = rs.encode_example({"x": 1})
    assert decode_example(kind(payload))["x"].tolist() == [1]
    context, _ = decode_sequence_example(kind(rs.encode_sequence_example({"x": 1})))
    assert context["x"].tolist() == [1]


@pytest.mark.parametrize("payload", ["text", None, 5, [1]])
def test_payloads_are_bytes(payload: Any):
    for decode in (decode_example, decode_sequence_example):
        with pytest.raises(TypeError, match="a payload must be bytes"):
            decode(payload)


def test_a_payload_that_does_not_parse_names_the_feature():
    payload = bytes.fromhex("0a0d0a0b0a016112061a040a020180")  # a list of numbers whose last one is cut off
    with pytest.raises(rs.CorruptRecordError, match=r"feature 'a'"):
        decode_example(payload)


# --- SequenceExamples ---


def test_a_sequence_example_and_back():
    context, lists = decode_sequence_example(
        rs.encode_sequence_example(
            {"id": 7, "name": "a", "absent": None},
            {
                "tokens": [[1, 2], [3]],
                "scores": [0.5, 1.5],
                "words": ["a", ["b", "c"]],
                "gap": [1, None, 2],
                "none": [],
            },
        )
    )
    assert context["id"].tolist() == [7]
    assert context["name"] == [b"a"]
    assert context.keys() == {"id", "name"}
    assert [step.tolist() for step in lists["tokens"]] == [[1, 2], [3]]
    assert [step.tolist() for step in lists["scores"]] == [[0.5], [1.5]]
    assert lists["words"] == [[b"a"], [b"b", b"c"]]
    assert lists["gap"][1] is None
    assert lists["none"] == []


def test_steps_may_come_from_any_iterable():
    from_list = rs.encode_sequence_example({}, {"x": [[1, 2], [3, 4]]})
    others: list[Any] = [np.array([[1, 2], [3, 4]]), ([1, 2], [3, 4])]
    for steps in others:
        assert rs.encode_sequence_example({}, {"x": steps}) == from_list


def test_a_sequence_example_without_anything():
    assert rs.encode_sequence_example({}) == rs.encode_sequence_example({}, {}) == b""
    assert decode_sequence_example(b"") == ({}, {})
