"""The page that compares two of the open datasets, or two splits; the comparison runs in the background."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from itertools import groupby

from recordsmith.comparing.compare import compare
from recordsmith.errors import RecordsmithError, reason_of
from recordsmith.report import Report
from recordsmith.report.html.findings_part import finding_block, severity_filter
from recordsmith.report.html.sections_part import histograms_part, section_part
from recordsmith.report.plain_text import verdict
from recordsmith.report.sections import HistogramSection
from recordsmith.viewer.pages.frame import Viewed, whole_page
from recordsmith.viewer.pages.values import address
from recordsmith.wording.markup import Child, Markup, element, with_code
from recordsmith.wording.visible_text import clipped
from recordsmith.workers.background import start_in_background

__all__ = ["Comparisons"]

_MOST_KEPT = 4


class _StoppedError(Exception):
    """The viewer ends, or nobody waits any more."""


class _Running:
    """One comparison, running or done."""

    def __init__(self, sides: tuple[tuple[Viewed, str | None], tuple[Viewed, str | None]]) -> None:
        self.report: Report | None = None
        self.error: RecordsmithError | None = None
        self.phase = "starting"
        self.stopped = False
        self._sides = sides
        start_in_background(self._run, name="recordsmith-view-compare", stop=self.stop)

    def stop(self) -> None:
        """End the work in the background."""
        self.stopped = True

    def _run(self) -> None:
        (first, first_split), (second, second_split) = self._sides
        try:
            self.report = compare(
                list(first.dataset.paths),
                list(second.dataset.paths),
                splits=(first_split or first.dataset.split, second_split or second.dataset.split),
                progress=self._report,
            )
        except _StoppedError:
            pass
        except RecordsmithError as error:
            self.error = error
        except Exception as error:  # noqa: BLE001 - whoever waits for the comparison must be told, whatever went wrong
            self.error = RecordsmithError(f"The comparison failed: {reason_of(error)}")

    def _report(self, phase: str, done: int, total: int) -> None:
        if self.stopped:
            raise _StoppedError
        self.phase = f"{phase}, {100 * done // total} %" if total else phase


class Comparisons:
    """The comparisons of the open datasets; the one that was used longest ago is stopped and forgotten."""

    def __init__(self, every: Sequence[Viewed]) -> None:
        self._every = every
        self._kept: OrderedDict[tuple[str, str], _Running] = OrderedDict()
        self._lock = threading.Lock()

    def close(self) -> None:
        """Stop all of them."""
        for one in self._kept.values():
            one.stop()

    def page(self, first: str, second: str) -> str:
        """Return the page for two sides, such as "0" and "1:train"."""
        sides = [self._side(one) for one in (first, second)]
        content: Child = element("p", "Choose what to compare.", class_="note")
        running = False
        if sides[0] is not None and sides[1] is not None and first != second:
            job = self._job(first, second, (sides[0], sides[1]))
            running = job.report is None and job.error is None
            content = _content(job, (sides[0][0], sides[1][0]))
        chosen = next((side[0] for side in sides if side is not None), self._every[0])
        return whole_page(
            "Compare",
            element(
                "main",
                element("h1", "Compare"),
                element(
                    "p",
                    "What changed from the first to the second: features, classes, distributions, and records in both.",
                    class_="note",
                ),
                element(
                    "form",
                    self._menu("a", first, "First"),
                    element("span", "and"),
                    self._menu("b", second, "Second"),
                    element("button", "Compare", type="submit", class_="button"),
                    class_="sides",
                    action="/compare",
                ),
                content,
                class_="document",
            ),
            viewed=chosen,
            every=self._every,
            here="compare",
            class_="app plain",
            data_page="compare",
            data_running=running or None,
        )

    def _menu(self, name: str, chosen: str, label: str) -> Markup:
        options = []
        for one in self._every:
            splits = [] if one.dataset.split else list(one.dataset.layout.splits)
            values = [(str(one.number), one.dataset.name)]
            if len(splits) > 1:
                values += [(f"{one.number}:{split}", f"{one.dataset.name} ({split})") for split in splits]
            options += [
                element("option", clipped(words, 80), value=address(value), selected=value == chosen)
                for value, words in values
            ]
        return element("select", options, name=name, aria_label=label)

    def _side(self, text: str) -> tuple[Viewed, str | None] | None:
        number, _, split = text.partition(":")
        if not number.isdecimal() or len(number) > 3 or int(number) >= len(self._every):
            return None
        viewed = self._every[int(number)]
        return (viewed, split or None) if not split or split in viewed.dataset.layout.splits else None

    def _job(
        self, first: str, second: str, sides: tuple[tuple[Viewed, str | None], tuple[Viewed, str | None]]
    ) -> _Running:
        with self._lock:
            key = (first, second)
            if key not in self._kept:
                self._kept[key] = _Running(sides)
                if len(self._kept) > _MOST_KEPT:
                    self._kept.popitem(last=False)[1].stop()
            self._kept.move_to_end(key)
            return self._kept[key]


def _content(job: _Running, sides: tuple[Viewed, Viewed]) -> Child:
    report = job.report
    if job.error is not None:
        return _failed(job.error, sides)
    if report is None:
        return element("p", f"Comparing: {job.phase} …", class_="verdict")
    worst = report.findings[0].severity.value if report.findings else "none"
    parts: list[Child] = [
        element("p", element("span", class_=f"dot {worst}"), verdict(report.findings, report.known), class_="verdict"),
        severity_filter(report.counts) if report.findings else None,
        [finding_block(one, report.rules.get(one.code), (), open_=True) for one in report.findings],
    ]
    for drawn, group in groupby(report.sections, key=lambda one: isinstance(one, HistogramSection)):
        together = list(group)
        if drawn:
            parts.append(element("section", element("h2", "Distributions that differ"), histograms_part(together)))
        else:
            parts += [element("section", element("h2", clipped(one.title, 120)), section_part(one)) for one in together]
    return parts


def _failed(error: RecordsmithError, sides: tuple[Viewed, Viewed]) -> Markup:
    """Say why two datasets were not compared: what is wrong, where, what to do, and where it can be seen."""
    facts = [
        ("File", error.path),
        ("Record", None if error.record is None else f"{error.record:,}"),
        ("Byte", None if error.offset is None else f"{error.offset:,}"),
        ("Found", error.found),
        ("Expected", error.expected),
    ]
    rows = [
        element("tr", element("th", name), element("td", element("bdi", clipped(str(value), 400))))
        for name, value in facts
        if value is not None
    ]
    damaged = next((one for one in sides if error.path in one.dataset.layout.files), None)
    return element(
        "section",
        element("h2", "These were not compared"),
        element("p", with_code(clipped(error.problem, 600)), class_="broken"),
        element("table", rows) if rows else None,
        element("p", with_code(clipped(error.advice, 600))) if error.advice else None,
        element("a", "Show this dataset and its damage", href=address(f"{damaged.base}/"), class_="button")
        if damaged is not None
        else None,
        class_="failed",
        role="alert",
    )
