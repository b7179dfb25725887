"""Small histograms and bars of block characters, for a cell of a table."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["bar", "block_histogram"]

_HEIGHTS = " ▁▂▃▄▅▆▇█"
_WIDTHS = " ▏▎▍▌▋▊▉█"


def block_histogram(counts: Sequence[float], width: int) -> str:
    """Draw counts as columns, at most `width` of them; what is not zero is never lost.

    >>> block_histogram([1, 4, 8, 0, 2], 5), block_histogram([1, 1, 8, 8], 2), block_histogram([], 5)
    ('▁▄█ ▂', '▁█', '')
    """
    columns = _merged(counts, width)
    highest = max(columns, default=0)
    if highest <= 0:
        return " " * len(columns)
    return "".join(_HEIGHTS[0 if count <= 0 else max(1, round(8 * count / highest))] for count in columns)


def bar(share: float, width: int) -> str:
    """Draw a share of 1 as a bar to the right, in eighths of a character; what is not zero is never lost.

    >>> bar(0.5, 4), bar(1.0, 4), bar(0.0001, 4), bar(0, 4)
    ('██', '████', '▏', '')
    """
    eighths = 0 if share <= 0 else max(1, round(min(share, 1.0) * width * 8))
    return "█" * (eighths // 8) + (_WIDTHS[eighths % 8] if eighths % 8 else "")


def _merged(counts: Sequence[float], width: int) -> list[float]:
    """Add neighbours up until there are no more columns than there is room for."""
    if len(counts) <= width:
        return list(counts)
    step = -(-len(counts) // width)
    return [sum(counts[start : start + step]) for start in range(0, len(counts), step)]
