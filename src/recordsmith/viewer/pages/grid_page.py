"""The page with the grid: the toolbar, the features next to it, and what can be taken away."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

from recordsmith.errors import RecordsmithError
from recordsmith.query.overview import FeatureOverview
from recordsmith.schema import Image, Label, Scalar, Text
from recordsmith.viewer.data.damage import Break
from recordsmith.viewer.data.opened import OpenedDataset
from recordsmith.viewer.data.selected_values import SelectedValues
from recordsmith.viewer.data.state import ViewState
from recordsmith.viewer.pages.cards import GridShape, table_columns
from recordsmith.viewer.pages.facets import facets_part
from recordsmith.viewer.pages.frame import Viewed, whole_page
from recordsmith.viewer.pages.values import address
from recordsmith.wording.markup import Child, Markup, element, joined
from recordsmith.wording.numbers import bytes_text, count_text
from recordsmith.wording.visible_text import clipped

__all__ = ["grid_page", "side_part"]

_MOST_BREAKS = 8
_MOST_SORTED = 60  # features in the list of orders


def grid_page(
    viewed: Viewed,
    every: Sequence[Viewed],
    state: ViewState,
    *,
    layout: str,
    shape: GridShape,
    first: Child,
    selected: SelectedValues | None,
    version: int,
) -> str:
    """Return the page with the grid; `first` are the first cells, the others are fetched as the page scrolls."""
    dataset = viewed.dataset
    header = _table_head(dataset, state) if layout == "table" else None
    grid = element(
        "div",
        element("div", first, id="cells", role="list" if layout != "table" else None),
        id="grid",
        class_=f"grid-{layout} size-{state.size or 'm'}",
        data_width=shape.width,
        data_height=shape.height,
        data_columns=len(table_columns(dataset)) if layout == "table" else None,
    )
    return whole_page(
        dataset.name,
        _toolbar(viewed, state, layout),
        element(
            "div",
            element("aside", side_part(viewed, state, selected), id="side", aria_label="Features", data_facts=version),
            element(
                "main",
                element("div", class_="chips", id="chips"),
                header,
                grid,
                element("p", "No record matches these filters.", id="nothing", hidden=True),
                id="scroller",
                tabindex="0",
                aria_label="Records",
            ),
            class_="panes",
        ),
        _export_dialog(viewed, state),
        viewed=viewed,
        every=every,
        here="records",
        class_="app",
        data_page="grid",
        data_base=address(viewed.base),
    )


def _toolbar(viewed: Viewed, state: ViewState, layout: str) -> Markup:
    dataset = viewed.dataset
    box = element(
        "div",
        element(
            "input",
            type="text",
            id="where",
            name="where",
            value=address(state.where),
            placeholder="Filter, such as  label == 'cat' and width > 200",
            autocomplete="off",
            spellcheck="false",
            role="combobox",
            aria_label="Filter: a condition over the features",
            aria_expanded="false",
            aria_controls="completions",
            aria_describedby="where-error",
        ),
        element("ul", id="completions", role="listbox", aria_label="Completions", hidden=True),
        element("p", id="where-error", role="alert", hidden=True),
        class_="where",
    )
    search = element(
        "input",
        type="search",
        id="search-text",
        value=address(state.text),
        placeholder="Search in text",
        aria_label="Search in text",
    )
    tools = [
        element("button", "Features", type="button", id="side-button", aria_controls="side", aria_expanded="true"),
        box,
        search if any(isinstance(one.feature, Text) for one in dataset.features) else None,
        _order(dataset, state),
        element(
            "span",
            [_layout_link(state, layout, kind, words) for kind, words in (("cards", "Cards"), ("table", "Table"))],
            class_="switch",
            role="group",
            aria_label="Layout",
        ),
        element(
            "span",
            [
                _size_link(state, size, words, name)
                for size, words, name in (("s", "S", "Small"), ("", "M", "Medium"), ("l", "L", "Large"))
            ],
            class_="switch sizes",
            role="group",
            aria_label="Size of the cards",
        )
        if layout != "table"
        else None,
        _selected(state),
        element("span", id="count", role="status", aria_live="polite"),
        element("button", "Export", type="button", id="export-button"),
    ]
    return element("form", tools, class_="strip tools", id="tools", role="search")


def _selected(state: ViewState) -> list[Markup]:
    """Say what was selected on another page, with a link that takes it back."""
    chosen = [(f"Finding {clipped(state.finding, 20)}", state.url(finding=""))] if state.finding else []
    chosen += [(f"Like record {state.like:,}", state.url(like=None))] if state.like is not None else []
    return [
        element(
            "a", f"{words} ×", href=address(url), data_soft=True, class_="chip", aria_label=f"{words}: show all again"
        )
        for words, url in chosen
    ]


def _layout_link(state: ViewState, layout: str, kind: str, words: str) -> Markup:
    here = layout == kind
    return element(
        "a",
        words,
        href=address(state.url(layout=kind)),
        data_soft=True,
        role="button",
        aria_pressed="true" if here else "false",
    )


def _size_link(state: ViewState, size: str, words: str, name: str) -> Markup:
    here = state.size == size
    return element(
        "a",
        words,
        href=address(state.url(size=size)),
        data_soft=True,
        role="button",
        aria_label=name,
        aria_pressed="true" if here else "false",
    )


def _order(dataset: OpenedDataset, state: ViewState) -> Markup:
    current = "sample" if state.sample is not None else state.sort
    choices: list[tuple[str, str]] = [("", "In file order"), ("sample", "At random")]
    for one in dataset.features[:_MOST_SORTED]:
        if one.steps or one.feature is None:
            continue
        if isinstance(one.feature, (Scalar, Label)) or (isinstance(one.feature, Text) and one.feature.shape == ()):
            choices += [(one.name, f"{one.name} ↑"), (f"-{one.name}", f"{one.name} ↓")]
        if not isinstance(one.feature, (Scalar, Label)):
            words = "size" if isinstance(one.feature, Image) else "length"
            choices += [
                (f"-len({one.name})", f"{words} of {one.name} ↓"),
                (f"len({one.name})", f"{words} of {one.name} ↑"),
            ]
    if current not in {value for value, _ in choices}:
        choices.append((current, current))
    options = [
        element("option", clipped(words, 60), value=address(value), selected=value == current)
        for value, words in choices
    ]
    return element("select", options, id="order", aria_label="Order")


def _table_head(dataset: OpenedDataset, state: ViewState) -> Markup:
    cells = [element("span", "record", class_="number")]
    cells += [_column_head(one, state) for one in table_columns(dataset)]
    return element("div", cells, class_="table-head", data_columns=len(cells) - 1)


def _column_head(one: FeatureOverview, state: ViewState) -> Markup:
    name = clipped(one.name.rpartition("/")[2] or one.name, 40)
    if not isinstance(one.feature, (Scalar, Label, Text)):
        return element("span", name, title=clipped(one.name, 200))
    arrow = " ↑" if state.sort == one.name else " ↓" if state.sort == f"-{one.name}" else ""
    then = f"-{one.name}" if state.sort == one.name else "" if state.sort == f"-{one.name}" else one.name
    link = element("a", name + arrow, href=address(state.url(sort=then, sample=None)), data_soft=True)
    return element("span", link, title=clipped(one.name, 200))


def side_part(viewed: Viewed, state: ViewState, selected: SelectedValues | None) -> Markup:
    """Return the features next to the grid."""
    dataset, examination = viewed.dataset, viewed.examination
    if examination.facts is None:
        said = "Reading the first records …"
    elif examination.complete:
        said = f"All {count_text(examination.facts.records, 'record')}"
    else:
        said = f"The first {count_text(examination.facts.records, 'record')} so far"
    if selected is not None and selected.looked_at and not selected.is_exact:
        said += f"; the selection by {selected.looked_at:,} of its records"
    about = f"{count_text(len(dataset.layout.files), 'file')}, {bytes_text(sum(file.bytes for file in dataset.files))}"
    return joined(
        [
            element("p", element("b", said), element("br"), element("small", about), class_="about"),
            _problems(viewed),
            element(
                "input", type="search", id="find-feature", placeholder="Find a feature", aria_label="Find a feature"
            )
            if len(dataset.features) > 8
            else None,
            facets_part(dataset, examination, state, selected),
        ]
    )


def _problems(viewed: Viewed) -> Markup | None:
    """Say where files are broken, with links to the records before and after."""
    dataset = viewed.dataset
    rows = [_break(viewed, one) for one in dataset.breaks[:_MOST_BREAKS]]
    others = [error for error in dataset.problems if not rows or dataset.recovered(error.path or "") is None]
    rows += [_problem(error) for error in others[: _MOST_BREAKS - len(rows)]]
    if not rows:
        return None
    more = len(dataset.breaks) + len(others) - len(rows)
    shown = "The records before and after it are shown." if dataset.breaks else "Records before the damage are shown."
    return element(
        "section",
        element("h2", "Damage"),
        element("ul", rows),
        element("p", f"{more:,} more: `recordsmith repair --dry-run` lists them all.", class_="note") if more else None,
        element("p", shown, " ", element("code", "recordsmith repair"), " writes an undamaged copy.", class_="note"),
        class_="damage",
        role="note",
        aria_label="Damage",
    )


def _break(viewed: Viewed, one: Break) -> Markup:
    start = viewed.dataset.number_of(one.path, 0) or 0
    records = next((file.records for file in viewed.dataset.files if file.path == one.path), 0)
    beside = [
        element("a", f"record {number:,} {side} it", href=address(f"{viewed.base}/r/{number}"))
        for side, number, there in (
            ("before", start + one.after - 1, one.after > 0),
            ("after", start + one.after, one.after < records),
        )
        if there
    ]
    lost = f"; about {count_text(one.lost, 'record')} lost" if one.lost else ""
    return element(
        "li",
        element("bdi", one.reason[:1].upper() + one.reason[1:]),
        element("br"),
        element("small", clipped(os.path.basename(one.path), 200), f", {one.where}{lost}"),
        [[element("br") if place == 0 else " · ", link] for place, link in enumerate(beside)],
    )


def _problem(error: RecordsmithError) -> Markup:
    places = (
        error.path or "",
        "" if error.record is None else f"record {error.record:,}",
        "" if error.offset is None else f"byte {error.offset:,}",
    )
    return element(
        "li",
        element("bdi", clipped(error.problem, 300)),
        element("br"),
        element("small", clipped(", ".join(filter(None, places)), 400)),
    )


def _export_dialog(viewed: Viewed, state: ViewState) -> Markup:
    dataset = viewed.dataset
    condition = state.condition(dataset.types)
    words = ["recordsmith", "copy", *dataset.paths, "-o", "selected"]
    words += ["--from", dataset.split] if dataset.split else []
    source = repr(dataset.paths[0]) if len(dataset.paths) == 1 else repr(list(dataset.paths))
    split = f", split={dataset.split!r}" if dataset.split else ""
    python = f"import numpy as np\nimport recordsmith as rs\n\nds = rs.open({source}{split})\nrows = ds[np.loadtxt('records.txt', np.int64, ndmin=1)]"  # noqa: E501 - code that is shown
    ordered = bool(state.sort) or state.sample is not None
    return element(
        "dialog",
        element("h2", "Export the selection"),
        element("h3", "A copy of these records"),
        [_copied(shlex.join([*words, "--where", condition])), element("p", "or by number:", class_="note")]
        if condition and not state.text and not state.finding and state.like is None
        else None,
        element(
            "p",
            element(
                "a",
                "Download records.txt",
                href=address(f"{viewed.base}/records.txt{state.url()}"),
                download="records.txt",
            ),
            ", which has the record numbers, one per line, in the order shown. Then:",
        ),
        _copied(shlex.join([*words, "--records", "records.txt"])),
        element("p", "The copy keeps the order of the files.", class_="note") if ordered else None,
        element("h3", "In Python"),
        _copied(python),
        element("h3", "A link to this view"),
        element(
            "p",
            "Everything you see is in the address of the page. It works while this viewer runs, for whoever has opened "
            "it with the token.",
            class_="note",
        ),
        element("button", "Copy the link", type="button", id="copy-link"),
        element("form", element("button", "Close", value="close"), method="dialog"),
        id="export",
        aria_label="Export the selection",
    )


def _copied(text: str) -> Markup:
    return element(
        "div",
        element("pre", Markup(address(text))),
        element("button", "Copy", type="button", class_="copy"),
        class_="copied",
    )
