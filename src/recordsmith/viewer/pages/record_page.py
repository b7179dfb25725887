"""The page of one record: every feature with its type, value and place in the distribution; where it is stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recordsmith import _core
from recordsmith.dataset.row_decoding import RowOverview
from recordsmith.facts.value_facts import FeatureFacts, NumberFacts
from recordsmith.query.overview import FeatureOverview
from recordsmith.report.html.findings_part import finding_block
from recordsmith.viewer.data.opened import OpenedDataset
from recordsmith.viewer.data.shown_record import ShownRecord
from recordsmith.viewer.data.state import ViewState
from recordsmith.viewer.pages.cards import small_cells
from recordsmith.viewer.pages.facets import histogram_drawing, type_text
from recordsmith.viewer.pages.frame import Viewed, whole_page
from recordsmith.viewer.pages.value_text import hex_dump
from recordsmith.viewer.pages.values import ValueRenderer, address
from recordsmith.wording.markup import Child, Markup, element, joined
from recordsmith.wording.numbers import bytes_text, number_text
from recordsmith.wording.visible_text import clipped

__all__ = ["record_link", "record_page", "similar_part"]

_MOST_FEATURES = 200
_NEIGHBOURS = 3  # on each side
_DUMPED_LINES = 32
_MOST_SIMILAR = 9


def record_link(base: str, number: int, state: ViewState, position: int) -> str:
    """Return the address of a record's page, which knows where in the selection it is."""
    query = state.url()
    return f"{base}/r/{number}{query}{'&' if len(query) > 1 else ''}at={position}"


def record_page(  # noqa: PLR0913 - each is a part of the page
    viewed: Viewed,
    every: Sequence[Viewed],
    record: ShownRecord,
    state: ViewState,
    *,
    position: int,
    around: Sequence[tuple[int, int]],
    count: int,
    renderer: ValueRenderer,
    all_features: bool,
) -> str:
    """Return the page.

    Args:
        viewed: its dataset.
        every: all datasets.
        record: the record.
        state: the selection that it was opened from.
        position: its place there.
        around: (position, number) of the records near it there, in order.
        count: how many there are.
        renderer: renders its values.
        all_features: show all features, however many.
    """
    dataset = viewed.dataset
    links = {at: record_link(viewed.base, number, state, at) for at, number in around}
    back = element("a", "Records", href=address(f"{viewed.base}/{state.url()}"), id="up", class_="button")
    steps = [
        element("a", words, href=address(links[at]), id=key, rel=key, class_="button")
        if at in links
        else element("span", words, class_="button off", aria_disabled="true")
        for key, words, at in (("prev", "← Previous", position - 1), ("next", "Next →", position + 1))
    ]
    where = f"{position + 1:,} of {count:,}" + (" selected" if state.is_filtered else "")
    return whole_page(
        f"Record {record.number:,} of {dataset.name}",
        element(
            "main",
            element("div", back, steps, element("span", where, class_="note"), class_="steps"),
            element("h1", f"Record {record.number:,}"),
            _findings(viewed, record),
            element(
                "div",
                element("div", _features(viewed, record, renderer, all_features=all_features), class_="values"),
                element(
                    "aside",
                    _place(dataset, record),
                    _duplicates(viewed, record),
                    similar_part(viewed, record, renderer, asked=False),
                    _python(dataset, record),
                    _neighbours(viewed, around, links, record, renderer),
                    class_="about-record",
                ),
                class_="columns",
            ),
            _raw(record),
            class_="document record",
        ),
        viewed=viewed,
        every=every,
        class_="app plain",
        data_page="record",
        data_base=address(viewed.base),
    )


def _findings(viewed: Viewed, record: ShownRecord) -> Child:
    parts: list[Child] = []
    if record.error is not None:
        parts.append(element("p", clipped(record.error, 600), class_="broken"))
    parts += [element("p", clipped(str(one), 600), class_="broken") for one in record.problems[:4]]
    parts += _breaks(viewed.dataset, record)
    if record.row is not None:
        report = viewed.examination.report
        for one in viewed.examination.about(record)[:20]:
            text = None if report is None else report.rules.get(one.code)
            parts.append(finding_block(one, text, (), open_=False))
    return parts


def _breaks(dataset: OpenedDataset, record: ShownRecord) -> list[Markup]:
    located = dataset.locate(record.number)
    recovered = None if located is None else dataset.recovered(located[0].path)
    if located is None or recovered is None:
        return []
    sides = zip(("before", "after"), recovered.break_beside(located[1]), strict=True)
    return [
        element("p", f"The file is broken directly {side} this record: {one.reason}, {one.where}.", class_="broken")
        for side, one in sides
        if one is not None
    ]


