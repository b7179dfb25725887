"""The evidence of a finding as short texts, for every renderer that shows it."""

from __future__ import annotations

from typing import Any

from recordsmith.rules import Finding
from recordsmith.wording.numbers import number_text
from recordsmith.wording.visible_text import clipped, quoted

__all__ = ["evidence_texts"]

_DEEPEST = 3  # levels of nested lists


def evidence_texts(finding: Finding, *, width: int, entries: int) -> list[tuple[str, str]]:
    """Return each piece of evidence as a name and a text.

    Args:
        finding: whose evidence.
        width: the most characters of a name or of one value.
        entries: the most entries of a list that are shown.

    >>> from recordsmith.rules import Severity
    >>> seen = {"first_values": [0.5, 1, 2], "shape": None, "by_class": {"cat": " 3"}}
    >>> evidence_texts(Finding("V001", "nan", Severity.INFO, "2 NaN.", evidence=seen), width=48, entries=2)
    [('first values', '0.5, 1, …'), ('shape', 'unknown'), ('by class', 'cat " 3"')]
    """

    def text(value: Any, depth: int = 0) -> str:
        match value:
            case bool() | None:
                return {True: "yes", False: "no", None: "unknown"}[value]
            case int() | float():
                return number_text(value)
            case str():
                return quoted(value, width)
            case bytes():
                return quoted(value.decode(errors="backslashreplace"), width)
            case dict() if depth < _DEEPEST:
                shown = [f"{clipped(str(name), width)} {text(one, depth + 1)}" for name, one in value.items()]
                return ", ".join(shown[:entries]) + (", …" if len(shown) > entries else "")
            case list() | tuple() if depth < _DEEPEST:
                nested = any(isinstance(one, (dict, list, tuple)) for one in value)
                most = entries // 2 if nested else entries
                shown = [text(one, depth + 1) for one in value[:most]]
                return (" / " if nested else ", ").join(shown) + (", …" if len(value) > most else "")
        return clipped(str(value), width)

    return [(clipped(str(name), width).replace("_", " "), text(value)) for name, value in finding.evidence.items()]
