"""What `recordsmith show --record` prints: one record, with every value in full."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from recordsmith.query.overview import DatasetOverview, FeatureOverview, RowOverview
from recordsmith.terminal.results.overview_tables import MOST_FEATURES, more_features
from recordsmith.terminal.values.feature_types import shape_text, type_text
from recordsmith.terminal.values.full_values import full_value
from recordsmith.terminal.values.hex_dump import hex_dump
from recordsmith.terminal.values.payload_names import payload_name
from recordsmith.terminal.values.thumbnails import Thumbnails
from recordsmith.wording.numbers import bytes_text
from recordsmith.wording.visible_text import printable, quoted

__all__ = ["record_renderable"]

_MOST_IMAGES = 8  # of one feature


def record_renderable(
    overview: DatasetOverview, row: RowOverview, *, width: int, raw: bool = False, thumbnails: Thumbnails | None = None
) -> RenderableType:
    """Lay out one record of a dataset."""
    head = Text().append(f"record {row.number:,}", "bold").append(f" of {overview.records:,}")
    place = f"{printable(row.path)}, record {row.number_in_file:,}, {bytes_text(len(row.payload))}"
    parts: list[RenderableType] = [head, Text(f"  {place}, {payload_name(row.kind)}", "dim")]
    if raw or (row.features is None and row.kind != "text"):
        parts += [Text(), Text("\n".join(hex_dump(row.payload, len(row.payload))) or "no bytes", no_wrap=True)]
    elif row.features is None:
        parts += [Text(), Text(quoted(row.payload.decode(errors="backslashreplace"), 1 << 20), "green")]
    else:
        for feature in overview.features[:MOST_FEATURES]:
            parts += [Text(), *_feature(feature, row, width, thumbnails)]
        parts += [part for more in more_features(len(overview.features)) for part in (Text(), more)]
    return Group(*parts)


def _feature(
    feature: FeatureOverview, row: RowOverview, width: int, thumbnails: Thumbnails | None
) -> Iterable[RenderableType]:
    value = row.value(feature.name, steps=feature.steps)
    title = Text().append(printable(feature.name), "bold").append(f"  {type_text(feature)}", "cyan")
    shape = shape_text(feature)
    yield title.append("" if shape == "scalar" else f" {shape}", "dim")
    yield Padding(full_value(value, feature.feature, width - 2), (0, 0, 0, 2))
    values = value if isinstance(value, list) else [value]
    if thumbnails is not None:
        yield from thumbnails.of(values[:_MOST_IMAGES])
