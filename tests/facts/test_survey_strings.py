from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from recordsmith.facts.survey import survey
from tests.facts.surveying import same_for_all_threads, small_units, write_rows

TEXTS = [
    b"cat", b"dog", b" cat", b"dog\n", b"", "Grüße".encode(), "\u3000wide".encode(), "no-break\u00a0".encode(),
    b"\x00\x01\x02", b"a\x07bell", b"\xff\xfe", b"\xc3(", "\ud7ff".encode(), b"tab\tinside", b"x" * 1000,
]  # fmt: skip


def text_facts(values: list[bytes]) -> dict[str, int]:
    """What Python says of the same strings."""
    found: Counter[str] = Counter()
    for value in values:
        try:
            text = value.decode()
        except UnicodeDecodeError:
            continue
        if any((ord(letter) < 32 or letter == "\x7f") and letter not in "\t\n\v\f\r" for letter in text):
            found["control"] += 1
            continue
        found["utf8"] += 1
        found["ascii"] += text.isascii()
        found["leading_space"] += text[:1].isspace()
        found["trailing_space"] += text[-1:].isspace()
    return dict(found)


def test_texts_are_told_from_bytes(tmp_path: Path) -> None:
    values = TEXTS * 3
    facts = same_for_all_threads(write_rows(tmp_path / "a", ({"t": value} for value in values)))
    feature = facts.feature("t")
    assert feature is not None
    strings = feature.strings
    assert strings is not None
    assert {name: getattr(strings, name) for name in text_facts(values)} == text_facts(values)
    assert (strings.count, strings.bytes, strings.empty) == (len(values), sum(map(len, values)), 3)
    assert (strings.lengths.min, strings.lengths.max) == (0, 1000)
    assert feature.distinct == len(TEXTS)
    assert {one.value: one.count for one in feature.frequent} == {text: 3 for text in TEXTS if len(text) <= 128}
    assert strings.encoding == "mixed"


def test_many_different_strings_are_estimated_and_frequent_ones_found(tmp_path: Path, monkeypatch) -> None:
    small_units(monkeypatch, 100_000)
    random = np.random.default_rng(3)
    values = [b"often" if random.random() < 0.1 else b"value %d" % random.integers(10**9) for _ in range(12_000)]
    facts = same_for_all_threads(write_rows(tmp_path / "a", ({"t": value} for value in values)))
    feature = facts.feature("t")
    assert feature is not None
    distinct = len(set(values))
    assert not feature.distinct_exact
    assert abs(feature.distinct - distinct) <= feature.distinct_error * distinct
    assert [one.value for one in feature.frequent] == [b"often"]
    assert 0.9 * values.count(b"often") <= feature.frequent[0].count <= values.count(b"often")


def test_names_that_are_no_text_do_not_stop_it(tmp_path: Path) -> None:
    facts = survey(write_rows(tmp_path / "a", [{"Größe/läßt": 1, "": 2}]))
    assert {feature.name for feature in facts.features} == {"Größe/läßt", ""}


def test_categories_are_all_there_where_texts_repeat(tmp_path: Path) -> None:
    values = [b"class %d" % (number % 60) for number in range(600)]
    feature = survey(write_rows(tmp_path / "a", ({"t": value} for value in values))).feature("t")
    assert feature is not None
    assert feature.frequent == ()  # none stands out
    assert {one.value: one.count for one in feature.categories} == {b"class %d" % number: 10 for number in range(60)}
    different = survey(write_rows(tmp_path / "b", ({"t": b"text %d" % number} for number in range(90)))).feature("t")
    assert different is not None
    assert different.categories == ()
