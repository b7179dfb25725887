"""Makes text from data safe to show: no control characters, no hidden text, no reversed lines."""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["clipped", "json_text", "middle_left_out", "printable", "printable_lines", "quoted", "without_surrogates"]

_PERHAPS_INVISIBLE = re.compile("[^\x00-\x7e]")


def printable(text: str) -> str:
    r"""Return text with everything that does not show, or that steers a terminal, as escapes.

    >>> printable("a\x1b[31m\n"), printable("é")
    ('a\\x1b[31m\\n', 'é')
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in without_surrogates(text)
    )


def printable_lines(text: str) -> str:
    r"""Return text of several lines, each printable; only "\n" ends a line.

    >>> printable_lines("a\r\nb")
    'a\\r\nb'
    """
    return "\n".join(map(printable, text.split("\n")))


def json_text(document: Any, *, indent: int | None = 2) -> str:
    r"""Write JSON in which letters stay as they are and everything that does not show is an escape.

    >>> json_text(["é", "a\x9b\u202e"], indent=None)
    '["é", "a\\u009b\\u202e"]'
    """
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=indent)
    return _PERHAPS_INVISIBLE.sub(_escaped_unless_visible, text)


def _escaped_unless_visible(found: re.Match[str]) -> str:
    char = found[0]
    return char if char.isprintable() else json.dumps(char)[1:-1]


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


def without_surrogates(text: str) -> str:
    r"""Replace lone surrogates, which stand for bytes of a file name that are not UTF-8, by escapes.

    >>> without_surrogates("a\udcff")
    'a\\udcff'
    """
    return text.encode(errors="backslashreplace").decode()
