"""A schema as a table: one line for each feature."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from itertools import islice

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from recordsmith.dataset.descriptions.schema_source import FoundSchema
from recordsmith.schema import Feature, Scalar, Sparse, Steps, Tensor
from recordsmith.schema.plan import PlanColumn
from recordsmith.terminal.schemas.schema_listing import MOST_FEATURES, more_features, schema_source
from recordsmith.terminal.values.short_values import printable
from recordsmith.wording.numbers import count_text

__all__ = ["schema_table"]

_SHOWN_ELSEWHERE = {
    *("dtype", "shape", "height", "width", "channels", "feature", "names"),
    *("optional", "default", "description", "storage"),
}
_LONGEST = 40  # characters of a setting's value


def schema_table(found: FoundSchema) -> RenderableType:
    """Lay out a schema as a table, under a line that says where it comes from.

    >>> import recordsmith as rs
    >>> from rich.console import Console
    >>> schema = rs.Schema({"kind": rs.Label(["cat", "dog"]), "box": rs.Tensor("float32", (4,), min=0)})
    >>> Console(width=90).print(schema_table(FoundSchema(schema, None, 2, True, ("x",))))
    inferred from all 2 records of 1 file
    <BLANKLINE>
      feature   type      shape    presence   stored as   settings
     ─────────────────────────────────────────────────────────────────────────
      kind      label     scalar   required   1 int64     2 classes: cat, dog
      box       float32   (4,)     required   4 float     min=0
    <BLANKLINE>
    """
    table = Table(box=SIMPLE_HEAD)
    for title in ("feature", "type", "shape", "presence", "stored as", "settings"):
        table.add_column(title, overflow="fold", no_wrap=title in ("type", "shape", "presence"))
    described = any(feature.description for feature in found.schema.values())
    if described:
        table.add_column("description", overflow="fold")
    for name, feature in islice(found.schema.items(), MOST_FEATURES):
        cells: list[str | Text] = [
            Text(printable(name), "bold"),
            Text(_type(feature), "cyan"),
            _shape(feature),
            Text(_presence(feature), "" if feature.presence == "required" else "yellow"),
            Text(", ".join(_stored(column) for column in feature.plan(name)), "dim"),
            printable(", ".join(_settings(feature))),
        ]
        table.add_row(*cells, *([printable(feature.description)] if described else []))
    return Group(Text(schema_source(found), "dim"), table, *more_features(found))


def _type(feature: Feature) -> str:
    if isinstance(feature, Steps):
        return f"steps of {_type(feature.feature)}"
    if isinstance(feature, Sparse):
        return f"sparse {feature.dtype}"
    return str(feature.dtype) if type(feature) in (Scalar, Tensor) else feature.type_name


def _shape(feature: Feature) -> str:
    if isinstance(feature, Steps):
        inner = getattr(feature.feature, "shape", ())
        return str((None, *inner))
    shape = getattr(feature, "shape", ())
    return str(shape) if shape else "scalar"


def _presence(feature: Feature) -> str:
    if feature.presence == "default":
        return f"default {_short(feature.default)}"
    return feature.presence


def _stored(column: PlanColumn) -> str:
    if column.row_bytes is not None:
        return count_text(column.row_bytes, "byte")
    if column.count is None:
        return f"{column.kind} list"
    return count_text(column.count, "byte string") if column.kind == "bytes" else f"{column.count} {column.kind}"


def _settings(feature: Feature) -> Iterator[str]:
    if isinstance(feature, Steps):
        yield from _settings(feature.feature)
        return
    names = getattr(feature, "names", None)
    if names is not None:
        yield _short(f"{count_text(len(names), 'class', 'classes')}: {', '.join(names)}")
    for entry in fields(feature):
        value = getattr(feature, entry.name)
        if entry.name not in _SHOWN_ELSEWHERE and value is not None and value is not False:
            yield f"{entry.name}={_short(value)}"


def _short(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
