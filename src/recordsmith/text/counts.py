"""Counts words in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from recordsmith.text.rules import WordRules
from recordsmith.text.texts import in_pieces

__all__ = ["WordCounts"]


class WordCounts:
    """Counts of words, for at most so many different words at a time.

    Past the limit the rarest words are forgotten, down to half of it. A word that is forgotten and comes again starts
    over, so that from then on counts may be too low, and never too high: by `undercount` at the most.

    Args:
        rules: what a word is.
        most_words: the limit; None: every word is kept. A million words take about 120 MB.

    >>> counts = WordCounts(WordRules("lower", "whitespace"))
    >>> counts.add([b"a rose is a rose"])
    >>> counts.most_frequent(2)
    ([b'rose', b'a'], [2, 2])
    >>> counts.total, counts.undercount
    (5, 0)
    """

    __slots__ = ("_counts", "_most_words", "_rules", "total", "undercount")

    def __init__(self, rules: WordRules, most_words: int | None = None) -> None:
        self._rules = rules
        self._most_words = most_words
        self._counts: Counter[bytes | str] = Counter()
        self.total = 0
        self.undercount = 0

    def add(self, texts: Iterable[bytes]) -> None:
        """Count the words of some texts."""
        for piece in in_pieces(texts):
            words = self._rules.words_of_all(piece)
            self.total += len(words)
            self._counts.update(words)
            if self._most_words is not None and len(self._counts) > self._most_words:
                self._forget(self._most_words // 2)

    def most_frequent(self, n: int | None = None) -> tuple[list[Any], list[int]]:
        """Return the n most frequent words and their counts; of words seen equally often, the later in order first.

        >>> counts = WordCounts(WordRules("lower", "whitespace"))
        >>> counts.add([b"b a c c"])
        >>> counts.most_frequent()
        ([b'c', b'b', b'a'], [2, 1, 1])
        """
        counts = self._counts
        words: Iterable[bytes | str] = counts
        if n is not None and 0 < n < len(counts):
            # Only words that may get in are sorted: there are often far more of the others.
            least = int(np.partition(self._all_counts(), len(counts) - n)[len(counts) - n])
            words = (word for word, count in counts.items() if count >= least)
        ordered = sorted(sorted(words, reverse=True), key=counts.__getitem__, reverse=True)[:n]
        return ordered, [counts[word] for word in ordered]

    def discard(self, word: bytes | str) -> None:
        """Forget one word, whose occurrences still count in the total."""
        self._counts.pop(word, None)

    def _forget(self, keep: int) -> None:
        """Forget the words that were seen least, all that were seen equally often together."""
        every = self._all_counts()
        threshold = int(np.partition(every, len(every) - keep - 1)[len(every) - keep - 1])
        self.undercount += threshold
        self._counts = Counter({word: count for word, count in self._counts.items() if count > threshold})

    def _all_counts(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        return np.fromiter(self._counts.values(), np.int64, len(self._counts))
