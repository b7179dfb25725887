"""Facts and findings about an opened dataset, collected in the background while somebody looks at it.

First the first records of a few files, so that histograms are there at once; then `check` over everything, where the
data is on a local disk and not very large. Otherwise only when it is asked for: a check reads every byte.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Sequence

from recordsmith.checking.check import check
from recordsmith.errors import RecordsmithError, reason_of
from recordsmith.facts.dataset_facts import DatasetFacts, LabelFacts
from recordsmith.facts.survey import survey
from recordsmith.facts.value_facts import FeatureFacts
from recordsmith.report import Report
from recordsmith.rules import Finding, Location
from recordsmith.storage.ranged.opening import file_size, is_ranged
from recordsmith.viewer.data.finding_records import RecordFinder, finder_of, predicate_of
from recordsmith.viewer.data.opened import OpenedDataset
from recordsmith.viewer.data.shown_record import ShownRecord
from recordsmith.workers.background import start_in_background

__all__ = ["Examination"]

_FIRST_FILES = 4
_FIRST_RECORDS = 500  # of each of them
_FIRST_PAGE = 0.2  # seconds that are left to the first page
_LATER = 10  # the niceness of this work
_UNASKED_BYTES = 20 << 30  # that are checked without being asked


class _StoppedError(Exception):
    """The viewer ends."""


class Examination:
    """What is known about a dataset so far.

    Attributes:
        facts: about the first records, then about all; None until then.
        complete: the facts are about all records.
        report: the findings; None until the check is done.
        phase, share: what is being done, and how much of it is done, from 0 to 1; "" while nothing is.
        error: why the check could not be done.
        version: increases whenever there is something new.
        asked: the whole dataset is or was checked.
        settled: nothing more is known by itself: it is checked, or waits for being asked.
    """

    def __init__(self, dataset: OpenedDataset) -> None:
        self._dataset = dataset
        self._stopped = False
        self._lock = threading.Lock()
        self.facts: DatasetFacts | None = None
        self.complete = False
        self.report: Report | None = None
        self.phase = ""
        self.share = 0.0
        self.error: str | None = None
        self.version = 0
        self.asked = False
        self.settled = False
        self._by_record: dict[tuple[str, int | None, int | None], list[int]] = {}  # path, number in the file, offset
        self._features: dict[str, FeatureFacts] = {}
        self._started = False

    def start(self) -> None:
        """Begin, once."""
        with self._lock:
            if self._started:
                return
            self._started = True
        start_in_background(self._run, name="recordsmith-view-facts", stop=self.stop)

    def ask(self) -> None:
        """Check the whole dataset, also if it is large or remote."""
        with self._lock:
            if self.asked:
                return
            self.asked = True
        start_in_background(self._check, name="recordsmith-view-check", stop=self.stop)

    def stop(self) -> None:
        """End the work in the background."""
        self._stopped = True

    @property
    def findings(self) -> Sequence[Finding]:
        """The findings so far."""
        return () if self.report is None else self.report.findings

    def feature(self, name: str) -> FeatureFacts | None:
        """Return the facts about a feature."""
        return self._features.get(name)

    def label(self, name: str) -> LabelFacts | None:
        """Return the facts about a label."""
        labels = () if self.facts is None else self.facts.labels
        return next((one for one in labels if one.feature == name), None)

    def of_record(self, number: int) -> list[Finding]:
        """Return the findings that name a record."""
        located = self._dataset.locate(number)
        if located is None:
            return []
        file, in_file = located
        recovered = self._dataset.recovered(file.path)
        key = (file.path, in_file, None) if recovered is None else (file.path, None, recovered.place(in_file)[0])
        return [self.findings[place] for place in self._by_record.get(key, ())]

    def about(self, record: ShownRecord) -> list[Finding]:
        """Return the findings that name a record, then the others that are about it."""
        named = self.of_record(record.number)
        others = [one for one in self.findings if one not in named and self._is_about(one, record)]
        return [*named, *others]

    def _is_about(self, finding: Finding, record: ShownRecord) -> bool:
        test = predicate_of(finding, self._dataset.types)
        try:
            return test is not None and test(record)
        except RecordsmithError:  # OpenCV is missing
            return False

    def key_of(self, finding: Finding) -> str:
        """Return a short name of a finding, which URLs use: its code, and its number among those of the same code."""
        same = [one for one in self.findings if one.code == finding.code]
        return f"{finding.code}.{next(n for n, one in enumerate(same) if one is finding)}"

    def finding(self, key: str) -> Finding | None:
        """Return the finding with such a name."""
        code, _, number = key.partition(".")
        same = [one for one in self.findings if one.code == code]
        return same[int(number)] if number.isdecimal() and len(number) < 9 and int(number) < len(same) else None

    def finder_of(self, key: str) -> RecordFinder | None:
        """Return what finds all records of a finding; None if only those are known that it names."""
        finding = self.finding(key)
        return None if finding is None else finder_of(finding, self.facts)

    def records_of(self, key: str) -> list[int] | None:
        """Return the numbers of the records that a finding names; None if there is no such finding."""
        finding = self.finding(key)
        if finding is None:
            return None
        places = _named(finding)
        found = [
            self._dataset.number_of(place.path, place.record, place.offset)
            for place in places
            if place.path is not None and place.record is not None
        ]
        return sorted({one for one in found if one is not None})

    # --- in the background ---

    def _run(self) -> None:
        _let_others_first()
        threading.Event().wait(_FIRST_PAGE)
        try:
            self.phase = "first records"
            self._know(
                survey(
                    list(self._dataset.layout.files[:_FIRST_FILES]),
                    schema=self._dataset.declared,
                    decode="none",
                    records=_FIRST_RECORDS,
                    threads=1,
                    progress=self._report,
                ),
                complete=False,
            )
        except _StoppedError:
            return
        except Exception as error:  # noqa: BLE001 - whoever waits for the facts must be told, whatever went wrong
            self.error = reason_of(error)
        self.phase = ""
        if not self._stopped and self._is_quickly_checked():
            self.ask()
        else:
            self.settled = True

    def _is_quickly_checked(self) -> bool:
        files = self._dataset.layout.files
        try:
            return not any(map(is_ranged, files)) and sum(map(file_size, files)) <= _UNASKED_BYTES
        except OSError as error:  # a file that was removed in the meantime
            self.error = reason_of(error)
            return False

    def _check(self) -> None:
        _let_others_first()
        try:
            report = check(
                list(self._dataset.paths) if len(self._dataset.paths) > 1 else self._dataset.paths[0],
                split=self._dataset.split,
                schema=self._dataset.declared,
                progress=self._report,
            )
        except _StoppedError:
            return
        except Exception as error:  # noqa: BLE001 - the same
            self.error = reason_of(error)
            self.phase = ""
            self.settled = True
            self.version += 1
            return
        by_record: dict[tuple[str, int | None, int | None], list[int]] = {}
        for place, finding in enumerate(report.findings):
            for path, record, offset in {(one.path, one.record, one.offset) for one in _named(finding)}:
                if path is not None and record is not None:
                    by_record.setdefault((path, record, None), []).append(place)
                if path is not None and offset is not None:
                    by_record.setdefault((path, None, offset), []).append(place)
        self._by_record = by_record
        self.report = report
        self.error = None
        if report.facts is not None:
            self._know(report.facts, complete=True)
        self.phase = ""
        self.settled = True
        self.version += 1

    def _know(self, facts: DatasetFacts, *, complete: bool) -> None:
        self._features = {one.name: one for one in facts.features}
        self.facts = facts
        self.complete = complete
        self.version += 1

    def _report(self, phase: str, done: int, total: int) -> None:
        if self._stopped:
            raise _StoppedError
        self.phase = phase
        self.share = done / total if total else 0.0


def _named(finding: Finding) -> Sequence[Location]:
    return (finding.location, *finding.places)


def _let_others_first() -> None:
    """Let the system prefer other threads to this one and to those that it starts: somebody waits for them."""
    with contextlib.suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _LATER)
