"""A vocabulary gives every word the id that Keras' TextVectorization gives it."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recordsmith.text import Vocabulary

STANDARDIZE = [None, "lower", "strip_punctuation", "lower_and_strip_punctuation"]

# Letters that change length or language when made small, digits and spaces of other scripts, characters that look like
# punctuation, controls, marks that combine, characters beyond 16 bits, and pieces that collide once they are cleaned.
PIECES = [
    *"aAbBzZ019 \t\n\v\f\r\x00\x1c\x1d\x1e\x1f\x7f\x85",
    *"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
    *"\u00a0\u1680\u2003\u2028\u202f\u3000\u200b\ufeff\u00adßẞİıſKÅÉéΣςσΑαЯя٠٣५五、。！？“”’…—¡¿€\u0301\u0308\u200d",  # noqa: RUF001 - alike on purpose
    *"\U0001f600\U0001f469\U00010400\U0001d400\U0010ffff\ufffd",
    "[UNK]",
    "[unk]",
    "UNK",
    "don't",
    "dont",
    "e-mail",
    "email",
    "  ",
    " a ",
    " the ",
]
TEXTS = st.lists(st.lists(st.sampled_from(PIECES), max_size=25).map("".join), min_size=1, max_size=8)
# Bytes that are UTF-8, that only start as it, and that never are.
RAW = st.lists(
    st.sampled_from([b"\xff", b"\xc3", b"\xc3\xa9", b"\xe2\x82", b"\xed\xa0\x80", b"\xf0\x9f\x98", b"A", b" ", b"!"])
)


def adapted(texts: list[Any], size: int | None, **options: Any) -> Any:
    layer = tf.keras.layers.TextVectorization(max_tokens=size, output_mode="int", ragged=True, **options)
    layer.adapt(tf.constant(texts, tf.string))
    return layer


def check_equal(texts: list[Any], others: list[Any], size: int | None, **options: Any) -> None:
    learnable = tf.concat([words(text, **options) for text in texts], 0).numpy().tolist()
    if not set(learnable) - {b"[UNK]"}:
        return  # Keras cannot be asked: without a word its table stays uninitialised
    layer = adapted(texts, size, **options)
    vocabulary = Vocabulary.fit(texts, size=size, **options)
    assert len(vocabulary) == layer.vocabulary_size()
    ids, theirs = vocabulary.encode(texts + others), layer(tf.constant(texts + others, tf.string))
    assert np.array_equal(ids.values, theirs.values)
    assert np.array_equal(ids.offsets, theirs.row_splits)
    assert isinstance(ids.values, np.ndarray)
    assert ids.values.dtype == np.int64


@functools.lru_cache
def words(text: Any, **options: Any) -> Any:
    """The words that Keras sees in a text."""
    layer = tf.keras.layers.TextVectorization(**options)
    return layer._preprocess(tf.constant([text], tf.string)).flat_values


@settings(max_examples=60)
@given(
    TEXTS,
    TEXTS,
    st.none() | st.integers(3, 12),
    st.sampled_from(STANDARDIZE),
    st.sampled_from(["whitespace", "character"]),
)
@example(["b a c", "C B"], ["a d"], None, "lower", "whitespace")
@example(["[UNK] x", "[UNK]"], ["[UNK]"], 3, None, "whitespace")
def test_nasty_texts(texts: list[str], others: list[str], size: int | None, standardize: Any, split: Any):
    check_equal(texts, others, size, standardize=standardize, split=split)


@settings(max_examples=30)
@given(
    st.lists(RAW.map(b"".join), min_size=1, max_size=6),
    st.sampled_from(STANDARDIZE),
    st.sampled_from(["whitespace", "character"]),
)
def test_bytes_that_are_not_utf8(texts: list[bytes], standardize: Any, split: Any):
    check_equal(texts, [], None, standardize=standardize, split=split)


@pytest.mark.parametrize("size", [None, 3, 50, 1000])
def test_many_words_with_ties_across_batches(size: int | None):
    numbers = np.random.default_rng(7).geometric(0.01, 20_000)
    texts = [" ".join(f"W{number}" for number in row) for row in numbers.reshape(-1, 20)]
    layer = tf.keras.layers.TextVectorization(max_tokens=size, ragged=True)
    layer.adapt(tf.data.Dataset.from_tensor_slices(texts).batch(64))
    vocabulary = Vocabulary.fit(texts, size=size)
    assert vocabulary.words == layer.get_vocabulary()
    assert np.array_equal(vocabulary.encode(texts).values, layer(tf.constant(texts)).values)


def test_keras_takes_the_words_as_its_vocabulary():
    vocabulary = Vocabulary.fit(["the cat and the dog", "the end"])
    layer = tf.keras.layers.TextVectorization(vocabulary=vocabulary.words, output_sequence_length=4)
    padded = vocabulary.encode(["the end of the cat", "dog"], max_length=4).to_padded(4)
    assert np.array_equal(padded, layer(tf.constant(["the end of the cat", "dog"])))
