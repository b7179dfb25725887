"""What a model sees: the next batches of a chain of verbs, row by row, next to the records that they come from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from recordsmith.images import ImageError
from recordsmith.images.png import png_bytes
from recordsmith.loader import Loader
from recordsmith.loader.engine.row_access import row_at
from recordsmith.loader.plan import RECORD_NUMBERS, BatchChange, Batching, Plan
from recordsmith.loader.verbs.batches.pack import Packed
from recordsmith.loader.verbs.rows.pairs import Paired
from recordsmith.viewer.data.media import Media
from recordsmith.viewer.data.opened import OpenedDataset
from recordsmith.viewer.pages.value_text import one_line
from recordsmith.viewer.pages.values import address
from recordsmith.wording.markup import Child, Markup, element
from recordsmith.wording.numbers import count_text, number_text
from recordsmith.wording.visible_text import clipped

__all__ = ["SeenBatches", "see_batches"]

_MOST_ROWS = 96
_ROWS_AT_ONCE = 16  # of a chain without batches
_LARGEST_SIDE = 512  # pixels of an image that is shown
_MOST_LINES = 6


@dataclass(frozen=True, slots=True)
class SeenRow:
    """One row of a batch.

    Attributes:
        record: the number of its record in the dataset; None where that is not known.
        values: what arrives, by role and name: ("input", "image").
    """

    record: int | None
    values: dict[tuple[str, str], Any]


@dataclass(frozen=True, slots=True)
class SeenBatches:
    """Some batches, and how they were made.

    Attributes:
        chain: the chain of verbs.
        batches: the rows of each.
        sizes: how many rows each has, of which not all may be shown.
    """

    chain: str
    batches: tuple[tuple[SeenRow, ...], ...]
    sizes: tuple[int, ...]

    def image(self, batch: int, row: int, place: int) -> Media:
        """Return a value of a row as an image; raises an ImageError."""
        try:
            value = list(self.batches[batch][row].values.values())[place]
        except IndexError:
            raise ImageError("There is no such value.") from None
        pixels = _pixels(value)
        if pixels is None:
            raise ImageError("The value is not an image.")
        return Media("image/png", png_bytes(_bright(pixels)[0]))

    def part(self, dataset: OpenedDataset, base: str) -> Child:
        """Return the batches as HTML; `base` is where the stored records are."""
        parts: list[Child] = [element("pre", clipped(self.chain, 1_000), class_="chain")]
        for number, rows in enumerate(self.batches):
            cells = [self._row(number, place, row, dataset, base) for place, row in enumerate(rows)]
            size = self.sizes[number]
            said = count_text(size, "row") + (f", the first {len(rows)}" if len(rows) < size else "")
            heading = element("h2", f"Batch {number}", element("small", said))
            parts.append(element("section", heading, element("div", cells, class_="seen-rows")))
        return parts

    def _row(self, batch: int, place: int, row: SeenRow, dataset: OpenedDataset, base: str) -> Markup:
        images: list[Child] = []
        lines: list[Child] = []
        for number, ((role, name), value) in enumerate(row.values.items()):
            pixels = _pixels(value)
            if pixels is not None:
                source = f"/batches/{batch}/{place}/{number}"
                _, said = _bright(pixels)
                images.append(
                    _figure(address(source), f"{clipped(name, 40)} as it arrives", f"{_shape(value)}, {said}")
                )
                if row.record is not None and role == "input" and name in dataset.types:
                    query = f"{base}/media/{row.record}?f={name}&kind=image&side=384"
                    images.append(_figure(address(query), "as it is stored", f"record {row.record:,}"))
            elif len(lines) < _MOST_LINES:
                shown = one_line(value, dataset.class_names(name), 120)
                lines.append(
                    element("span", element("i", clipped(f"{role} {name}".strip(), 40)), " ", element("bdi", shown))
                )
        where = (
            None
            if row.record is None
            else element("a", f"record {row.record:,}", href=address(f"{base}/r/{row.record}"))
        )
        return element(
            "article",
            element("div", images, class_="pair") if images else None,
            element("p", element("b", f"row {place}"), " ", where),
            element("div", lines, class_="lines"),
            class_="seen",
        )


def see_batches(loader: Loader[Any], batches: int) -> SeenBatches:
    """Take the next batches of a chain, from a copy of it: the loader's own place does not move."""
    plan = loader.plan
    if plan.batching is None:
        plan = replace(plan, batching=Batching(_ROWS_AT_ONCE))
    pair = plan.batch_changes[-1] if plan.batch_changes and isinstance(plan.batch_changes[-1], Paired) else None
    last = (replace(pair, with_index=True),) if pair is not None else (_Numbered(),)
    kept = plan.batch_changes[:-1] if pair is not None else plan.batch_changes
    copy: Loader[Any] = Loader(replace(plan, batch_changes=(*kept, *last)))
    copy.session.move(loader.session.upcoming())
    seen, sizes = [], []
    room = _MOST_ROWS
    for batch in islice(iter(copy), batches):
        *values, numbers = batch
        columns = _columns(values, pair)
        rows = tuple(_rows(columns, numbers, min(len(numbers), room), plan))
        room -= len(rows)
        seen.append(rows)
        sizes.append(len(numbers))
        if room <= 0:
            break
    return SeenBatches(repr(loader), tuple(seen), tuple(sizes))