def _features(viewed: Viewed, record: ShownRecord, renderer: ValueRenderer, *, all_features: bool) -> Markup:
    dataset = viewed.dataset
    row = record.row
    if row is None:
        return Markup("")
    if row.features is None:
        return _payload(row)
    overviews = {one.name: one for one in dataset.features}
    values = record.values
    known = [name for name in overviews if name in values]
    names = [*known, *(name for name in values if name not in overviews)]
    shown = names if all_features else names[:_MOST_FEATURES]
    blocks = [_feature(name, overviews.get(name), values, record.number, viewed, renderer) for name in shown]
    missing = [name for name in overviews if name not in values]
    more = None
    if len(shown) < len(names):
        more = element("p", element("a", f"Show all {len(names):,} features", href="?all=1", class_="button"))
    absent = (
        element(
            "p",
            "Absent here: ",
            ", ".join(clipped(name, 60) for name in missing[:40]),
            f" and {len(missing) - 40:,} more" if len(missing) > 40 else "",
            class_="note",
        )
        if missing
        else None
    )
    return joined([blocks, more, absent])


def _payload(row: RowOverview) -> Markup:
    if row.kind == "text":
        return element(
            "article",
            element("header", element("h2", "text")),
            element("pre", clipped(row.payload.decode(errors="backslashreplace"), 4_000), class_="numbers-list"),
            class_="feature",
        )
    said = f"This record is not a tf.train.Example. It looks like: {row.kind.replace('_', ' ')}."
    return element("article", element("p", said), hex_dump(row.payload, lines=64), class_="feature")


def _feature(
    name: str,
    overview: FeatureOverview | None,
    values: dict[str, Any],
    number: int,
    viewed: Viewed,
    renderer: ValueRenderer,
) -> Markup:
    value = values[name]
    facts = viewed.examination.feature(name)
    kind = "" if overview is None else type_text(overview.feature, overview.kinds)
    shape = getattr(value, "shape", None)
    size = f"{'×'.join(map(str, shape))} {value.dtype}" if isinstance(value, np.ndarray) and shape else kind
    return element(
        "article",
        element(
            "header",
            element("h2", element("bdi", clipped(name, 200))),
            element("span", size, class_="chip"),
            element("small", "declared") if overview is not None and overview.declared else None,
        ),
        renderer.full(number, name, value, values),
        _standing(value, facts, name, viewed.dataset),
        class_="feature",
    )


def _standing(value: Any, facts: FeatureFacts | None, name: str, dataset: OpenedDataset) -> Markup | None:
    """Show a number in the distribution of its feature, and a class next to the others."""
    if facts is None:
        return None
    if isinstance(value, (int, float, np.number)) and facts.numbers is not None and not dataset.class_names(name):
        histogram = facts.numbers.histogram
        if histogram is None or not sum(histogram.counts) or len(histogram.counts) < 2:
            return None
        drawing = histogram_drawing(histogram, name=name, marked=[float(value)] if np.isfinite(value) else [])
        return element("div", drawing, element("small", _rank(float(value), facts.numbers)), class_="standing")
    if isinstance(value, np.ndarray) and value.dtype.kind in "iuf" and value.size > 1 and facts.numbers is not None:
        finite = value[np.isfinite(value)] if value.dtype.kind == "f" else value
        if not finite.size or facts.numbers.mean is None:
            return None
        said = (
            f"mean {number_text(float(finite.mean()))} (dataset {number_text(facts.numbers.mean)}), "
            f"{number_text(float(finite.min()))} to {number_text(float(finite.max()))} "
            f"(dataset {number_text(facts.numbers.min or 0)} to {number_text(facts.numbers.max or 0)})"
        )
        bad = value.size - finite.size
        return element("small", said, f", {bad:,} not finite" if bad else "", class_="standing")
    share = next((one.count for one in facts.frequent if _same(one.value, value)), None)
    if share is not None and facts.records:
        return element("small", f"{share:,} of {facts.records:,} records have this value", class_="standing")
    return None


def _same(known: float | bytes, value: Any) -> bool:
    if isinstance(known, bytes):
        stored = value.encode(errors="surrogateescape") if isinstance(value, str) else value
        return isinstance(stored, bytes) and known == stored
    return isinstance(value, (int, float, np.number)) and bool(known == value)


def _rank(value: float, numbers: NumberFacts) -> str:
    """Say where a value is among all others."""
    if not np.isfinite(value):
        return "not a finite number"
    shares = sorted(numbers.quantiles)
    at = [numbers.quantiles[share] for share in shares]
    if not at:
        return ""
    if value <= at[0]:
        return "the least value" if value == at[0] else "less than all others"
    if value >= at[-1]:
        return "the greatest value" if value == at[-1] else "greater than all others"
    return f"greater than about {100 * float(np.interp(value, at, shares)):.0f} % of the values"


