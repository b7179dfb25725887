"""The fingerprint of a split: equal if two splits have the same records, in whatever order and files.

It is the sum of two 64-bit numbers of each record, made from the digest of its content: 32 hexadecimal digits. Repeated
records count as often as they are there. Compression, the number of files and the order make no difference. It is made
to notice changes, and not to prove anything to somebody who distrusts whoever wrote the dataset: for that, there are
the SHA-256 digests of the files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from recordsmith.keyed_random import Uint64s, priorities

__all__ = ["Fingerprint"]

# Never change them: fingerprints of older datasets would mean nothing any more.
_FIRST, _SECOND = 0x5F0C91AB77E01D34, 0x91BE07C2D3A84F65
_BITS = 64
_TEXT = re.compile(r"[0-9a-f]{32}")


class Fingerprint(str):
    """The fingerprint of some records, as a text.

    >>> both = Fingerprint.of(np.array([1, 2], np.uint64))
    >>> both == Fingerprint.total([Fingerprint.of(np.array([n], np.uint64)) for n in (2, 1)])
    True
    >>> both
    'f7e6c73f71afb2846ac67650d5733c2d'
    """

    __slots__ = ()

    @classmethod
    def of(cls, digests: Uint64s) -> Fingerprint:
        """Return that of records, by the digests of their contents."""
        with np.errstate(over="ignore"):
            first, second = (int(priorities(digests, key).sum(dtype=np.uint64)) for key in (_FIRST, _SECOND))
        return cls(f"{first:016x}{second:016x}")

    @classmethod
    def total(cls, parts: Iterable[str]) -> Fingerprint:
        """Return that of all records together, by those of parts of them."""
        first = second = 0
        for part in parts:
            first, second = first + int(part[:16], 16), second + int(part[16:], 16)
        return cls(f"{first % 2**_BITS:016x}{second % 2**_BITS:016x}")

    @classmethod
    def parsed(cls, text: str | None) -> Fingerprint | None:
        """Return what a manifest says; None if it says nothing that can be one."""
        return cls(text) if text is not None and _TEXT.fullmatch(text) else None
