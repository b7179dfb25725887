"""A baseline: findings that are known and accepted, so that only new ones are reported.

It is a JSON file, to be kept with the project and read in a review:

    {
      "recordsmith-baseline": 1,
      "findings": [
        {"fingerprint": "3b1f…", "code": "V003", "name": "constant-feature", "where": "feature 'x'", "times": 1}
      ]
    }

A finding is recognised by its fingerprint: its rule, and the file, split and feature or the code that it is about.
Record numbers and figures may change. Where a fingerprint is found more often than it is known, the rest is new.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from typing import Any, Self

from recordsmith.errors import RecordsmithError, SchemaError
from recordsmith.rules.finding import Finding
from recordsmith.storage.atomic_file import rewrite_text
from recordsmith.storage.json_descriptions import JsonObject, read_json_object
from recordsmith.wording.visible_text import json_text, without_surrogates

__all__ = ["Baseline"]

_MARK = "recordsmith-baseline"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Baseline:
    """Known findings, by fingerprint.

    Attributes:
        entries: what the file says of each finding, by fingerprint.

    >>> from recordsmith.rules.finding import Location, Severity
    >>> known = Finding("V001", "nan", Severity.ERROR, "2 NaN in 'x'.", Location(feature="x"))
    >>> new = Finding("V001", "nan", Severity.ERROR, "1 NaN in 'y'.", Location(feature="y"))
    >>> [one.message for one in Baseline.of([known]).without_known([known, new])]
    ["1 NaN in 'y'."]
    """

    entries: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, findings: Iterable[Finding]) -> Self:
        """Return a baseline that knows these findings."""
        entries: dict[str, dict[str, Any]] = {}
        for one in findings:
            entry = entries.setdefault(
                one.fingerprint, {"code": one.code, "name": one.name, "where": _place(one), "times": 0}
            )
            entry["times"] += 1
        return cls(entries)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a baseline; a file that is not one is refused.

        >>> Baseline.load("no-such-file.json")
        Traceback (most recent call last):
        recordsmith.errors.RecordsmithError: The baseline was not found.
          where:    no-such-file.json
          to do:    Write one with --write-baseline.
        """
        try:
            document = read_json_object(path, "baseline")
            _check_version(document.count(_MARK))
            return cls({entry.text("fingerprint"): _entry(entry) for entry in document.objects("findings")})
        except SchemaError as error:
            raise RecordsmithError(
                error.problem,
                path=path,
                found=error.found,
                expected=error.expected,
                advice="Write one with --write-baseline.",
            ) from None
        except FileNotFoundError:
            raise RecordsmithError(
                "The baseline was not found.", path=path, advice="Write one with --write-baseline."
            ) from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it, sorted so that differences are small."""
        listed = sorted(self.entries.items(), key=lambda entry: (entry[1]["code"], entry[1]["where"], entry[0]))
        document = {_MARK: _VERSION, "findings": [{"fingerprint": known, **entry} for known, entry in listed]}
        rewrite_text(path, json_text(document) + "\n")

    def updated(self, findings: Iterable[Finding], rules: Container[str]) -> Self:
        """Return the same, with these findings instead of those of the rules that were applied, given by their codes.

        >>> known = Baseline({"3b1f": {"code": "V001"}, "77a0": {"code": "P001"}})
        >>> known.updated([], rules={"V001"}).entries
        {'77a0': {'code': 'P001'}}
        """
        others = {known: entry for known, entry in self.entries.items() if entry["code"] not in rules}
        return type(self)(others | self.of(findings).entries)

    def without_known(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return the findings that are new."""
        left = Counter({fingerprint: entry["times"] for fingerprint, entry in self.entries.items()})
        new = []
        for one in findings:
            if left[one.fingerprint] > 0:
                left[one.fingerprint] -= 1
            else:
                new.append(one)
        return new


def _check_version(version: int | None) -> None:
    if version is None:
        raise SchemaError("This is not a baseline.", expected=f'an object with "{_MARK}"')
    if version != _VERSION:
        raise SchemaError("This baseline has another version.", found=version, expected=_VERSION)


def _entry(entry: JsonObject) -> dict[str, Any]:
    times = entry.count("times")
    return {
        **{name: entry.text(name, "") for name in ("code", "name", "where")},
        "times": 1 if times is None else times,
    }


def _place(one: Finding) -> str:
    """Where it is, without anything that changes from run to run."""
    where = one.location
    parts = [os.path.basename(where.path)] if where.path else []
    parts += [f"split {where.split!r}"] if where.split is not None else []
    parts += [f"feature {where.feature!r}"] if where.feature is not None else []
    return without_surrogates(", ".join(parts))
