"""Values in a few characters."""

from __future__ import annotations

import numpy as np
import pytest

from recordsmith.terminal.values.hex_dump import hex_dump
from recordsmith.terminal.values.short_values import middle_left_out, quoted, short_value, summary_of_values
from recordsmith.wording.numbers import bytes_text, number_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "absent"),
        ("", '""'),
        ('a "b"\\', '"a \\"b\\"\\\\"'),
        ("\x1b[31m\u202e\n\t\x00", '"\\x1b[31m\\u202e\\n\\t\\x00"'),
        ("\udcff", '"\\udcff"'),
        (b"", 'b""'),
        (b"abc", 'b"abc"'),
        (b"\x00\xff", "2 bytes: 00 ff"),
        (np.int64(-3), "-3"),
        (np.float32(0.1), "0.1"),
        (np.float32("nan"), "nan"),
        (np.bool_(True), "1"),
        (np.complex64(1 + 2j), "1+2j"),
        (np.array([], np.float32), "[]"),
        (np.array([1, 2, 3]), "[1, 2, 3]"),
        (np.arange(9), "[0, 1, 2, 3, 4, 5, 6, 7, …] 9 values, 0..8"),
        (np.array([np.nan, 1.0] * 5), "[nan, 1, nan, 1, nan, 1, nan, 1, …] 10 values, all 1, 5 NaN"),
        (np.zeros((2, 3), np.uint8), "2×3 uint8, all 0"),
        (np.zeros((0, 3), np.uint8), "0×3 uint8"),
        ([], "[]"),
        (["a", "b"], '["a", "b"]'),
        (["a"] * 6, '["a", "a", "a", "a", …] 6 in all'),
        ([np.arange(2), np.arange(3)], "2 steps  [0, 1], [0, 1, 2]"),
        ([np.int64(1), None], "2 steps  1, absent"),
    ],
)
def test_short_values(value, text):
    assert short_value(value).plain == text


@pytest.mark.parametrize("width", [5, 12, 26, 60])
@pytest.mark.parametrize("value", ["x" * 1000, b"x" * 1000, bytes(1000), ["x" * 1000] * 9, np.arange(10_000)])
def test_long_values_are_cut(value, width):
    assert len(short_value(value, width).plain) < 60 + 2 * width


def test_quotes_close_after_the_cut():
    assert quoted("a" * 50, 10) == '"aaaaaaa…"'
    assert len(quoted("\x00" * 50, 10)) <= 11


def test_summaries():
    assert summary_of_values([]).plain == ""
    assert summary_of_values([np.int64(0)] * 5).plain == "all 0"
    assert summary_of_values([b"a, b", b"c"]).plain == 'b"a, b"; b"c"'
    assert summary_of_values([["a"], ["a", "b"]]).plain == '["a"]; ["a", "b"]'
    assert summary_of_values([[], []]).plain == "[]"


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 bytes"), (1000, "1.00 KB"), (999_499, "999 KB"), (999_500, "1.00 MB"), (2**70, "1180592 PB")],
)
def test_sizes(count, text):
    assert bytes_text(count) == text


def test_numbers():
    assert [number_text(number) for number in (1e10, 1e-10, -0.0, float("inf"), 2**63)] == [
        "1e+10",
        "1e-10",
        "-0",
        "inf",
        "9223372036854775808",
    ]


def test_names_keep_their_end():
    assert middle_left_out("short", 10) == "short"
    assert middle_left_out("image/object/bbox/ymin", 12).endswith("ox/ymin")
    assert len(middle_left_out("image/object/bbox/ymin", 12)) == 12


def test_hex_dump_fits_eighty_columns():
    lines = hex_dump(bytes(range(256)), 100)
    assert max(map(len, lines)) <= 78
    assert lines[-1] == "… 156 more bytes"
    assert hex_dump(b"") == []