@dataclass(frozen=True)
class _Numbered(BatchChange):
    """Gives a batch and the numbers of its records."""

    with_index = True

    def apply(self, batch: dict[str, Any]) -> tuple[Any, ...]:
        return {name: column for name, column in batch.items() if name != RECORD_NUMBERS}, batch[RECORD_NUMBERS]


def _columns(values: Sequence[Any], pair: Paired | None) -> dict[tuple[str, str], Any]:
    """Return the columns of a batch by role and name."""
    if pair is None:
        return {("", name): column for name, column in values[0].items()}
    roles = ("input", "target", "weight") if pair.target is not None else ("input", "weight")
    columns: dict[tuple[str, str], Any] = {}
    for role, value, picked in zip(roles, values, (pair.inputs, pair.target, "weight"), strict=False):
        if isinstance(value, Mapping):
            columns |= {(role, name): column for name, column in value.items()}
        else:
            columns[role, picked if isinstance(picked, str) else role] = value
    return columns


def _rows(columns: Mapping[tuple[str, str], Any], numbers: Any, count: int, plan: Plan) -> Iterator[SeenRow]:
    several = len(plan.datasets) > 1 or any(isinstance(change, Packed) for change in plan.changes)
    single = None if several else plan.datasets[0]
    records = None if single is None else single.record_range()
    for place in range(count):
        number = int(numbers[place])
        record = records[number] if records is not None and 0 <= number < len(records) else None
        yield SeenRow(record, {key: row_at({"": column}, place)[""] for key, column in columns.items()})


def _pixels(value: Any) -> np.ndarray[Any, Any] | None:
    """Return an array that is an image as (height, width, channels)."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "iuf" or value.ndim not in (2, 3) or not value.size:
        return None
    if value.ndim == 2:
        pixels = value[:, :, None]
    elif value.shape[2] in (1, 3, 4):
        pixels = value
    elif value.shape[0] in (1, 3, 4):
        pixels = np.moveaxis(value, 0, 2)
    else:
        return None
    if min(pixels.shape[:2]) < 8:
        return None
    step = -(-max(pixels.shape[:2]) // _LARGEST_SIDE)
    return pixels[::step, ::step]


def _bright(pixels: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], str]:
    """Return pixels as bytes, and how their values became brightness."""
    values = np.nan_to_num(pixels.astype(np.float64))
    low, high = float(values.min()), float(values.max())
    said = f"{number_text(low)} to {number_text(high)}"
    if pixels.dtype == np.uint8 or (low >= 0 and 1.5 < high <= 255):
        return values.astype(np.uint8), said
    if low >= 0 and high <= 1:
        return np.rint(values * 255).astype(np.uint8), said
    scaled = (values - low) / ((high - low) or 1.0)
    return np.rint(scaled * 255).astype(np.uint8), f"{said}, stretched"


def _shape(value: np.ndarray[Any, Any]) -> str:
    return f"{'×'.join(map(str, value.shape))} {value.dtype}"


def _figure(source: Markup, caption: str, note: str) -> Markup:
    image = element("img", src=source, alt=caption, loading="lazy")
    return element("figure", image, element("figcaption", caption, element("small", note)))
