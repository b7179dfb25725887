"""Text to TF-IDF weights."""

from __future__ import annotations

import importlib
import json
from collections import Counter
from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.columns import SparseColumn
from recordsmith.errors import PipelineError, did_you_mean, import_extra, list_names
from recordsmith.making.preprocessing.text_preprocessor import TextPreprocessor
from recordsmith.schema import Feature, Sparse
from recordsmith.text.texts import rows_of, texts_of

__all__ = ["Tfidf"]

_FORMAT = "recordsmith-tfidf"
_VERSION = 1
_MOST_TERMS = 1_000_000  # different terms in memory while counting: about 250 MB
_WEIGHTING = ("norm", "use_idf", "smooth_idf", "sublinear_tf")
_OURS = {
    "input": "texts come from the records",
    "encoding": "texts are UTF-8",
    "decode_error": "texts are UTF-8",
    "dtype": "weights are stored as float32",
    "max_features": "this is size",
    "vocabulary": "it is learned from the training split",
    "preprocessor": "a function cannot be saved with the data; change the text with map= instead",
    "tokenizer": "a function cannot be saved with the data; change the text with map= instead",
}


class Tfidf(TextPreprocessor):
    """Replaces a text by the TF-IDF weights of its terms: those of scikit-learn's TfidfVectorizer.

    The terms are counted in one pass over the training split, and the sparse weights are computed batch by batch, so
    that memory is bounded. Terms and weights are saved next to the data as `tfidf.<feature>.json`. They are exact for
    up to a million different terms, or twice `size`. With more, the rarest terms are dropped while counting, and the
    file says by how much counts may be too low.

    Args:
        feature: the name of the text.
        size: the maximum number of terms; the most frequent ones are kept, as with scikit-learn's max_features.
        into: the name of the feature with the weights; None: the name of the text.
        keep_text: also keep the text in the records.
        options: other options of TfidfVectorizer, such as ngram_range, min_df, stop_words or sublinear_tf.

    >>> preprocessor = Tfidf("text", size=3)
    >>> preprocessor.fit(lambda: [{"text": ["the cat", "the dog and the cat"]}])
    >>> preprocessor.terms
    ['and', 'cat', 'the']
    >>> preprocessor.transform({"text": ["the cat"]})["text"].dense()
    array([[0.        , 0.70710677, 0.70710677]], dtype=float32)
    """

    def __init__(
        self, feature: str, size: int = 20_000, *, into: str | None = None, keep_text: bool = False, **options: Any
    ) -> None:
        super().__init__(feature, into=into, keep_text=keep_text)
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise PipelineError("The number of terms must be an integer of at least 1.", found=f"size={size!r}")
        _check_options(options)
        self._size = size
        self._options = options
        self._terms: list[str] | None = None
        self._idf: npt.NDArray[np.float64] | None = None
        self._documents = 0
        self._undercount = 0
        self._vectorizer: Any = None

    def fit(self, batches: Callable[[], Iterable[dict[str, Any]]]) -> None:
        """Count the terms of the training split, and in how many of its texts each is, in one pass."""
        analyze = _text_module().TfidfVectorizer(**self._options).build_analyzer()
        seen = _TermCounts(max(_MOST_TERMS, 2 * self._size))
        for text in texts_of(batches(), self._feature):
            seen.add(analyze(text))
        terms, document_counts = seen.chosen(
            self._size,
            binary=self._options.get("binary", False),
            min_df=self._options.get("min_df", 1),
            max_df=self._options.get("max_df", 1.0),
        )
        self._terms, self._documents, self._undercount = terms, seen.documents, seen.undercount
        if self._options.get("use_idf", True):
            smooth = int(self._options.get("smooth_idf", True))
            self._idf = np.log((seen.documents + smooth) / (document_counts.astype(np.float64) + smooth)) + 1.0
        self._vectorizer = self._rebuilt()

    @property
    def terms(self) -> list[str]:
        """The terms, in the order of their places in a row."""
        if self._terms is None:
            raise PipelineError("Tfidf is not fitted yet.", feature=self._feature)
        return list(self._terms)

    def artifacts(self) -> dict[str, str]:
        """Return the file of the terms and their weights."""
        if self._terms is None:
            return {}
        document = {
            "format": _FORMAT,
            "version": _VERSION,
            "options": self._options,
            "documents": self._documents,
            "undercount": self._undercount,
            "terms": self._terms,
            "idf": None if self._idf is None else self._idf.tolist(),
        }
        lines = [f"  {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in document.items()]
        return {self._artifact("tfidf"): "{\n" + ",\n".join(lines) + "\n}\n"}

    def describe(self) -> dict[str, Any]:
        """Return its options."""
        return super().describe() | {"size": self._size, "options": dict(sorted(self._options.items()))}

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_vectorizer": None}  # made again where it is needed

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._terms is not None:
            self._vectorizer = self._rebuilt()

    @property
    def _fitted(self) -> bool:
        return self._terms is not None

    def _numbers(self, *, optional: bool) -> Feature:
        return Sparse("float32", self._size, optional=optional, description=f"TF-IDF weights of {self._feature!r}")

    def _encode(self, texts: Any) -> SparseColumn:
        rows = rows_of(texts)
        counter, weigher = self._vectorizer
        # One text more than there are: scikit-learn refuses none at all.
        weights = weigher.transform(counter.transform([*(row or b"" for row in rows), b""]), copy=False)
        return SparseColumn(
            weights.indices,
            weights.data.astype(np.float32),
            weights.indptr[:-1],
            size=self._size,
            present=[row is not None for row in rows] if None in rows else None,
        )

    def _rebuilt(self) -> tuple[Any, Any]:
        """Return scikit-learn's two steps, counting and weighing, with what was learned put into them."""
        text = _text_module()
        sparse = _part_of("scipy", "sparse")
        counting = {name: value for name, value in self._options.items() if name not in _WEIGHTING}
        counter = text.CountVectorizer(vocabulary=self._terms, dtype=np.float64, **counting)
        weigher = text.TfidfTransformer(**{k: v for k, v in self._options.items() if k in _WEIGHTING})
        weigher.fit(sparse.csr_matrix(np.ones((1, len(self.terms)))))
        if self._idf is not None:
            weigher.idf_ = self._idf
        return counter, weigher


class _TermCounts:
    """How often each term was seen, and in how many texts; the rarest are forgotten past a limit."""

    def __init__(self, most_terms: int) -> None:
        self._most_terms = most_terms
        self._counts: Counter[str] = Counter()
        self._texts: Counter[str] = Counter()
        self.documents = 0
        self.undercount = 0

    def add(self, terms: list[str]) -> None:
        self.documents += 1
        self._counts.update(terms)
        self._texts.update(set(terms))
        if len(self._counts) > self._most_terms:
            every = np.fromiter(self._counts.values(), np.int64, len(self._counts))
            place = len(every) - self._most_terms // 2 - 1
            threshold = int(np.partition(every, place)[place])
            self._counts = Counter({term: count for term, count in self._counts.items() if count > threshold})
            self._texts = Counter({term: self._texts[term] for term in self._counts})
            self.undercount += threshold

    def chosen(
        self, size: int, *, binary: bool, min_df: float, max_df: float
    ) -> tuple[list[str], npt.NDArray[np.int64]]:
        """Return the terms that scikit-learn chooses, in its order, and in how many texts each is."""
        terms = sorted(self._counts)
        texts = np.fromiter((self._texts[term] for term in terms), np.int64, len(terms))
        counts = texts if binary else np.fromiter((self._counts[term] for term in terms), np.int64, len(terms))
        highest = max_df if isinstance(max_df, Integral) else max_df * self.documents
        lowest = min_df if isinstance(min_df, Integral) else min_df * self.documents
        places = np.flatnonzero((texts <= highest) & (texts >= lowest))
        if len(places) > size:
            # As scikit-learn does it, on the same dtype: which of several equally frequent terms get in is numpy's
            # choice, and this is how to get the same.
            places = np.sort(places[(-counts[places].astype(np.float64)).argsort()[:size]])
        if len(places) == 0:
            raise PipelineError(
                "No terms are left.",
                found=f"{len(terms)} terms in {self.documents} texts, none of which passes the filters",
                advice="Check min_df, max_df and stop_words, and whether the texts are empty.",
            )
        return [terms[place] for place in places.tolist()], texts[places]


def _check_options(options: dict[str, Any]) -> None:
    vectorizer = _text_module().TfidfVectorizer
    known = [name for name in vectorizer().get_params() if name not in _OURS]
    for name, value in options.items():
        if name in _OURS:
            raise PipelineError(f"{name} cannot be set: {_OURS[name]}.", found=f"{name}={value!r}")
        if name not in known:
            raise PipelineError(
                f"TfidfVectorizer has no option {name!r}.{did_you_mean(name, known)}", expected=list_names(known, 20)
            )
        try:
            json.dumps(value)
        except TypeError:
            raise PipelineError(
                f"The option {name} cannot be saved with the data.",
                found=repr(value),
                expected="numbers, strings, and lists of them",
                advice="Change the text itself with map= instead.",
            ) from None
    try:
        with np.errstate(divide="ignore"):
            vectorizer(vocabulary=["a"], **options).fit([""])  # which checks the values
    except ValueError as error:
        raise PipelineError(f"TfidfVectorizer rejects an option: {error}", found=repr(options)) from None


def _text_module() -> Any:
    return _part_of("sklearn", "feature_extraction.text")


def _part_of(package: str, module: str) -> Any:
    import_extra(package, "text", purpose="Tfidf")
    return importlib.import_module(f"{package}.{module}")
