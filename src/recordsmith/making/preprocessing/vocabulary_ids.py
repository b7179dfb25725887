"""Text to ids of words."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from typing import Any

from recordsmith.errors import PipelineError
from recordsmith.making.preprocessing.text_preprocessor import TextPreprocessor, checked_length
from recordsmith.schema import Feature, Tensor
from recordsmith.text import Vocabulary
from recordsmith.text.rules import Split, Standardize, WordRules

__all__ = ["VocabularyIds"]

_MOST_WORDS = 2_000_000  # different words in memory while counting: about 240 MB


class VocabularyIds(TextPreprocessor):
    """Replaces a text by the ids of its words: those that Keras' TextVectorization gives.

    The vocabulary is saved next to the data as `vocabulary.<feature>.json`, for `rs.Vocabulary.load`. It is exact for
    up to two million different words, or twice `size`. With more, the rarest words are dropped, and the file says so.

    Args:
        feature: the name of the text.
        size: the maximum number of ids, including padding (0) and unknown words (1).
        into: the name of the feature with the ids; None: the name of the text.
        keep_text: also keep the text in the records.
        max_length: the maximum number of words of a text; the others are left out.
        vocabulary: an existing vocabulary to use, or its file.
        standardize: how a text is prepared, as for `rs.Vocabulary`.
        split: what a word is, as for `rs.Vocabulary`.

    >>> preprocessor = VocabularyIds("text", size=4)
    >>> preprocessor.fit(lambda: [{"text": ["the cat", "the dog and the cat"]}])
    >>> preprocessor.transform({"text": ["the dog"], "label": [1]})
    {'label': [1], 'text': Ragged(1 row of int64 (None,): [2, 1])}
    """

    def __init__(
        self,
        feature: str,
        size: int = 10_000,
        *,
        into: str | None = None,
        keep_text: bool = False,
        max_length: int | None = None,
        vocabulary: Vocabulary | str | os.PathLike[str] | None = None,
        standardize: Standardize | None = "lower_and_strip_punctuation",
        split: Split = "whitespace",
    ) -> None:
        super().__init__(feature, into=into, keep_text=keep_text)
        if isinstance(size, bool) or not isinstance(size, int) or size < 3:
            raise PipelineError("The size of a vocabulary must be an integer of at least 3.", found=repr(size))
        self._size = size
        self._rules = WordRules(standardize, split)
        self._max_length = checked_length(max_length)
        self._given = vocabulary is not None
        self._vocabulary = (
            vocabulary if vocabulary is None or isinstance(vocabulary, Vocabulary) else Vocabulary.load(vocabulary)
        )

    def fit(self, batches: Callable[[], Iterable[dict[str, Any]]]) -> None:
        """Count the words of the training split, in one pass."""
        if self._given:
            return
        self._vocabulary = Vocabulary.fit(
            batches(),
            self._feature,
            self._size,
            standardize=self._rules.standardize,
            split=self._rules.split,
            most_words=max(_MOST_WORDS, 2 * self._size),
        )

    def artifacts(self) -> dict[str, str]:
        """Return the vocabulary's file."""
        return {} if self._vocabulary is None else {self._artifact("vocabulary"): self._vocabulary.to_text()}

    def describe(self) -> dict[str, Any]:
        """Return its options; a vocabulary that was given by the digest of its content."""
        own: dict[str, Any] = {"max_length": self._max_length}
        if self._given and self._vocabulary is not None:
            own["vocabulary"] = hashlib.sha256(self._vocabulary.to_text().encode()).hexdigest()
        else:
            own |= {"size": self._size, "standardize": self._rules.standardize, "split": self._rules.split}
        return super().describe() | own

    @property
    def _fitted(self) -> bool:
        return self._vocabulary is not None

    def _numbers(self, *, optional: bool) -> Feature:
        return Tensor("int64", (None,), optional=optional, description=f"ids of the words of {self._feature!r}")

    def _encode(self, texts: Any) -> Any:
        assert self._vocabulary is not None  # noqa: S101 - transform has checked it
        return self._vocabulary.encode(texts, max_length=self._max_length)
