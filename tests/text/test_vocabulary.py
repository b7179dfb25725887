from __future__ import annotations

import json
import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recordsmith as rs
from recordsmith.text import Vocabulary

TEXTS = ["The cat sat.", "The dog, the cat!", "", "a bird"]


def test_ids_follow_the_counts_and_the_later_word_wins_a_tie():
    vocabulary = Vocabulary.fit(TEXTS)
    assert vocabulary.words == ["", "[UNK]", "the", "cat", "sat", "dog", "bird", "a"]
    assert vocabulary.counts.tolist() == [0, 0, 3, 2, 1, 1, 1, 1]


def test_size_counts_padding_and_unknown():
    vocabulary = Vocabulary.fit(TEXTS, size=4)
    assert len(vocabulary) == 4
    assert vocabulary.counts.tolist() == [0, 4, 3, 2]
    assert vocabulary.encode(["the bird"]).to_list() == [[2, 1]]


def byte_column(texts: list[str]) -> rs.ByteColumn:
    lengths = [len(text.encode()) for text in texts]
    return rs.ByteColumn("".join(texts).encode(), np.cumsum([0, *lengths]), text=True)


@pytest.mark.parametrize(
    "source",
    [
        TEXTS,
        tuple(TEXTS),
        (text for text in TEXTS),
        [text.encode() for text in TEXTS],
        np.array(TEXTS),
        np.array(TEXTS, object),
        byte_column(TEXTS),
        byte_column(["x", *TEXTS])[1:],
        [TEXTS[:1], byte_column(TEXTS[1:])],
        [None, *TEXTS],
        rs.Ragged(byte_column(["x", *TEXTS]), [1, 3, 5]),
        pa.array(TEXTS),
        pa.chunked_array([TEXTS[:2], TEXTS[2:]]),
    ],
    ids=lambda source: type(source).__name__,
)
def test_texts_come_in_many_forms(source: Any):
    assert Vocabulary.fit(source) == Vocabulary.fit(TEXTS)


@pytest.mark.parametrize(
    "source",
    [
        {"text": TEXTS, "n": range(4)},
        [{"text": text, "n": 1} for text in TEXTS],
        [{"text": byte_column(TEXTS[:2])}, {"text": byte_column(TEXTS[2:])}],
    ],
    ids=["columns", "rows", "batches"],
)
def test_texts_are_found_by_name(source: Any):
    assert Vocabulary.fit(source, "text") == Vocabulary.fit(TEXTS)


@pytest.mark.parametrize("shape", [(), (None,)])
def test_a_dataset_is_a_source(shape: tuple[None, ...], tmp_path: Path):
    path = tmp_path / "data.tfrecord"
    column = [[text] for text in TEXTS] if shape else TEXTS
    with rs.RecordWriter(path) as writer:
        writer.write_columns(
            {"text": column, "n": range(4)}, rs.Schema({"text": rs.Text(shape), "n": rs.Scalar("int64")})
        )
    assert Vocabulary.fit(rs.open(path), "text", 5) == Vocabulary.fit(TEXTS, size=5)


def test_encode_takes_what_fit_takes_and_keeps_absent_rows():
    vocabulary = Vocabulary.fit(TEXTS)
    expected = [[2, 3, 4], [2, 5, 2, 3], [], [7, 6]]
    for texts in (TEXTS, byte_column(TEXTS), np.array(TEXTS), pa.array(TEXTS)):
        assert vocabulary.encode(texts).to_list() == expected
    absent = byte_column(TEXTS)[[0, 2]]
    absent = rs.ByteColumn(absent.data, absent.offsets, text=True, present=[True, False])
    assert vocabulary.encode(absent).to_list() == [[2, 3, 4], None]
    assert vocabulary.encode(["cat", None]).to_list() == [[3], None]
    assert vocabulary.encode([]).to_list() == []


def test_more_text_than_is_cut_at_once():
    texts = [f"{number} word " * 2000 for number in range(100)]
    vocabulary = Vocabulary.fit(texts)
    assert sum(map(len, texts)) > 4 * 2**18
    assert vocabulary.counts.tolist() == [0, 0, 200_000, *[2000] * 100]
    ids = vocabulary.encode(texts)
    assert ids.lengths.tolist() == [4000] * 100
    assert vocabulary.decode(ids[73]).split() == texts[73].split()
    assert vocabulary.encode(texts, max_length=3).lengths.tolist() == [3] * 100


def test_decode():
    vocabulary = Vocabulary.fit(TEXTS)
    assert vocabulary.decode([2, 3, 1, 0, 0]) == "the cat [UNK]"
    assert vocabulary.decode(np.array([[2, 0], [3, 3]])) == ["the", "cat cat"]
    assert vocabulary.decode(vocabulary.encode(["THE cat", "", None])) == ["the cat", "", None]
    assert vocabulary.decode([]) == ""
    characters = Vocabulary.fit(["héllo"], split="character")
    assert characters.decode(characters.encode_one("hello")) == "h[UNK]llo"
    for wrong in ([99], [-1], [1.5]):
        with pytest.raises(rs.PipelineError, match="not in this vocabulary"):
            vocabulary.decode(wrong)


