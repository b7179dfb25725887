"""The pages of the findings, of the facts about the dataset, and of what a model sees."""

from __future__ import annotations

from collections.abc import Sequence

from recordsmith.report.html.dataset_part import figures_part, labels_part, shards_part, splits_part
from recordsmith.report.html.features_part import features_part
from recordsmith.report.html.findings_part import finding_block, severity_filter
from recordsmith.report.plain_text import verdict
from recordsmith.rules import Finding
from recordsmith.viewer.data.finding_records import condition_of
from recordsmith.viewer.data.state import ViewState
from recordsmith.viewer.pages.batches import SeenBatches
from recordsmith.viewer.pages.cards import small_cells
from recordsmith.viewer.pages.frame import Viewed, whole_page
from recordsmith.viewer.pages.values import address
from recordsmith.wording.markup import Child, Markup, element, joined
from recordsmith.wording.numbers import bytes_text, count_text
from recordsmith.wording.visible_text import clipped

__all__ = ["batches_page", "facts_page", "findings_page"]

_MOST_FINDINGS = 200
_MOST_NAMED = 6


def findings_page(viewed: Viewed, every: Sequence[Viewed]) -> str:
    """Return the page of the findings; while the check runs, its progress."""
    examination = viewed.examination
    report = examination.report
    content: Child
    if report is None:
        content = _progress(viewed)
    else:
        shown = report.findings[:_MOST_FINDINGS]
        blocks = [
            finding_block(one, report.rules.get(one.code), (), open_=place < 8, beside=_records(viewed, one))
            for place, one in enumerate(shown)
        ]
        state = report.findings[0].severity.value if report.findings else "none"
        content = [
            element(
                "p", element("span", class_=f"dot {state}"), verdict(report.findings, report.known), class_="verdict"
            ),
            severity_filter(report.counts) if report.findings else None,
            blocks,
            element(
                "p", f"{len(report.findings) - len(shown):,} more: `recordsmith check` lists them all.", class_="note"
            )
            if len(shown) < len(report.findings)
            else None,
        ]
    return whole_page(
        f"Findings in {viewed.dataset.name}",
        element("main", element("h1", "Findings"), content, class_="document"),
        viewed=viewed,
        every=every,
        here="findings",
        class_="app plain",
        data_page="findings",
        data_base=address(viewed.base),
    )


def _records(viewed: Viewed, finding: Finding) -> list[Child]:
    """Return the records that a finding names, and the link to all of them; where they are not known, it says so."""
    examination = viewed.examination
    condition = condition_of(finding, viewed.dataset.types)
    key = examination.key_of(finding)
    named = examination.records_of(key) or []
    links = [(number, f"{viewed.base}/r/{number}") for number in named[:_MOST_NAMED]]
    parts: list[Child] = [small_cells(viewed.dataset, links, viewed.renderer) if links else None]
    if condition is not None:
        parts.append(
            element(
                "p",
                _button(viewed, "Show all its records", ViewState(where=condition)),
                " ",
                element("code", clipped(condition, 200)),
            )
        )
    elif examination.finder_of(key) is not None:
        parts.append(element("p", _button(viewed, "Show all its records", ViewState(finding=key))))
    elif named:
        words = "Show the record" if len(named) == 1 else f"Show {len(named):,} records"
        some = " Only the records that it names are shown. The others are not known."
        said = element("small", some) if finding.count > len(named) else None
        parts.append(element("p", _button(viewed, words, ViewState(finding=key)), said))
    return parts


def _button(viewed: Viewed, words: str, state: ViewState) -> Markup:
    return element("a", words, href=address(f"{viewed.base}/{state.url()}"), class_="button")


def _progress(viewed: Viewed) -> Markup:
    examination = viewed.examination
    if examination.error is not None and not examination.phase:
        return element("p", f"The check could not be done: {clipped(examination.error, 400)}", class_="broken")
    if not examination.asked:
        size = bytes_text(sum(file.bytes for file in viewed.dataset.files))
        return joined(
            [
                element(
                    "p",
                    f"The check reads every byte of the data ({size}), and was not started automatically, because the "
                    "data is remote or large.",
                    class_="note",
                ),
                element("a", "Check all records", href=address(f"{viewed.base}/findings?run=1"), class_="button"),
            ]
        )
    return element(
        "p",
        "The check is running: ",
        element("span", examination.phase or "starting", id="phase"),
        " ",
        element("progress", id="progress", value=Markup(f"{examination.share:.3f}"), max=1),
        class_="verdict",
    )


def facts_page(viewed: Viewed, every: Sequence[Viewed]) -> str:
    """Return the overview: what the dataset consists of, its features and labels, as in the report of `check`."""
    facts = viewed.examination.facts
    if facts is None:
        content: Child = element("p", "Reading the first records …", class_="note")
    else:
        content = [
            None
            if viewed.examination.complete
            else element("p", f"About the first {count_text(facts.records, 'record')} so far.", class_="note"),
            figures_part(facts),
            splits_part(facts),
            element("section", element("h2", "Labels"), labels_part(facts.labels), id="labels")
            if facts.labels
            else None,
            element("section", element("h2", "Features"), features_part(facts), id="features"),
            element("section", element("h2", "Files"), shards_part(facts), id="files"),
        ]
    return whole_page(
        f"Overview of {viewed.dataset.name}",
        element("main", element("h1", element("bdi", clipped(viewed.dataset.name, 120))), content, class_="document"),
        viewed=viewed,
        every=every,
        here="facts",
        class_="app plain",
        data_page="facts",
        data_base=address(viewed.base),
    )


def batches_page(viewed: Viewed, every: Sequence[Viewed], seen: SeenBatches) -> str:
    """Return the page of what a model sees: batches as they arrive, beside what is stored."""
    return whole_page(
        "What the model sees",
        element(
            "main",
            element("h1", "What the model sees"),
            seen.part(viewed.dataset, viewed.base),
            class_="document",
        ),
        viewed=viewed,
        every=every,
        here="batches",
        class_="app plain",
        data_page="batches",
        data_base=address(viewed.base),
    )
