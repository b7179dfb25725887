"""What `recordsmith schema --diff` prints."""

from __future__ import annotations

from rich.text import Text

from recordsmith.schema.export.diff import SchemaDiff
from recordsmith.wording.visible_text import printable_lines

__all__ = ["difference_renderable"]

_STYLES = {"-": "red", "+": "green", "~": "yellow"}


def difference_renderable(difference: SchemaDiff) -> Text:
    """Lay out the difference of two schemas, with the colours that diffs have.

    >>> import recordsmith as rs
    >>> from rich.console import Console
    >>> old, new = rs.Schema({"a": rs.Text()}), rs.Schema({})
    >>> Console(width=80).print(difference_renderable(old.diff(new)))
    - a: Text()
    Records of the first can be read with the second.
    """
    text = Text()
    lines = printable_lines(str(difference)).split("\n")
    for number, line in enumerate(lines):
        style = _STYLES.get(line[:1], "")
        if line == difference.verdict:
            style = "bold green" if difference.compatible else "bold red"
        text.append(line + ("\n" if number < len(lines) - 1 else ""), style)
    return text