@pytest.mark.parametrize("split", ["whitespace", "character"])
def test_saved_and_loaded_it_is_the_same(split: Any, tmp_path: Path):
    texts = ["Ünïcode “quotes”, 日本 \U0001f600", b"not \xff\xfe utf8", "the the"]
    vocabulary = Vocabulary.fit(texts, split=split, standardize="lower")
    vocabulary.save(tmp_path / "vocabulary.json")
    loaded = Vocabulary.load(tmp_path / "vocabulary.json")
    assert loaded == vocabulary
    assert loaded.encode(texts) == vocabulary.encode(texts)
    assert loaded.standardize == "lower"
    assert loaded.split == split
    assert json.loads(vocabulary.to_text()) == vocabulary.to_json()
    (tmp_path / "vocabulary.json").read_text(encoding="utf-8")
    assert pickle.loads(pickle.dumps(vocabulary)) == vocabulary


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "not a recordsmith vocabulary"),
        ({"version": 2}, "version 2"),
        ({"surplus": 1}, "unknown or missing"),
        ({"words": 3}, "unknown or missing"),
        ({"words": ["a", "b", "c"]}, 'start with "" and'),
        ({"words": ["", "[UNK]", 3]}, "must be strings"),
        ({"words": ["", "[UNK]", "[UNK]"]}, "in the vocabulary twice"),
        ({"counts": [1]}, "one count for each"),
        ({"counts": [0, 0, "x"]}, "integers"),
        ({"undercount": None}, "integers"),
        ({"standardize": "upper"}, "standardize cannot be"),
        ({"split": "word"}, "split cannot be"),
    ],
)
def test_a_wrong_file_is_refused(change: dict[str, Any], message: str, tmp_path: Path):
    path = tmp_path / "vocabulary.json"
    path.write_text(json.dumps({**Vocabulary(["cat"]).to_json(), **change}))
    with pytest.raises(rs.RecordsmithError, match=message) as caught:
        Vocabulary.load(path)
    assert caught.value.path == str(path)


@pytest.mark.parametrize("content", [b"", b"[1", b"\xff", b"[]"])
def test_a_file_that_is_not_json_is_refused(content: bytes, tmp_path: Path):
    path = tmp_path / "vocabulary.json"
    path.write_bytes(content)
    with pytest.raises(rs.SchemaError, match=r"[Vv]ocabulary is not JSON|not a .*vocabulary"):
        Vocabulary.load(path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("one text",), "A single text was given"),
        (([],), "without words"),
        ((["", " \n", "!?"],), "without words"),
        ((["[UNK]"], None, None), None),
        ((["a", 3],), "not a text"),
        ((["a", "\ud800"],), "half a character"),
        (([{"text": "a"}],), "not a text"),
        (({"text": ["a"]},), "name of the text feature is missing"),
        (({"text": ["a"]}, "txet"), "Did you mean 'text'"),
        ((["a"], "text"), "entries have no names"),
        ((["a"], None, 2), "at least one word"),
        ((["a"], None, True), "at least one word"),
    ],
)
def test_what_cannot_be_fitted(arguments: tuple[Any, ...], message: str | None):
    if message is None:
        assert Vocabulary.fit(*arguments).words[2:] == ["unk"]
        with pytest.raises(rs.PipelineError, match="without words"):
            Vocabulary.fit(*arguments, standardize=None)
        return
    with pytest.raises(rs.PipelineError, match=message):
        Vocabulary.fit(*arguments)


def test_what_cannot_be_encoded():
    vocabulary = Vocabulary(["cat"])
    with pytest.raises(rs.PipelineError, match="encode_one"):
        vocabulary.encode("cat")
    with pytest.raises(rs.PipelineError, match="row 1"):
        vocabulary.encode(["a", 1.5])
    with pytest.raises(rs.PipelineError, match="max_length"):
        vocabulary.encode(["a"], max_length=0)


def test_only_so_many_words_are_kept_and_the_error_is_bounded():
    rng = np.random.default_rng(3)
    numbers = np.concatenate([rng.zipf(1.2, 30_000) % 20_000, np.arange(20_000)])
    rng.shuffle(numbers)
    texts = [" ".join(f"word{number:06d}" for number in row) for row in numbers.reshape(-1, 1000)]
    exact = Counter(word for text in texts for word in text.split())
    limited = Vocabulary.fit(texts, size=100, most_words=4000)
    assert 0 < limited.undercount < 20
    for word, count in zip(limited.words[2:], limited.counts[2:], strict=True):
        assert exact[word] - limited.undercount <= count <= exact[word]
    # With a limit that is never met the result is exact, and says so.
    assert Vocabulary.fit(texts, size=100, most_words=25_000) == Vocabulary.fit(texts, size=100)
    assert Vocabulary.fit(texts, size=100).undercount == 0
    with pytest.raises(rs.PipelineError, match="twice the size"):
        Vocabulary.fit(texts, size=100, most_words=150)


@given(st.lists(st.lists(st.sampled_from(["a", "b", "c d", "e"])), max_size=5))
def test_how_texts_are_batched_changes_nothing(batches: list[list[str]]):
    flat = [text for batch in batches for text in batch]
    if flat:
        assert Vocabulary.fit(batches) == Vocabulary.fit(flat)


def test_it_looks_like_what_it_is():
    assert repr(Vocabulary(["a", "b", "c", "d"])) == "Vocabulary(6 words: 'a', 'b', 'c' and 1 more)"
    assert Vocabulary(["a"]) != Vocabulary(["a"], split="character")
    assert len({Vocabulary(["a"]), Vocabulary(["a"])}) == 1
    assert Vocabulary(["a"]) != "a"
