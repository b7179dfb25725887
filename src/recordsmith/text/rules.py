"""Defines what a word is: the two steps that turn a text into words, as in Keras.

TensorFlow does both on bytes. Only the ASCII letters are made small, only the ASCII punctuation is removed, and only
ASCII whitespace separates words: "É" stays "É", and a no-break space is part of its word.
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Sequence
from typing import Literal, get_args

from recordsmith.errors import PipelineError, did_you_mean, list_names

__all__ = ["Split", "Standardize", "WordRules"]

Standardize = Literal["lower_and_strip_punctuation", "lower", "strip_punctuation"]
Split = Literal["whitespace", "character"]

_PUNCTUATION = string.punctuation.encode()
_LOWER = bytes(range(256)).lower()


class WordRules:
    """How a text becomes words.

    Args:
        standardize: what is done to the text first; None: nothing.
        split: what separates words; "character" makes every code point one.

    >>> WordRules("lower_and_strip_punctuation", "whitespace").words(b"It's a Dog!")
    [b'its', b'a', b'dog']
    >>> WordRules("lower", "character").words(b"Hi!")
    'hi!'
    """

    __slots__ = ("_removed", "_table", "split", "standardize")

    def __init__(self, standardize: Standardize | None, split: Split) -> None:
        _check_choice("standardize", standardize, (*get_args(Standardize), None))
        _check_choice("split", split, get_args(Split))
        self.standardize = standardize
        self.split = split
        parts = standardize or ""
        self._table = _LOWER if "lower" in parts else None
        self._removed = _PUNCTUATION if "strip" in parts else b""

    def words(self, text: bytes) -> Sequence[bytes | str]:
        r"""Return the words of one text: a list of bytes, or where each character is a word, one str of them.

        >>> WordRules(None, "whitespace").words("no\u00a0break  here".encode())
        [b'no\xc2\xa0break', b'here']
        """
        plain = text.translate(self._table, self._removed)
        return plain.split() if self.split == "whitespace" else plain.decode(errors="replace")

    def words_of_all(self, texts: Iterable[bytes]) -> Sequence[bytes | str]:
        """Return the words of several texts, one after the other, faster than text by text.

        >>> WordRules("lower", "whitespace").words_of_all([b"A b", b"C"])
        [b'a', b'b', b'c']
        """
        if self.split == "whitespace":
            return self.words(b"\n".join(texts))
        # One by one: a character that the end of a text cuts in two must not meet the start of the next.
        return "".join(str(self.words(text)) for text in texts)

    def key(self, word: str) -> bytes | str:
        r"""Return a word in the form in which `words` gives it.

        >>> WordRules("lower", "whitespace").key("é")
        b'\xc3\xa9'
        """
        return word.encode(errors="surrogateescape") if self.split == "whitespace" else word

    @staticmethod
    def spelled(word: bytes | str) -> str:
        r"""Return a word as text; bytes that are not UTF-8 become lone surrogates, and `key` turns them back.

        >>> WordRules.spelled(b"caf\xc3\xa9")
        'café'
        """
        return word if isinstance(word, str) else word.decode(errors="surrogateescape")


def _check_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    if value not in choices:
        raise PipelineError(
            f"{name} cannot be {value!r}.{did_you_mean(str(value), [str(choice) for choice in choices])}",
            expected=list_names(str(choice) for choice in choices),
            advice="For anything else, change the texts before you pass them.",
        )
