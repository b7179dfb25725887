"""What turns text into numbers is fitted on the training split alone, and is what Keras, Hugging Face and
scikit-learn would make of the same texts.
"""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer
from tokenizers import Tokenizer, models, pre_tokenizers, processors

import recordsmith as rs
from recordsmith.columns import SparseColumn
from recordsmith.making.preprocessing import BpeIds, Tfidf, VocabularyIds
from recordsmith.making.preprocessing.tfidf import _TermCounts
from recordsmith.text import Vocabulary

SCHEMA = rs.Schema({"id": rs.Scalar("int64"), "text": rs.Text(), "label": rs.Scalar("int64")})
TRAINING = ["The cat sat on the mat.", "A dog, a DOG and a cat!", "", "naïve café “quotes” 日本語 🙂", "the the the"]
OTHERS = ["the bird sat", "unseen", "", "cat naïve"]
WORDS = st.sampled_from(
    ["the", "The", "cat", "dog", "a", "bb", "cc", "dd", "ee", "naïve", "x1", "日本", "it's", "…", "\U0001d400"]
)
TEXTS = st.lists(st.lists(WORDS, max_size=12).map(" ".join), min_size=1, max_size=12)


def column(texts: Iterable[str | None]) -> rs.ByteColumn:
    rows = list(texts)
    stored = [(text or "").encode() for text in rows]
    present = None if None not in rows else [text is not None for text in rows]
    return rs.ByteColumn(b"".join(stored), np.cumsum([0, *map(len, stored)]), text=True, present=present)


def in_batches(texts: list[str], size: int = 2) -> Callable[[], Iterable[dict[str, Any]]]:
    return lambda: ({"text": column(texts[at : at + size])} for at in range(0, len(texts), size))


def fitted(preprocessor: Any, texts: list[str] = TRAINING) -> Any:
    preprocessor.fit(in_batches(texts))
    return preprocessor


PREPROCESSORS = [
    lambda **options: VocabularyIds("text", 8, **options),
    lambda **options: BpeIds("text", 300, **options),
    lambda **options: Tfidf("text", 8, **options),
]


