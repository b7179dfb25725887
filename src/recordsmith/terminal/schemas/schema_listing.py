"""What `recordsmith schema` prints."""

from __future__ import annotations

from itertools import islice

from rich.console import Group, RenderableType
from rich.text import Text

from recordsmith.dataset.descriptions.schema_source import FoundSchema
from recordsmith.wording.numbers import count_text
from recordsmith.wording.visible_text import printable, printable_lines

__all__ = ["MOST_FEATURES", "more_features", "schema_renderable", "schema_source"]

MOST_FEATURES = 2000  # that are shown; a record may have millions

_COLOURS = {
    "Scalar": "cyan",
    "Tensor": "cyan",
    "Label": "cyan",
    "Sparse": "cyan",
    "Text": "green",
    "Bytes": "magenta",
    "Image": "magenta",
    "Audio": "magenta",
    "Packed": "magenta",
    "Steps": "yellow",
}


def schema_renderable(found: FoundSchema) -> RenderableType:
    """Lay out a schema as the Python that declares it, under a comment that says where it comes from.

    >>> from rich.console import Console
    >>> import recordsmith as rs
    >>> Console(width=80).print(schema_renderable(FoundSchema(rs.Schema({"a": rs.Text()}), None, 2, True, ("x",))))
    # inferred from all 2 records of 1 file
    Schema({
        'a': Text(),
    })
    """
    shown = (
        found.schema if len(found.schema) <= MOST_FEATURES else found.schema.select(islice(found.schema, MOST_FEATURES))
    )
    declaration = _coloured(printable_lines(repr(shown)))
    return Group(Text(f"# {schema_source(found)}", "dim"), declaration, *more_features(found))


def more_features(found: FoundSchema) -> list[Text]:
    """Say how many features are not shown, if there are such."""
    left = len(found.schema) - MOST_FEATURES
    words = f"# and {count_text(left, 'more feature')}, which -o FILE and --format json write"
    return [Text(words, "yellow")] if left > 0 else []


def schema_source(found: FoundSchema) -> str:
    """Say where a schema comes from.

    >>> import recordsmith as rs
    >>> schema_source(FoundSchema(rs.Schema({}), "data/recordsmith.json", 0, False, ("a", "b")))
    'declared by data/recordsmith.json'
    """
    if found.described_by is not None:
        return f"declared by {printable(found.described_by)}"
    of_all = "all" if found.looked_at_all else "the first"
    return f"inferred from {of_all} {count_text(found.looked_at, 'record')} of {count_text(len(found.files), 'file')}"


def _coloured(text: str) -> Text:
    coloured = Text(text)
    for name, style in _COLOURS.items():
        coloured.highlight_regex(rf"\b{name}(?=\()", style)
    coloured.highlight_regex(r"(?m)^    ('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"):", "bold")
    coloured.highlight_regex(r"optional=True", "yellow")
    return coloured
