"""The features next to the grid: a histogram, class bars or the most common values of each, which filter if clicked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice

import numpy as np
import numpy.typing as npt

from recordsmith.facts.value_facts import FeatureFacts, FrequentValue, Histogram
from recordsmith.query.overview import FeatureOverview
from recordsmith.report.html.drawings import bar
from recordsmith.schema import Feature, Label, Scalar, Steps
from recordsmith.viewer.data.examination import Examination
from recordsmith.viewer.data.opened import OpenedDataset
from recordsmith.viewer.data.selected_values import SelectedValues
from recordsmith.viewer.data.state import ViewState
from recordsmith.viewer.pages.annotations import is_class_name
from recordsmith.viewer.pages.values import address
from recordsmith.wording.markup import Child, Markup, element, joined
from recordsmith.wording.numbers import number_text
from recordsmith.wording.visible_text import clipped

__all__ = ["facets_part", "feature_anchor", "found_classes", "histogram_drawing", "type_text"]

_MOST_FEATURES = 120
_MOST_BARS = 8
_MOST_FOUND = 20
_FEW = 12  # different numbers that are shown as bars
_MOST_BINS = 40
_HEIGHT = 44


def facets_part(
    dataset: OpenedDataset, examination: Examination, state: ViewState, selected: SelectedValues | None
) -> Markup:
    """Return all features, with what the selected records have of each."""
    shown = dataset.features[:_MOST_FEATURES]
    parts: list[Child] = [_facet(one, dataset, examination, state, selected) for one in shown]
    if len(dataset.features) > len(shown):
        parts.append(
            element(
                "p", f"{len(dataset.features) - len(shown):,} more features are on the page of a record.", class_="note"
            )
        )
    if not dataset.features:
        parts.append(
            element("p", "The records are not tf.train.Example messages, so there are no features.", class_="note")
        )
    return joined(parts)


def feature_anchor(dataset: OpenedDataset, name: str) -> str:
    """Return the id of a feature next to the grid; its number, because names may contain anything."""
    return f"feature-{next(number for number, one in enumerate(dataset.features) if one.name == name)}"


def _facet(
    one: FeatureOverview,
    dataset: OpenedDataset,
    examination: Examination,
    state: ViewState,
    selected: SelectedValues | None,
) -> Markup:
    facts = examination.feature(one.name)
    content = None if facts is None else _content(one.name, facts, dataset, examination, state, selected)
    chosen = any(name == one.name for name, *_ in (*state.classes, *state.ranges))
    return element(
        "details",
        element(
            "summary",
            element("span", element("bdi", clipped(one.name, 80)), class_="name"),
            element("small", type_text(one.feature, one.kinds), class_="type"),
        ),
        content if content is not None else element("p", _said(facts), class_="note"),
        class_="facet chosen" if chosen else "facet",
        open=content is not None,
        id=feature_anchor(dataset, one.name),
        data_name=clipped(one.name, 200).lower(),
    )


def type_text(feature: Feature | None, kinds: Mapping[str, int]) -> str:
    """Return the type of a feature in a word or two."""
    if feature is None:
        return " or ".join(kinds) or "no values"
    inner = feature.feature if isinstance(feature, Steps) else feature
    dtype = getattr(inner, "dtype", None)
    text = f"{dtype}" if dtype is not None and not isinstance(inner, Label) else inner.type_name
    shape = getattr(inner, "shape", ())
    if shape and inner.type_name != "image":
        text += "[" + "×".join("?" if size is None else str(size) for size in shape) + "]"
    return f"{text} steps" if isinstance(feature, Steps) else text


def _said(facts: FeatureFacts | None) -> str:
    if facts is None:
        return "not read yet"
    if facts.images is not None and facts.images.widths is not None and facts.images.heights is not None:
        widths, heights = facts.images.widths, facts.images.heights
        each = (
            f"{widths.min}×{heights.min}"
            if widths.fixed and heights.fixed
            else (f"{widths.min} to {widths.max} × {heights.min} to {heights.max}")
        )
        return f"{facts.images.format}, {each} pixels"
    if facts.strings is not None:
        return f"{facts.distinct:,} different, {facts.strings.lengths.min:,} to {facts.strings.lengths.max:,} bytes"
    return "no values"


def _content(
    name: str,
    facts: FeatureFacts,
    dataset: OpenedDataset,
    examination: Examination,
    state: ViewState,
    selected: SelectedValues | None,
) -> Markup | None:
    if "`" in name:
        return None  # conditions cannot name it
    counts = _class_counts(name, facts, dataset, examination)
    if counts:
        return _bars(name, counts, facts, dataset, state, selected)
    if facts.in_steps or facts.images is not None or facts.numbers is None:
        return None
    histogram = facts.numbers.histogram
    if histogram is not None and any(histogram.counts):
        return _range(name, histogram, dataset.types.get(name), state, selected)
    return None


def _class_counts(
    name: str, facts: FeatureFacts, dataset: OpenedDataset, examination: Examination
) -> list[tuple[str, int]]:
    """Return how often each value occurs, where a feature has few or named ones, the most common first."""
    label, names = examination.label(name), dataset.class_names(name)
    if facts.in_steps:
        return []
    if label is not None and (names or label.names):
        counts: dict[str, int] = {}
        for split in label.counts.values():
            for one, count in split.items():
                counts[one] = counts.get(one, 0) + count
        return sorted(counts.items(), key=lambda pair: -pair[1])
    if facts.images is not None:
        return []
    values = [pair for pair in map(_text_of, facts.categories or facts.frequent) if pair is not None]
    if names:  # too many to be counted: the most common ones that are known
        return [(names[int(one)] if one.isdecimal() and int(one) < len(names) else one, count) for one, count in values]
    if facts.numbers is not None:
        few = facts.numbers.integral and facts.distinct <= _FEW
        return values if few and values and values[0][1] > 1 else []
    total = facts.strings.count if facts.strings is not None else 1
    return values if values and (values[0][1] > 1 or total == 1) else []


def found_classes(
    name: str,
    text: str,
    dataset: OpenedDataset,
    examination: Examination,
    state: ViewState,
    selected: SelectedValues | None,
) -> Markup:
    """Return the bars of the classes of a feature that contain a text, and of the text itself."""
    facts = examination.feature(name)
    if "`" in name or name not in dataset.types:
        return Markup("")
    counts = [] if facts is None else _class_counts(name, facts, dataset, examination)
    folded = text.casefold()
    known = dict(counts)
    named = (one for one in dataset.class_names(name) if one not in known)
    fitting = ((one, known.get(one)) for one in chain(known, named) if folded in one.casefold())
    shown = list(islice(fitting, _MOST_FOUND + 1))
    rows = _rows(name, shown[:_MOST_FOUND], facts, dataset, state, selected)
    if not shown:
        said = "No class contains this."
        rows = (
            [*_rows(name, [(text, None)], facts, dataset, state, selected)]
            if facts is not None and facts.strings is not None
            else []
        )
        return joined([rows, element("small", said, class_="more")])
    more = f"more than {_MOST_FOUND} contain this" if len(shown) > _MOST_FOUND else None
    return joined([rows, element("small", more, class_="more") if more else None])


def _text_of(one: FrequentValue) -> tuple[str, int] | None:
    if not isinstance(one.value, bytes):
        return number_text(one.value), one.count
    try:
        return one.value.decode(), one.count
    except UnicodeDecodeError:
        return None


def _bars(
    name: str,
    counts: Sequence[tuple[str, int]],
    facts: FeatureFacts,
    dataset: OpenedDataset,
    state: ViewState,
    selected: SelectedValues | None,
) -> Markup:
    chosen = dict(state.classes).get(name, ())
    known = dict(counts)
    first = [*counts[:_MOST_BARS], *((one, known.get(one)) for one in chosen if one not in dict(counts[:_MOST_BARS]))]
    more = max(len(counts), len(dataset.class_names(name))) - len(first)
    rows = element("div", _rows(name, first, facts, dataset, state, selected), class_="choices")
    if more <= 0:
        return rows
    find = element(
        "input",
        type="search",
        placeholder=f"Find one of {more:,} more",
        aria_label=f"Find a class of {clipped(name, 60)}",
        class_="find-class",
        data_feature=address(name),
    )
    return joined([rows, find])


def _rows(
    name: str,
    counts: Sequence[tuple[str, int | None]],
    facts: FeatureFacts | None,
    dataset: OpenedDataset,
    state: ViewState,
    selected: SelectedValues | None,
) -> list[Markup]:
    chosen = dict(state.classes).get(name, ())
    coloured = bool(dataset.class_names(name)) or is_class_name(name)
    whole = None if facts is None else facts.numbers or facts.strings
    total = max(1, 0 if whole is None else whole.count)
    most = max((count or 0 for _, count in counts), default=0) or 1
    about = "" if selected is None or selected.is_exact else "≈ "
    rows = []
    for value, count in counts:
        pressed = value in chosen
        here = None if selected is None else selected.count_of(name, value)
        told = f"{clipped(value, 100)}" + ("" if count is None else f": {count:,} ({100 * count / total:.1f} %)")
        shown = count if here is None else here
        colour = f" c{dataset.colours.of(name, value)}" if coloured else ""
        rows.append(
            element(
                "a",
                element("bdi", clipped(value, 60) or '""', class_="value"),
                bar((shown or 0) / most),
                element(
                    "span", "" if shown is None else f"{about if here is not None else ''}{shown:,}", class_="count"
                ),
                href=address(state.toggled(name, value)),
                class_="choice" + (" on" if pressed else "") + colour,
                data_soft=True,
                role="button",
                aria_pressed="true" if pressed else "false",
                title=told + ("" if here is None else f"; {about}{here:,} selected"),
            )
        )
    return rows


def _range(
    name: str, histogram: Histogram, feature: Feature | None, state: ViewState, selected: SelectedValues | None
) -> Markup:
    limits = next(((low, high) for one, low, high in state.ranges if one == name), None)
    low, high = histogram.edges[0], histogram.last
    step = "1" if histogram.whole else "any"
    single = isinstance(feature, (Scalar, Label))
    form = element(
        "form",
        [
            element(
                "input",
                type="number",
                step=step,
                name=side,
                aria_label=f"{words} of {clipped(name, 60)}",
                value=Markup(f"{shown:g}") if limits is not None else None,
                placeholder=_edge_text(bound, histogram),
            )
            for side, words, bound, shown in (
                ("low", "Least", low, limits[0] if limits else low),
                ("high", "Greatest", high, limits[1] if limits else high),
            )
        ],
        element("button", "Apply", type="submit"),
        element("a", "Clear", href=address(state.with_range(name, None)), data_soft=True)
        if limits is not None
        else None,
        class_="range",
        data_feature=address(name),
    )
    return element(
        "div",
        histogram_drawing(
            histogram, name=name, chosen=limits, selected=None if selected is None else selected.numbers.get(name)
        ),
        form,
        None if single else element("small", "records with at least one value in the range", class_="note"),
        class_="brush",
        data_feature=address(name),
        data_low=repr(low),
        data_high=repr(histogram.edges[-1]),
        data_whole="1" if histogram.whole else None,
    )


def histogram_drawing(
    histogram: Histogram,
    *,
    name: str,
    chosen: tuple[float, float] | None = None,
    marked: Iterable[float] = (),
    selected: npt.NDArray[np.float64] | None = None,
) -> Markup:
    """Draw a histogram.

    Args:
        histogram: of all values.
        name: of the feature.
        chosen: the bars outside of this range are pale.
        marked: values that are marked by a line.
        selected: the values of the selected records, which are drawn over all of them, on a scale of their own.
    """
    step = -(-len(histogram.counts) // _MOST_BINS)
    counts = [sum(histogram.counts[start : start + step]) for start in range(0, len(histogram.counts), step)]
    edges = [*histogram.edges[:-1:step], histogram.edges[-1]]
    highest = max(counts) or 1
    low, span = edges[0], (edges[-1] - edges[0]) or 1.0
    bars = []
    for number, count in enumerate(counts):
        left, right = edges[number], edges[number + 1]
        last = right - 1 if histogram.whole else right
        inside = chosen is None or (last >= chosen[0] and left <= chosen[1])
        height = max(1.5, count / highest * _HEIGHT) if count else 0
        words = " to ".join(dict.fromkeys(_edge_text(edge, histogram) for edge in (left, last)))
        bars.append(
            element(
                "rect",
                element("title", f"{words}: {count:,}"),
                x=round((left - low) / span * 200 + 0.2, 2),
                y=round(_HEIGHT - height, 2),
                width=round(max(0.6, (right - left) / span * 200 - 0.6), 2),
                height=round(height, 2),
                class_=None if inside else "pale",
            )
        )
    if selected is not None and len(selected) and edges[0] < edges[-1]:
        bars = [element("g", bars, class_="all"), *_over(np.histogram(selected, edges)[0].tolist(), edges)]
    marks = [
        element(
            "line",
            x1=round(at, 2),
            x2=round(at, 2),
            y1=0,
            y2=_HEIGHT,
            class_="here",
            vector_effect="non-scaling-stroke",
        )
        for at in ((min(max(one, low), edges[-1]) - low) / span * 200 for one in marked)
    ]
    drawing = element(
        "svg",
        bars,
        marks,
        element("rect", x=0, y=0, width=0, height=_HEIGHT, class_="selection"),
        viewBox=f"0 0 200 {_HEIGHT}",
        preserveAspectRatio="none",
        class_="facet-histogram",
        role="img",
        aria_label=f"Histogram of {clipped(name, 60)}",
    )
    axis = element(
        "span",
        element("span", _edge_text(low, histogram)),
        element("span", _edge_text(histogram.last, histogram)),
        class_="axis",
    )
    return joined([drawing, axis])


def _edge_text(edge: float, histogram: Histogram) -> str:
    return str(int(edge)) if histogram.whole else number_text(edge)


def _over(counts: Sequence[int], edges: Sequence[float]) -> list[Markup]:
    """Draw the bars of the selected records, the highest as high as the drawing."""
    highest, low, span = max(counts) or 1, edges[0], edges[-1] - edges[0]
    return [
        element(
            "rect",
            x=round((edges[place] - low) / span * 200 + 0.2, 2),
            y=round(_HEIGHT - count / highest * _HEIGHT, 2),
            width=round(max(0.6, (edges[place + 1] - edges[place]) / span * 200 - 0.6), 2),
            height=round(count / highest * _HEIGHT, 2),
            class_="part",
        )
        for place, count in enumerate(counts)
        if count
    ]