@pytest.mark.parametrize("make", PREPROCESSORS, ids=["vocabulary", "bpe", "tfidf"])
class TestEveryOne:
    def test_the_numbers_take_the_place_of_the_text(self, make: Any):
        schema = make().schema(SCHEMA)
        assert list(schema) == ["id", "text", "label"]
        assert not isinstance(schema["text"], rs.Text)
        assert set(fitted(make()).transform({"id": [1], "text": column(["cat"]), "label": [2]})) == set(schema)

    def test_or_stand_beside_it(self, make: Any):
        preprocessor = make(into="numbers", keep_text=True)
        schema = preprocessor.schema(SCHEMA)
        assert list(schema) == ["id", "text", "numbers", "label"]
        assert schema["text"] == rs.Text()
        text = column(["cat"])
        assert fitted(preprocessor).transform({"text": text})["text"] is text
        assert list(make(into="numbers").schema(SCHEMA)) == ["id", "numbers", "label"]

    def test_what_it_makes_is_written_and_read_back(self, make: Any, tmp_path: Path):
        preprocessor = fitted(make())
        schema = preprocessor.schema(SCHEMA)
        made = preprocessor.transform({"id": np.arange(5), "text": column(TRAINING), "label": np.arange(5)})
        with rs.RecordWriter(tmp_path / "data.tfrecord") as writer:
            writer.write_columns(made, schema)
        (batch,) = rs.open(tmp_path / "data.tfrecord", schema=schema).batch(10)
        assert rows_of(batch["text"]) == rows_of(made["text"])

    def test_absent_texts_are_absent_numbers(self, make: Any, tmp_path: Path):
        preprocessor = fitted(make())
        schema = preprocessor.schema(rs.Schema({"text": rs.Text(optional=True)}))
        assert schema["text"].optional
        made = preprocessor.transform({"text": column(["cat", None, "the dog"])})
        with rs.RecordWriter(tmp_path / "data.tfrecord") as writer:
            writer.write_columns(made, schema)
        rows = list(rs.open(tmp_path / "data.tfrecord", schema=schema))
        assert [row["text"] is None for row in rows] == [False, True, False]

    def test_a_text_with_a_default_is_never_absent(self, make: Any):
        assert not make().schema(rs.Schema({"text": rs.Text(default="none")}))["text"].optional

    def test_pickled_it_does_the_same(self, make: Any):
        preprocessor = fitted(make())
        copy = pickle.loads(pickle.dumps(preprocessor))
        assert rows_of(copy.transform({"text": column(OTHERS)})["text"]) == rows_of(
            preprocessor.transform({"text": column(OTHERS)})["text"]
        )
        assert copy.artifacts() == preprocessor.artifacts()
        assert copy.describe() == preprocessor.describe()
        assert pickle.loads(pickle.dumps(make())).describe() == make().describe()

    def test_how_the_texts_are_batched_changes_nothing(self, make: Any):
        one, other = make(), make()
        one.fit(in_batches(TRAINING, 1))
        other.fit(in_batches(TRAINING, 5))
        assert one.artifacts() == other.artifacts()
        assert rows_of(one.transform({"text": column(OTHERS)})["text"]) == rows_of(
            [row for text in OTHERS for row in rows_of(other.transform({"text": column([text])})["text"])]
        )

    def test_it_describes_itself_in_json(self, make: Any):
        described = make(into="numbers").describe()
        assert json.loads(json.dumps(described)) == described
        assert described["feature"] == "text"
        assert described["into"] == "numbers"
        assert described != make().describe()
        assert fitted(make()).describe() == make().describe()

    def test_the_file_is_named_after_the_feature(self, make: Any):
        (name,) = fitted(make(into="a/b")).artifacts()
        assert name.endswith(".a.b.json")
        assert make().artifacts() == {}

    def test_the_empty_batch(self, make: Any):
        assert rows_of(fitted(make()).transform({"text": column([])})["text"]) == []

    @pytest.mark.parametrize(
        ("schema", "message"),
        [
            (rs.Schema({"txet": rs.Text()}), "Did you mean 'txet'"),
            (rs.Schema({"text": rs.Bytes()}), "one text in each record"),
            (rs.Schema({"text": rs.Text((None,))}), "one text in each record"),
            (rs.Schema({"text": rs.Text(), "numbers": rs.Text()}), "already"),
        ],
    )
    def test_records_that_it_does_not_fit(self, make: Any, schema: rs.Schema, message: str):
        with pytest.raises(rs.PipelineError, match=message):
            make(into="numbers").schema(schema)

    def test_wrong_use(self, make: Any):
        with pytest.raises(rs.PipelineError, match="same name"):
            make(keep_text=True)
        with pytest.raises(rs.PipelineError, match="not fitted"):
            make().transform({"text": column(["cat"])})


def rows_of(numbers: Any) -> list[Any]:
    """Numbers in any of their forms, comparable."""
    return list(numbers if isinstance(numbers, list) else numbers.to_list())


class TestVocabularyIds:
    def test_ids_are_those_of_the_vocabulary_of_the_training_texts(self):
        preprocessor = fitted(VocabularyIds("text", 8, max_length=3))
        vocabulary = Vocabulary.fit(TRAINING, size=8)
        assert preprocessor.transform({"text": column(OTHERS)})["text"] == vocabulary.encode(OTHERS, max_length=3)
        assert preprocessor.artifacts() == {"vocabulary.text.json": vocabulary.to_text()}

    def test_the_file_loads_as_a_vocabulary(self, tmp_path: Path):
        ((name, content),) = fitted(VocabularyIds("text", standardize="lower", split="character")).artifacts().items()
        (tmp_path / name).write_text(content, encoding="utf-8")
        vocabulary = Vocabulary.load(tmp_path / name)
        assert vocabulary == Vocabulary.fit(TRAINING, size=10_000, standardize="lower", split="character")
        again = VocabularyIds("text", vocabulary=tmp_path / name)
        again.fit(in_batches(["other texts entirely"]))
        assert again.transform({"text": column(OTHERS)})["text"] == vocabulary.encode(OTHERS)
        assert again.describe() == VocabularyIds("text", vocabulary=vocabulary).describe()
        assert again.describe() != VocabularyIds("text", vocabulary=Vocabulary(["cat"])).describe()

    def test_wrong_options(self):
        with pytest.raises(rs.PipelineError, match="size"):
            VocabularyIds("text", 2)
        with pytest.raises(rs.PipelineError, match="max_length"):
            VocabularyIds("text", max_length=0)
        with pytest.raises(rs.PipelineError, match="without words"):
            VocabularyIds("text").fit(in_batches([""]))


