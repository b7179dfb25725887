"""Text that comes from data, as it may be shown: nothing in it steers a terminal, hides, or turns the line around."""

from __future__ import annotations

__all__ = ["clipped", "middle_left_out", "printable", "quoted"]


def printable(text: str) -> str:
    r"""Return text with everything that does not show, or that steers a terminal, as escapes.

    >>> printable("a\x1b[31m\n"), printable("é")
    ('a\\x1b[31m\\n', 'é')
    """
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in _mended(text))


def clipped(text: str, width: int = 600) -> str:
    """Return printable text, without its end where it is long.

    >>> clipped("a" * 100, 10)
    'aaaaaaaaa…'
    """
    shown = printable(text[: width + 1])
    return shown if len(shown) <= width else f"{shown[: width - 1]}…"


def middle_left_out(name: str, width: int) -> str:
    """Shorten a name in its middle: the ends of image/object/bbox/xmin and of ymin are what differs.

    >>> middle_left_out("image/object/bbox/xmin", 16)
    'image…/bbox/xmin'
    """
    if len(name) <= width:
        return name
    end = (width - 1) * 2 // 3
    return f"{name[: width - 1 - end]}…{name[len(name) - end :]}"


def quoted(text: str, width: int = 60) -> str:
    r"""Quote text, shortened to `width` characters.

    >>> quoted('say "hi"\n')
    '"say \\"hi\\"\\n"'
    >>> quoted("a" * 100, 10)
    '"aaaaaaa…"'
    """
    shown = printable(text[: width * 4].replace("\\", "\\\\").replace('"', '\\"'))
    return f'"{shown}"' if len(shown) + 2 <= width else f'"{shown[: max(1, width - 3)]}…"'


def _mended(text: str) -> str:
    """Replace lone surrogates, which stand for bytes that were no UTF-8, by something that can be printed."""
    return text.encode("utf-8", "backslashreplace").decode()
