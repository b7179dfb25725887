"""Text made into numbers by `make`: fitted on the training split, read by TensorFlow, equal to what Keras makes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from sklearn.feature_extraction.text import TfidfVectorizer

import recordsmith as rs

WORDS = [f"word{number}" for number in range(40)]


def texts_with_ids(count: int = 120) -> list[dict[str, Any]]:
    """Rows of text, each with a word that no other has: it shows which rows something was fitted on."""
    rng = np.random.default_rng(4)
    return [
        {"id": number, "text": " ".join(rng.choice(WORDS, 10).tolist()).capitalize() + f", only{number}!"}
        for number in range(count)
    ]


def made(folder: Path, preprocess: Any, **options: Any) -> Path:
    rs.make(
        rs.sources.rows(texts_with_ids()),
        folder,
        name="texts",
        split="train=0.75,test=0.25",
        preprocess=preprocess,
        **options,
    )
    return folder


def texts_of(folder: Path, split: str) -> list[str]:
    rows = texts_with_ids()
    return [rows[int(row["id"])]["text"] for row in rs.open(folder, split=split)]


def parsed_by_tensorflow(folder: Path, split: str, spec: dict[str, Any]) -> dict[str, Any]:
    files = sorted(str(path) for path in folder.glob(f"texts-{split}.tfrecord-*"))
    parsed: dict[str, Any] = tf.io.parse_example(list(tf.data.TFRecordDataset(files).as_numpy_iterator()), spec)
    return parsed


def test_word_ids_are_those_of_keras_adapted_on_the_training_split(tmp_path: Path):
    folder = made(tmp_path / "data", rs.preprocessing.VocabularyIds("text", size=60))
    layer = tf.keras.layers.TextVectorization(max_tokens=60, ragged=True)
    layer.adapt(tf.constant(texts_of(folder, "train")))
    for split in ("train", "test"):
        stored = parsed_by_tensorflow(folder, split, {"text": tf.io.RaggedFeature(tf.int64)})["text"]
        assert stored.to_list() == layer(tf.constant(texts_of(folder, split))).to_list()
    vocabulary = rs.Vocabulary.load(folder / "vocabulary.text.json")
    assert vocabulary.words == layer.get_vocabulary()


def test_nothing_is_learned_from_the_test_split(tmp_path: Path):
    folder = made(
        tmp_path / "data",
        [
            rs.preprocessing.VocabularyIds("text", size=1000, into="ids", keep_text=True),
            rs.preprocessing.Tfidf("text", size=1000, into="weights", keep_text=True),
        ],
    )
    training = {word for text in texts_of(folder, "train") for word in text.lower().replace(",", "").strip("!").split()}
    assert {word for word in training if word.startswith("only")}
    assert set(rs.Vocabulary.load(folder / "vocabulary.ids.json").words[2:]) == training
    assert set(json.loads((folder / "tfidf.weights.json").read_text())["terms"]) == training
    # Beside them the text is as it was.
    for split in ("train", "test"):
        assert [row["text"] for row in rs.open(folder, split=split)] == texts_of(folder, split)


def test_weights_are_those_of_scikit_learn_and_tensorflow_reads_them(tmp_path: Path):
    folder = made(tmp_path / "data", rs.preprocessing.Tfidf("text", size=50))
    vectorizer = TfidfVectorizer(max_features=50).fit(texts_of(folder, "train"))
    spec = {"text": tf.io.SparseFeature("text/indices", "text/values", tf.float32, 50)}
    for split in ("train", "test"):
        expected = vectorizer.transform(texts_of(folder, split)).astype(np.float32).toarray()
        assert np.array_equal(tf.sparse.to_dense(parsed_by_tensorflow(folder, split, spec)["text"]), expected)
        (batch,) = rs.open(folder, split=split).batch(1000)
        assert np.array_equal(batch["text"].to_scipy().toarray(), expected)


@pytest.mark.parametrize("kind", ["VocabularyIds", "BpeIds", "Tfidf"])
def test_the_files_do_not_depend_on_the_workers(kind: str, tmp_path: Path):
    def digests(workers: int) -> dict[str, str]:
        folder = made(
            tmp_path / f"data{workers}", getattr(rs.preprocessing, kind)("text", size=300), workers=workers, shards=3
        )
        kept = [path for path in folder.iterdir() if ".tfrecord-" in path.name or path.name.endswith(".text.json")]
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in kept}

    one = digests(1)
    assert len(one) == 7
    assert one == digests(3)