class TestBpeIds:
    def test_the_text_comes_back_whole(self):
        preprocessor = fitted(BpeIds("text", 300))
        texts = [*TRAINING, *OTHERS, "[PAD] \x00 \U0010ffff\n\t  two  spaces [PAD]"]
        ids = preprocessor.transform({"text": column(texts)})["text"]
        assert [preprocessor.decode(row) for row in ids] == texts
        assert ids.values.min() > 0  # 0 is padding, and nothing else
        assert ids.values.max() < 300

    def test_the_file_is_a_tokenizer(self):
        preprocessor = fitted(BpeIds("text", 300))
        tokenizer = Tokenizer.from_str(preprocessor.artifacts()["tokenizer.text.json"])
        ids = preprocessor.transform({"text": column(OTHERS)})["text"]
        assert [row.ids for row in tokenizer.encode_batch(OTHERS)] == ids.to_list()
        assert tokenizer.get_vocab_size() == 300
        assert tokenizer.token_to_id("[PAD]") == 0

    def test_it_learns_the_same_in_every_process(self):
        program = (
            "import hashlib, random\n"
            "from recordsmith.making.preprocessing import BpeIds\n"
            "choice = random.Random(1).choice\n"
            "texts = [' '.join(choice('abcdé') + choice('abcdé') * 2 for _ in range(50)) for _ in range(300)]\n"
            "preprocessor = BpeIds('text', 400)\n"
            "preprocessor.fit(lambda: [{'text': texts}])\n"
            "print(hashlib.sha256(preprocessor.artifacts()['tokenizer.text.json'].encode()).hexdigest())"
        )
        digests = {
            subprocess.run(
                [sys.executable, "-c", program],
                env={"RAYON_NUM_THREADS": threads},
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            for threads in ("1", "3")
        }
        assert len(digests) == 1
        assert len(digests.pop()) == 65

    def test_a_tokenizer_of_ones_own(self, tmp_path: Path):
        words = {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "cat": 3, "the": 4}
        tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", None, [("[CLS]", 1), ("[SEP]", 2)])
        tokenizer.enable_padding(length=20)
        path = tmp_path / "tokenizer.json"
        tokenizer.save(str(path))
        preprocessor = BpeIds("text", tokenizer=path, max_length=4)
        preprocessor.fit(in_batches(TRAINING))
        # Its special tokens stay, also where a text is cut; its padding does not.
        rows = preprocessor.transform({"text": column(["the cat", "the cat the cat the cat", ""])})["text"]
        assert rows.to_list() == [[1, 4, 3, 2], [1, 4, 3, 2], [1, 2]]
        assert "tokenizer" in preprocessor.describe()
        assert preprocessor.describe() == BpeIds("text", tokenizer=path, max_length=4).describe()

    def test_wrong_options(self, tmp_path: Path):
        path = tmp_path / "tokenizer.json"
        path.write_text("{}")
        with pytest.raises(rs.PipelineError, match="not a tokenizer") as caught:
            BpeIds("text", tokenizer=path)
        assert caught.value.path == str(path)
        with pytest.raises(FileNotFoundError):
            BpeIds("text", tokenizer=tmp_path / "none.json")
        with pytest.raises(rs.PipelineError, match="at least 257"):
            BpeIds("text", 100)
        with pytest.raises(rs.PipelineError, match="not fitted"):
            BpeIds("text").decode([1])


class TestTfidf:
    @settings(max_examples=40)
    @given(
        TEXTS,
        TEXTS,
        st.integers(1, 8),
        st.fixed_dictionaries(
            {},
            optional={
                "ngram_range": st.sampled_from([(1, 2), (2, 2)]),
                "min_df": st.sampled_from([1, 2, 0.3]),
                "max_df": st.sampled_from([0.8, 5]),
                "binary": st.booleans(),
                "norm": st.sampled_from(["l1", "l2", None]),
                "use_idf": st.booleans(),
                "smooth_idf": st.booleans(),
                "sublinear_tf": st.booleans(),
                "lowercase": st.booleans(),
                "stop_words": st.sampled_from(["english", ["cat"]]),
                "analyzer": st.sampled_from(["word", "char", "char_wb"]),
            },
        ),
    )
    def test_weights_are_those_of_scikit_learn(
        self, texts: list[str], others: list[str], size: int, options: dict[str, Any]
    ):
        if options.get("analyzer", "word") != "word":
            options.pop("stop_words", None)  # scikit-learn warns that it does not use them then
        theirs = TfidfVectorizer(max_features=size, **options)
        preprocessor = Tfidf("text", size, **options)
        try:
            theirs.fit(texts)
        except ValueError:  # no terms are left
            with pytest.raises(rs.PipelineError, match="No terms"):
                fitted(preprocessor, texts)
            return
        fitted(preprocessor, texts)
        assert preprocessor.terms == theirs.get_feature_names_out().tolist()
        expected = theirs.transform(texts + others).astype(np.float32)
        mine = preprocessor.transform({"text": column(texts + others)})["text"].to_scipy()
        assert mine.shape == (len(texts + others), size)
        assert (mine[:, : len(preprocessor.terms)] != expected).nnz == 0
        assert mine.nnz == expected.nnz

    def test_many_terms_equally_frequent_at_the_limit(self):
        numbers = np.random.default_rng(5).geometric(0.01, 6000)
        texts = [" ".join(f"w{number}" for number in row) for row in numbers.reshape(-1, 20)]
        preprocessor = fitted(Tfidf("text", 150), texts)
        theirs = TfidfVectorizer(max_features=150).fit(texts)
        assert preprocessor.terms == theirs.get_feature_names_out().tolist()

    def test_the_file_makes_a_vectorizer_of_scikit_learn(self):
        preprocessor = fitted(Tfidf("text", 12, ngram_range=(1, 2), sublinear_tf=True))
        document = json.loads(preprocessor.artifacts()["tfidf.text.json"])
        vectorizer = TfidfVectorizer(vocabulary=document["terms"], **document["options"])
        vectorizer.idf_ = np.array(document["idf"])
        expected = vectorizer.transform(OTHERS).astype(np.float32)
        assert expected.nnz
        made = preprocessor.transform({"text": column(OTHERS)})["text"].to_scipy()
        assert (expected != made).nnz == 0
        assert document["documents"] == len(TRAINING)
        assert document["undercount"] == 0

    def test_rows_are_never_made_dense(self):
        made = fitted(Tfidf("text", 10**12)).transform({"text": column(TRAINING * 200)})["text"]
        assert isinstance(made, SparseColumn)
        assert len(made) == 1000
        assert made.values.dtype == np.float32
        assert sum(len(row.values) for row in made) < 10_000

    def test_only_so_many_terms_are_kept_and_the_error_is_bounded(self):
        rng = np.random.default_rng(3)
        documents = [[f"t{number}" for number in rng.zipf(1.3, 40) % 3000] for _ in range(300)]
        limited, exact = _TermCounts(400), _TermCounts(10**6)
        for document in documents:
            limited.add(document)
            exact.add(document)
        assert 0 < limited.undercount < 40
        assert exact.undercount == 0
        for term, count in limited._counts.items():
            assert exact._counts[term] - limited.undercount <= count <= exact._counts[term]
            assert limited._texts[term] <= exact._texts[term]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"size": 0}, "integer of at least 1"),
            ({"max_features": 3}, "this is size"),
            ({"tokenizer": str.split}, "map="),
            ({"ngram_rnage": (1, 2)}, "Did you mean 'ngram_range'"),
            ({"norm": "l3"}, "rejects an option"),
            ({"ngram_range": (3, 1)}, "rejects an option"),
            ({"analyzer": str.split}, "cannot be saved"),
        ],
    )
    def test_wrong_options(self, options: dict[str, Any], message: str):
        with pytest.raises(rs.PipelineError, match=message):
            Tfidf("text", **options)


def test_embeddings_computed_before_are_a_tensor_like_any_other(tmp_path: Path):
    embeddings = np.random.default_rng(0).normal(size=(4, 384)).astype(np.float32)
    schema = rs.Schema({"embedding": rs.Tensor("float32", (384,)), "label": rs.Scalar("int64")})
    with rs.RecordWriter(tmp_path / "data.tfrecord") as writer:
        writer.write_columns({"embedding": embeddings, "label": range(4)}, schema)
    (batch,) = rs.open(tmp_path / "data.tfrecord", schema=schema).batch(10)
    assert np.array_equal(batch["embedding"], embeddings)
