"""What a run finds: figures, what they amount to against the targets, and who was skipped."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Unit = Literal["times", "seconds", "fraction", "GB/s"]


@dataclass(frozen=True, slots=True)
class Figure:
    """One contender's passes over one subject (a dataset, mostly)."""

    subject: str
    peer: str
    form: str
    seconds: list[float]
    records: int | None = None
    bytes: int | None = None
    note: str = ""
    peak_bytes: int | None = None

    @property
    def best(self) -> float:
        """Seconds of the fastest pass."""
        return min(self.seconds)

    @property
    def records_per_second(self) -> float | None:
        """Records a second in the fastest pass."""
        return None if self.records is None else self.records / self.best

    @property
    def bytes_per_second(self) -> float | None:
        """Bytes a second in the fastest pass."""
        return None if self.bytes is None else self.bytes / self.best

    def to_json(self) -> dict[str, Any]:
        """The form in the results file."""
        rates = {"records_per_second": self.records_per_second, "bytes_per_second": self.bytes_per_second}
        return {**asdict(self), "best_seconds": self.best, **rates}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What recordsmith reached on one subject, against whom, and the target it is held to (if any)."""

    subject: str
    what: str
    value: float
    unit: Unit
    against: str
    target: float | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is met: seconds must stay below it, all else must reach it."""
        if self.target is None:
            return None
        return self.value < self.target if self.unit == "seconds" else self.value >= self.target

    def to_json(self) -> dict[str, Any]:
        """The form in the results file."""
        return {**asdict(self), "met": self.met}


@dataclass(slots=True)
class Section:
    """The findings of one task."""

    task: str
    title: str
    method: str
    figures: list[Figure] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    memory: list[dict[str, Any]] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    def best(self, subject: str, peer: str, *, forms: tuple[str, ...] | None = None) -> Figure | None:
        """The peer's fastest figure by records a second on a subject, among the given forms or all."""
        figures = [
            figure
            for figure in self.figures
            if figure.subject == subject and figure.peer == peer and (forms is None or figure.form in forms)
        ]
        return max(figures, key=lambda figure: (figure.records or 1) / figure.best, default=None)

    def to_json(self) -> dict[str, Any]:
        """The form in the results file."""
        return {
            "task": self.task,
            "title": self.title,
            "method": self.method,
            "figures": [figure.to_json() for figure in self.figures],
            "outcomes": [outcome.to_json() for outcome in self.outcomes],
            "memory": self.memory,
            "skipped": self.skipped,
        }


def times_faster(ours: Figure, theirs: Figure) -> float:
    """How many times more records a second; for figures that count records."""
    return ((ours.records or 0) / ours.best) / ((theirs.records or 0) / theirs.best)
