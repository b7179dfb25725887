"""A finding: one problem in data or code, and where it is."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

__all__ = ["Finding", "Location", "Severity"]


class Severity(StrEnum):
    """How much a finding matters.

    `error`: training on this fails or is wrong. `warning`: it is probably not what was meant. `info`: worth knowing.

    >>> Severity("error").rank > Severity.WARNING.rank > Severity.INFO.rank
    True
    """

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """A number that grows with the severity, to sort and to compare by."""
        return {"error": 2, "warning": 1, "info": 0}[self.value]


@dataclass(frozen=True, slots=True)
class Location:
    """The place of a finding; each part is None where it does not apply.

    Attributes:
        path: the file, or the folder if it is about the whole dataset.
        split: the split.
        record: the record's number in the file, counted from 0.
        offset: the byte offset in the (decompressed) file.
        feature: the feature.
        line, column: the place in source code, counted from 1.
        end_line, end_column: where that place ends; the column is the first one after it.
        cell: the cell of a notebook, counted from 1; lines then count within the cell.

    >>> print(Location(path="a.tfrecord", record=7, feature="label"))
    a.tfrecord, record 7, feature 'label'
    >>> print(Location(path="train.py", line=12, column=5))
    train.py:12:5
    """

    path: str | None = None
    split: str | None = None
    record: int | None = None
    offset: int | None = None
    feature: str | None = None
    line: int | None = None
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None
    cell: int | None = None

    def __str__(self) -> str:
        place = self.path or ""
        if self.line is not None:
            cell = "" if self.cell is None else f":cell {self.cell}"
            column = "" if self.column is None else f":{self.column}"
            place = f"{place}{cell}:{self.line}{column}"
        parts = [place] if place else []
        parts += [f"split {self.split!r}"] if self.split is not None else []
        parts += [f"record {self.record}"] if self.record is not None else []
        parts += [f"byte {self.offset}"] if self.offset is not None else []
        parts += [f"feature {self.feature!r}"] if self.feature is not None else []
        return ", ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """Return the parts that are known."""
        return {name: value for name in self.__slots__ if (value := getattr(self, name)) is not None}


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem, or something worth knowing, that `check`, `lint` or `diagnose` reports.

    Attributes:
        code: the rule's code, which `recordsmith rule` explains.
        name: the rule's name in kebab case.
        severity: how much it matters.
        message: what is wrong, in one or two sentences with the figures that prove it.
        location: where it is.
        advice: what to do about it.
        count: how often it occurs; the location is that of the first one.
        places: more places, at most a few.
        evidence: the facts behind the message, ready for JSON.
        quoted: the source code that it is about.
        corrected: the same code as it should be, where that is certain enough to show.

    >>> Finding("V001", "nan", Severity.ERROR, "2 NaN in 'x'.", Location(feature="x"), "Remove them.").to_json()["code"]
    'V001'
    """

    code: str
    name: str
    severity: Severity
    message: str
    location: Location = field(default_factory=Location)
    advice: str = ""
    count: int = 1
    places: tuple[Location, ...] = ()
    evidence: dict[str, Any] = field(default_factory=dict)
    quoted: str | None = None
    corrected: str | None = None

    @property
    def fingerprint(self) -> str:
        """A text that is the same in every run, so that a baseline can recognise the finding.

        The code, the file's name (not the folder: data moves), the split, the feature and the quoted code; neither
        record and line numbers nor figures, which change when something else does.
        """
        where = self.location
        parts = (self.code, os.path.basename(where.path or ""), where.split, where.feature, self.quoted)
        return hashlib.sha256("\0".join(str(part) for part in parts).encode(errors="surrogatepass")).hexdigest()[:16]

    def to_json(self) -> dict[str, Any]:
        """Return the finding as JSON has it; what does not apply is left out, but never the first six."""
        document: dict[str, Any] = {
            "code": self.code,
            "name": self.name,
            "severity": self.severity.value,
            "message": self.message,
            "location": self.location.to_json(),
            "advice": self.advice,
            "count": self.count,
            "fingerprint": self.fingerprint,
        }
        if self.places:
            document["places"] = [place.to_json() for place in self.places]
        if self.evidence:
            document["evidence"] = self.evidence
        if self.quoted is not None:
            document["quoted"] = self.quoted
        if self.corrected is not None:
            document["corrected"] = self.corrected
        return document