def _place(dataset: OpenedDataset, record: ShownRecord) -> Markup:
    row = record.row
    facts: list[tuple[str, str]] = []
    if row is not None:
        facts += [("file", row.path), ("record in file", f"{row.number_in_file:,}")]
        place = dataset.place(record.number)
        if place is not None:
            facts += [("byte offset", f"{place[0]:,}"), ("size on disk", bytes_text(place[1]))]
        facts += [
            ("payload", bytes_text(len(row.payload))),
            ("CRC-32C", f"0x{_core.masked_crc32c(row.payload):08x}, masked"),
            ("kind", row.kind.replace("_", " ")),
        ]
    rows = [element("tr", element("th", key), element("td", element("bdi", clipped(text, 300)))) for key, text in facts]
    return element("section", element("h2", "Where it is"), element("table", rows))


def _duplicates(viewed: Viewed, record: ShownRecord) -> Markup | None:
    """List the records that are equal to one, among those that the check has noted."""
    facts = viewed.examination.facts
    if facts is None or facts.duplicates is None or record.row is None:
        return None
    here = (record.row.path, record.row.number_in_file)
    links = []
    for words, groups in (
        ("equal", facts.duplicates.groups),
        ("equal but for the label", facts.duplicates.contradictory_groups),
    ):
        for group in groups:
            places = [(place.path, place.record) for place in group.places]
            if here not in places:
                continue
            for path, number in places:
                found = viewed.dataset.number_of(path, number)
                if (path, number) != here and found is not None:
                    link = element("a", f"record {found:,}", href=address(f"{viewed.base}/r/{found}"))
                    links.append(element("li", link, f", {words}"))
            if group.count > len(places):
                links.append(element("li", f"{group.count - len(places):,} more"))
    return element("section", element("h2", "Duplicates"), element("ul", links)) if links else None


def similar_part(viewed: Viewed, record: ShownRecord, renderer: ValueRenderer, *, asked: bool) -> Markup:
    """Return the part with the records that look like one; while they are looked for, its progress."""
    likeness = viewed.likeness
    source = f"{viewed.base}/r/{record.number}/similar"
    content: list[Child]
    if not likeness.start(asked=asked):
        content = [
            element("p", "All records are read for this, which takes a while.", class_="note"),
            element("a", "Look for similar records", href=address(f"{source}?run=1"), class_="button", data_part=True),
        ]
    elif not likeness.done:
        share = 100 * likeness.compared // max(1, likeness.limit)
        content = [element("p", f"Comparing records, {share} % …", class_="note", role="status")]
    elif not likeness.kind:
        said = "Records without images, longer texts or several floats are not compared."
        content = [element("p", likeness.error or said, class_="note")]
    else:
        near = likeness.near(record.number)
        some = likeness.compared < viewed.dataset.records
        said = f"Compared {likeness.said}" + (f", among the first {likeness.compared:,} records." if some else ".")
        content = [
            small_cells(viewed.dataset, [(n, f"{viewed.base}/r/{n}") for n in near[:_MOST_SIMILAR]], renderer)
            if near
            else element("p", "No other record looks like this one.", class_="note"),
            element(
                "p",
                element(
                    "a",
                    f"Show {'it' if len(near) == 1 else f'all {len(near):,}'} in the grid",
                    href=address(f"{viewed.base}/{ViewState(like=record.number).url()}"),
                    class_="button",
                ),
            )
            if near
            else None,
            element("p", element("small", said)),
        ]
    return element(
        "section",
        element("h2", "Similar records"),
        content,
        id="similar",
        data_source=address(source) if likeness.started and not likeness.done else None,
    )


def _python(dataset: OpenedDataset, record: ShownRecord) -> Markup:
    source = repr(dataset.paths[0]) if len(dataset.paths) == 1 else repr(list(dataset.paths))
    split = f", split={dataset.split!r}" if dataset.split else ""
    read = (
        f"row = ds[{record.number}]"
        if record.row is None or record.row.features is not None
        else f"payload = ds.raw({record.number})"
    )
    located = dataset.locate(record.number)
    if located is not None and located[0].damaged:
        return element(
            "section",
            element("h2", "In Python"),
            element("p", "The file is damaged: repair it before you read this record by its number.", class_="note"),
        )
    code = f"import recordsmith as rs\n\nds = rs.open({source}{split})\n{read}"
    return element(
        "section",
        element("h2", "In Python"),
        element(
            "div",
            element("pre", address(code)),
            element("button", "Copy", type="button", class_="copy"),
            class_="copied",
        ),
    )


def _neighbours(
    viewed: Viewed,
    around: Sequence[tuple[int, int]],
    links: dict[int, str],
    record: ShownRecord,
    renderer: ValueRenderer,
) -> Markup | None:
    near = [(number, links[at]) for at, number in around if number != record.number]
    if not near:
        return None
    return element("section", element("h2", "Neighbours"), small_cells(viewed.dataset, near, renderer))


def _raw(record: ShownRecord) -> Markup | None:
    if record.row is None:
        return None
    more = f", the first {16 * _DUMPED_LINES}" if len(record.row.payload) > 16 * _DUMPED_LINES else ""
    return element(
        "details",
        element("summary", f"Raw bytes of the payload{more}"),
        hex_dump(record.row.payload, lines=_DUMPED_LINES),
        class_="raw",
    )
