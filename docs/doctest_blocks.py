"""For mkdocs: shows the examples in docstrings as code. Markdown would take their `>>>` for quotations."""
# ruff: noqa: INP001 - a plugin, found by its path

from __future__ import annotations

from typing import Any

from griffe import Extension, Object


def fenced(text: str) -> str:
    r"""Return a docstring with a code fence around each run of lines that begins with `>>>`.

    >>> print(fenced("Adds.\n\n>>> 1 + 1\n2"))
    Adds.
    <BLANKLINE>
    ```pycon
    >>> 1 + 1
    2
    ```
    """
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        if not inside and line.startswith(">>>"):
            lines.append("```pycon")
            inside = True
        elif inside and not line.strip():
            lines.append("```")
            inside = False
        lines.append(line)
    if inside:
        lines.append("```")
    return "\n".join(lines)


class DoctestBlocks(Extension):
    """What griffe calls for each object that it has read."""

    def on_instance(self, *, obj: Object, **_: Any) -> None:
        """Fence the examples of one docstring."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
