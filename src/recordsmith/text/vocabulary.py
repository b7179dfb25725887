"""Vocabulary: words and their ids, the same as Keras' TextVectorization gives."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from itertools import chain, pairwise, repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.columns import Ragged
from recordsmith.errors import PipelineError, RecordsmithError, SchemaError, list_names
from recordsmith.storage.atomic_file import rewrite_text
from recordsmith.storage.json_descriptions import JsonLimits, read_json
from recordsmith.text.counts import WordCounts
from recordsmith.text.rules import Split, Standardize, WordRules
from recordsmith.text.texts import in_pieces, rows_of, texts_of

__all__ = ["Vocabulary"]

_FORMAT = "recordsmith-vocabulary"
_VERSION = 1
_ENTRIES = ("format", "version", "standardize", "split", "undercount", "words", "counts")
_PADDING, _UNKNOWN = "", "[UNK]"
_UNKNOWN_ID = 1
_LIMITS = JsonLimits(bytes=1 << 30, values=50_000_000, surrogates=True)
_SPECIAL = 2  # ids that stand for no word


class Vocabulary:
    """The most frequent words, and an id for each: 0 is padding, 1 any other word, 2 the most frequent word.

    Ids are those of Keras' `TextVectorization(max_tokens=size, output_mode="int")`, adapted on the same texts and with
    the same settings.

    Args:
        words: the words in the order of their ids, starting with id 2; "" and "[UNK]" may come before them.
        counts: how often each word was seen.
        standardize: how a text is prepared first: "lower_and_strip_punctuation", "lower", "strip_punctuation", None.
        split: what a word is: "whitespace" or "character".
        undercount: by how much counts may be too low, because rare words were dropped during fitting.

    >>> vocabulary = Vocabulary.fit(["The cat sat.", "The dog, the cat!"], size=5)
    >>> vocabulary
    Vocabulary(5 words: 'the', 'cat', 'sat')
    >>> vocabulary.encode(["the cat", "THE BIRD SAT", ""]).to_list()
    [[2, 3], [2, 1, 4], []]
    >>> vocabulary.decode([2, 3, 1, 0, 0])
    'the cat [UNK]'
    """

    __slots__ = ("_counts", "_ids", "_rules", "_undercount", "_words")

    def __init__(
        self,
        words: Sequence[str],
        *,
        counts: Sequence[int] | None = None,
        standardize: Standardize | None = "lower_and_strip_punctuation",
        split: Split = "whitespace",
        undercount: int = 0,
    ) -> None:
        self._rules = WordRules(standardize, split)
        if list(words[:_SPECIAL]) != [_PADDING, _UNKNOWN]:
            words = [_PADDING, _UNKNOWN, *words]
            counts = None if counts is None else [0, 0, *counts]
        self._words = tuple(words)
        self._counts = np.zeros(len(words), np.int64) if counts is None else np.array(counts, np.int64)
        self._undercount = undercount
        _check_words(self._words, self._counts)
        # "[UNK]" and "" are no words: in a text they are looked up like any other that is not there.
        self._ids = {self._rules.key(word): number for number, word in enumerate(self._words) if number >= _SPECIAL}

    @classmethod
    def fit(
        cls,
        source: Any,
        feature: str | None = None,
        size: int | None = None,
        *,
        standardize: Standardize | None = "lower_and_strip_punctuation",
        split: Split = "whitespace",
        most_words: int | None = None,
    ) -> Vocabulary:
        """Count the words of texts and keep the most frequent.

        Equally frequent words are in reverse alphabetical order.

        Args:
            source: texts (str, bytes, ByteColumn, arrays, batches of these); with `feature` also a dataset, a mapping
                of columns, or rows or batches that are mappings. It is read once, in order, and not kept.
            feature: the name of the texts.
            size: the maximum number of ids, including padding and unknown words; None: no limit.
            standardize: how a text is prepared, as for the class.
            split: what a word is, as for the class.
            most_words: the maximum number of different words in memory (a million take about 120 MB); None: no limit.
                If the texts have more different words, the rarest are dropped, and `undercount` says by how much counts
                may be too low.

        >>> Vocabulary.fit({"text": ["a b a", "b c"]}, "text").encode_one("a c d").tolist()
        [3, 4, 1]
        """
        _check_size(size, most_words)
        rules = WordRules(standardize, split)
        seen = WordCounts(rules, most_words)
        seen.add(texts_of(source, feature))
        seen.discard(rules.key(_UNKNOWN))
        words, counts = seen.most_frequent(None if size is None else size - _SPECIAL)
        if not words:
            raise PipelineError(
                "A vocabulary cannot be made without words.",
                found=f"{seen.total} words" if seen.total else "no texts, or only empty texts",
                feature=feature,
            )
        return cls(
            [_PADDING, _UNKNOWN, *map(rules.spelled, words)],
            counts=[0, seen.total - sum(counts), *counts],
            standardize=standardize,
            split=split,
            undercount=seen.undercount,
        )

    @property
    def words(self) -> list[str]:
        """The words by id, "" and "[UNK]" included: what Keras' `get_vocabulary()` returns and `vocabulary=` takes.

        >>> Vocabulary.fit(["b a b"]).words
        ['', '[UNK]', 'b', 'a']
        """
        return list(self._words)

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """How often each word was seen when the vocabulary was fitted; entry 1 counts the words that were left out.

        >>> Vocabulary.fit(["c b a b c c"], size=4).counts.tolist()
        [0, 1, 3, 2]
        """
        return self._counts.copy()

    @property
    def undercount(self) -> int:
        """By how much counts may be too low; 0 means that counts and words are exact."""
        return self._undercount

    @property
    def standardize(self) -> Standardize | None:
        """How a text is prepared before it is split."""
        return self._rules.standardize

    @property
    def split(self) -> Split:
        """What a word is."""
        return self._rules.split

    def __len__(self) -> int:
        return len(self._words)

    def __eq__(self, other: object) -> bool:
        return self.to_json() == other.to_json() if isinstance(other, Vocabulary) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._words)

    def __repr__(self) -> str:
        return f"Vocabulary({len(self)} words: {list_names(self._words[_SPECIAL:], 3)})"

    def encode(self, texts: Any, *, max_length: int | None = None) -> Ragged:
        """Return the ids of every text's words; an absent text is an absent row.

        Args:
            texts: a list, array or ByteColumn of texts, as str or as UTF-8.
            max_length: the maximum number of words of a text; the others are left out.

        >>> Vocabulary(["cat", "dog"]).encode(["dog cat bird", None], max_length=2).to_list()
        [[3, 2], None]
        """
        if max_length is not None and (not isinstance(max_length, int) or max_length < 1):
            raise PipelineError("max_length must be an integer of at least 1.", found=repr(max_length))
        rows = rows_of(texts)
        pieces = [self._encode_piece(piece, max_length) for piece in in_pieces(rows)]
        lengths = np.concatenate([np.zeros(1, np.int64), *(lengths for _, lengths in pieces)])
        ids = np.concatenate([np.zeros(0, np.int64), *(ids for ids, _ in pieces)])
        present = np.array([row is not None for row in rows], np.bool_) if None in rows else None
        return Ragged.unchecked(ids, np.cumsum(lengths), present=present)

    def encode_one(self, text: str | bytes, *, max_length: int | None = None) -> npt.NDArray[np.int64]:
        """Return the ids of one text's words."""
        ids: npt.NDArray[np.int64] = self.encode([text], max_length=max_length)[0]
        return ids

    def decode(self, ids: Any) -> Any:
        """Return the text of ids, without padding; a list of texts for several rows of ids.

        >>> vocabulary = Vocabulary(["cat", "dog"])
        >>> vocabulary.decode([3, 1, 0])
        'dog [UNK]'
        >>> vocabulary.decode([[3, 0], [2, 2]])
        ['dog', 'cat cat']
        """
        if isinstance(ids, Ragged) or (len(ids) and np.ndim(ids[0])):
            return [None if row is None else self.decode(row) for row in ids]
        between = " " if self._rules.split == "whitespace" else ""
        numbers = np.asarray(ids)
        if numbers.size == 0:
            return ""
        if numbers.dtype.kind not in "iu" or numbers.min() < 0 or numbers.max() >= len(self):
            raise PipelineError(
                "Some ids are not in this vocabulary.", found=ids, expected=f"integers from 0 to {len(self) - 1}"
            )
        return between.join([self._words[number] for number in numbers.tolist() if number])

    def to_json(self) -> dict[str, Any]:
        """Return the vocabulary as JSON-ready values; a word's id is its place in the list.

        >>> Vocabulary.fit(["b a b"]).to_json()
        {'format': 'recordsmith-vocabulary', 'version': 1, 'standardize': 'lower_and_strip_punctuation',
         'split': 'whitespace', 'undercount': 0, 'words': ['', '[UNK]', 'b', 'a'], 'counts': [0, 0, 2, 1]}
        """
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "standardize": self._rules.standardize,
            "split": self._rules.split,
            "undercount": self._undercount,
            "words": list(self._words),
            "counts": self._counts.tolist(),
        }

    @classmethod
    def from_json(cls, document: Any) -> Vocabulary:
        """Build a vocabulary from what `to_json` returned. Unknown entries are an error."""
        if not isinstance(document, Mapping) or document.get("format") != _FORMAT:
            raise SchemaError(
                "This is not a recordsmith vocabulary.", expected=f'a JSON object with "format": "{_FORMAT}"'
            )
        if document.get("version") != _VERSION:
            raise SchemaError(
                "The version of this vocabulary is not supported by this version of recordsmith.",
                found=f"version {document.get('version')!r}",
                expected=f"version {_VERSION}",
                advice="Read it with the version of recordsmith that wrote it, or a newer one.",
            )
        if sorted(document) != sorted(_ENTRIES) or not isinstance(document["words"], list):
            raise SchemaError(
                "The JSON of the vocabulary has unknown or missing entries.",
                found=list_names(map(str, document)),
                expected=list_names(_ENTRIES),
            )
        if not isinstance(document["counts"], list) or not all(
            type(number) is int and 0 <= number < 2**63 for number in (*document["counts"], document["undercount"])
        ):
            raise SchemaError("The counts of the vocabulary must be integers from 0 to 2^63 - 1.")
        if document["words"][:_SPECIAL] != [_PADDING, _UNKNOWN]:
            raise SchemaError(
                'The words of the vocabulary must start with "" and "[UNK]".', found=document["words"][:_SPECIAL]
            )
        return cls(
            document["words"],
            counts=document["counts"],
            standardize=document["standardize"],
            split=document["split"],
            undercount=document["undercount"],
        )

    def to_text(self) -> str:
        """Return the content of the file that `save` writes."""
        document = self.to_json()
        lists = [(name, document.pop(name)) for name in ("words", "counts")]
        lines = [f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in document.items()]
        lines += [f"  {json.dumps(name)}: {json.dumps(values, ensure_ascii=False)}" for name, values in lists]
        # Bytes that are not UTF-8 are lone surrogates here, and only escaped can they be written.
        return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", "{\n" + ",\n".join(lines) + "\n}\n")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the vocabulary as JSON. The file gets its name only when it is complete.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Vocabulary(["cat"]).save(f"{folder}/vocabulary.json")
        ...     Vocabulary.load(f"{folder}/vocabulary.json")
        Vocabulary(3 words: 'cat')
        """
        rewrite_text(path, self.to_text())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Vocabulary:
        """Read a vocabulary that `save` wrote."""
        document = read_json(path, "vocabulary", _LIMITS)
        try:
            return cls.from_json(document)
        except RecordsmithError as error:
            raise error.at(path=path) from None

    def _encode_piece(
        self, rows: Sequence[bytes | None], max_length: int | None
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the ids of some rows, one after the other, and how many each row has."""
        cut = self._rules.words
        words = [b"" if row is None else cut(row) for row in rows]
        if max_length is not None:
            words = [row[:max_length] for row in words]
        lengths = np.fromiter(map(len, words), np.int64, len(words))
        ids = map(self._ids.get, chain.from_iterable(words), repeat(_UNKNOWN_ID))  # type: ignore[arg-type]  # bytes or str
        return np.fromiter(ids, np.int64, int(lengths.sum())), lengths


def _check_size(size: int | None, most_words: int | None) -> None:
    if size is not None and (isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size <= _SPECIAL):
        raise PipelineError(
            "The size of a vocabulary must include padding, unknown words and at least one word.",
            found=f"size={size!r}",
            expected=f"an integer of at least {_SPECIAL + 1}",
        )
    if most_words is not None and most_words < 2 * (size or 1):
        raise PipelineError(
            "most_words is too small for the size of the vocabulary.",
            found=f"most_words={most_words!r}, size={size!r}",
            expected="at least twice the size",
        )


def _check_words(words: tuple[str, ...], counts: npt.NDArray[np.int64]) -> None:
    if not all(isinstance(word, str) for word in words):
        raise SchemaError(
            "The words of a vocabulary must be strings.", found=next(w for w in words if not isinstance(w, str))
        )
    if len(counts) != len(words):
        raise SchemaError("There must be one count for each word.", found=f"{len(counts)} for {len(words)} words")
    if len(set(words)) != len(words):
        twice = sorted(words)
        word = next(one for one, other in pairwise(twice) if one == other)
        raise SchemaError(
            "A word is in the vocabulary twice.",
            found=f"{word!r} twice",
            advice='Remove one of them. "" and "[UNK]" may only be first.',
        )
