"""Text to ids of sub-words."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np

from recordsmith.columns import Ragged
from recordsmith.errors import PipelineError, import_extra
from recordsmith.making.preprocessing.text_preprocessor import TextPreprocessor, checked_length
from recordsmith.schema import Feature, Tensor
from recordsmith.text.texts import in_pieces, rows_of, texts_of

__all__ = ["BpeIds"]

_PADDING = "[PAD]"  # has id 0
_SMALLEST = 257  # padding, and every byte


class BpeIds(TextPreprocessor):
    """Replaces a text by the ids of its sub-words, through Hugging Face's `tokenizers`.

    Unless a tokenizer is given, it learns byte-level byte-pair encoding, as GPT-2 does: no text is unknown, and
    decoding restores the text. Id 0 is padding. The tokenizer is saved next to the data as `tokenizer.<feature>.json`,
    for `tokenizers.Tokenizer.from_file`. Learning keeps all different words of the training split in memory.

    Args:
        feature: the name of the text.
        size: the maximum number of ids.
        tokenizer: an existing tokenizer.json to use, with its special tokens.
        into: the name of the feature with the ids; None: the name of the text.
        keep_text: also keep the text in the records.
        max_length: the maximum number of ids in a row; the tokenizer truncates longer ones.

    >>> preprocessor = BpeIds("text", size=300)
    >>> preprocessor.fit(lambda: [{"text": ["the cat sat on the mat", "the hat"]}])
    >>> ids = preprocessor.transform({"text": ["the rat"]})["text"]
    >>> ids.lengths.tolist(), preprocessor.decode(ids[0])
    ([4], 'the rat')
    """

    def __init__(
        self,
        feature: str,
        size: int = 30_000,
        *,
        tokenizer: str | os.PathLike[str] | None = None,
        into: str | None = None,
        keep_text: bool = False,
        max_length: int | None = None,
    ) -> None:
        super().__init__(feature, into=into, keep_text=keep_text)
        if isinstance(size, bool) or not isinstance(size, int) or size < _SMALLEST:
            raise PipelineError(
                f"A byte-level BPE vocabulary must have at least {_SMALLEST} ids.", found=f"size={size!r}"
            )
        self._size = size
        self._max_length = checked_length(max_length)
        self._given = tokenizer is not None
        self._tokenizer = None if tokenizer is None else self._limited(_load(tokenizer))

    def fit(self, batches: Callable[[], Iterable[dict[str, Any]]]) -> None:
        """Learn the sub-words of the training split, in one pass."""
        if self._given:
            return
        tokenizers = _tokenizers()
        byte_level = tokenizers.pre_tokenizers.ByteLevel
        tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
        tokenizer.pre_tokenizer = byte_level(add_prefix_space=False)
        tokenizer.decoder = tokenizers.decoders.ByteLevel()
        trainer = tokenizers.trainers.BpeTrainer(
            vocab_size=self._size,
            special_tokens=[_PADDING],
            initial_alphabet=sorted(byte_level.alphabet()),
            show_progress=False,
        )
        tokenizer.train_from_iterator(_in_lists(texts_of(batches(), self._feature)), trainer)
        self._tokenizer = self._limited(tokenizer)

    def decode(self, ids: Any) -> str:
        """Return the text that ids stand for, without special tokens.

        >>> preprocessor = BpeIds("text", size=257)
        >>> preprocessor.fit(lambda: [{"text": ["abc"]}])
        >>> preprocessor.decode(preprocessor.transform({"text": ["naïve 🙂"]})["text"][0])
        'naïve 🙂'
        """
        if self._tokenizer is None:
            raise PipelineError("BpeIds is not fitted yet.", feature=self._feature)
        text: str = self._tokenizer.decode(np.asarray(ids).tolist())
        return text

    def artifacts(self) -> dict[str, str]:
        """Return the tokenizer's file."""
        if self._tokenizer is None:
            return {}
        return {self._artifact("tokenizer"): self._tokenizer.to_str(pretty=True) + "\n"}

    def describe(self) -> dict[str, Any]:
        """Return its options; a tokenizer that was given by the digest of its content."""
        own: dict[str, Any] = {"max_length": self._max_length}
        if self._given and self._tokenizer is not None:
            own["tokenizer"] = hashlib.sha256(self._tokenizer.to_str().encode()).hexdigest()
        else:
            own["size"] = self._size
        return super().describe() | own

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._tokenizer is not None:
            self._tokenizer = self._limited(self._tokenizer)  # not all of it is in the tokenizer's own pickle

    @property
    def _fitted(self) -> bool:
        return self._tokenizer is not None

    def _limited(self, tokenizer: Any) -> Any:
        tokenizer.no_padding()  # rows keep their own length; padding is for when they are read
        if not self._given:
            tokenizer.encode_special_tokens = True  # a text that says "[PAD]" says so, and is not padding
        if self._max_length is not None:
            tokenizer.enable_truncation(self._max_length)
        return tokenizer

    def _numbers(self, *, optional: bool) -> Feature:
        return Tensor("int64", (None,), optional=optional, description=f"ids of the sub-words of {self._feature!r}")

    def _encode(self, texts: Any) -> Ragged:
        rows = rows_of(texts)
        encode = self._tokenizer.encode_batch_fast  # type: ignore[union-attr]  # transform has checked it
        ids, lengths = [np.zeros(0, np.int64)], [np.zeros(1, np.int64)]
        for piece in in_pieces(rows):
            encoded = [row.ids for row in encode([_decoded(text or b"") for text in piece])]
            counts = np.fromiter(
                (0 if text is None else len(row) for text, row in zip(piece, encoded, strict=True)), np.int64
            )
            present = (row for text, row in zip(piece, encoded, strict=True) if text is not None)
            ids.append(np.fromiter(chain.from_iterable(present), np.int64, int(counts.sum())))
            lengths.append(counts)
        present_rows = np.array([row is not None for row in rows], np.bool_) if None in rows else None
        return Ragged.unchecked(np.concatenate(ids), np.cumsum(np.concatenate(lengths)), present=present_rows)


def _in_lists(texts: Iterable[bytes]) -> Iterator[list[str]]:
    return ([_decoded(text) for text in piece] for piece in in_pieces(texts))


def _decoded(text: bytes) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        raise PipelineError(f"A text is not UTF-8: {error.reason}.", found=text[:40]) from None


def _load(path: str | os.PathLike[str]) -> Any:
    with open(path, encoding="utf-8") as file:
        content = file.read()
    try:
        return _tokenizers().Tokenizer.from_str(content)
    except Exception as error:  # noqa: BLE001 - the library raises Exception itself
        raise PipelineError(
            f"This is not a tokenizer file of the package tokenizers: {error}",
            path=path,
            expected="a tokenizer.json, as Tokenizer.save writes it",
        ) from None


def _tokenizers() -> Any:
    return import_extra("tokenizers", "text", purpose="BpeIds")
