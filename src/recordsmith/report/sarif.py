"""Findings as SARIF 2.1.0, the format in which code hosts and editors take the results of checkers.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html. Findings in code have a region of lines and columns;
findings in data have the file, and the record, offset and feature as a logical location and as properties, because a
region of a binary file would be shown by nobody.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from recordsmith.report.plain_values import plain_value
from recordsmith.rules import Finding, Location, RuleText, Severity
from recordsmith.wording.visible_text import without_surrogates

__all__ = ["sarif_log"]

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def sarif_log(findings: Iterable[Finding], texts: Mapping[str, RuleText]) -> dict[str, Any]:
    """Return a log with one run; `texts` are what the rules say about themselves, by code.

    >>> log = sarif_log([Finding("V001", "nan", Severity.ERROR, "2 NaN.", Location("a.tfrecord", record=7))], {})
    >>> log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    'a.tfrecord'
    """
    told = list(findings)
    first = {one.code: one for one in reversed(told)}
    codes = sorted(first)
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "recordsmith",
                        "semanticVersion": version("recordsmith"),
                        "rules": [_rule(first[code], texts.get(code)) for code in codes],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(one, codes.index(one.code)) for one in told],
            }
        ],
    }


def _rule(finding: Finding, text: RuleText | None) -> dict[str, Any]:
    rule: dict[str, Any] = {
        "id": finding.code,
        "name": "".join(part.capitalize() for part in finding.name.split("-")),
        "defaultConfiguration": {"level": _LEVELS[finding.severity]},
    }
    if text is not None:
        rule["shortDescription"] = {"text": text.summary}
        rule["fullDescription"] = {"text": "\n\n".join(part for part in (text.summary, text.details) if part)}
        parts = {"Why it matters": text.why, "Example": text.example, "Fix": text.fix}
        rule["help"] = {
            "text": "\n\n".join(f"{title}: {part}" for title, part in parts.items()),
            "markdown": "\n\n".join(f"**{title}**\n\n{part}" for title, part in parts.items()),
        }
    return rule


def _result(finding: Finding, index: int) -> dict[str, Any]:
    advice = f" {finding.advice}" if finding.advice else ""
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": without_surrogates(finding.message + advice)},
        "locations": [_location(finding.location, quoted=finding.quoted)] if str(finding.location) else [],
        "occurrenceCount": max(1, finding.count),
        "partialFingerprints": {"recordsmith/v1": finding.fingerprint},
    }
    if finding.places:
        result["relatedLocations"] = [_location(place) for place in finding.places]
    if finding.evidence:
        result["properties"] = {"evidence": plain_value(finding.evidence)}
    return result


def _location(where: Location, *, quoted: str | None = None) -> dict[str, Any]:
    location: dict[str, Any] = {}
    if where.path is not None:
        physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(where.path)}}
        if where.line is not None and where.cell is None:
            physical["region"] = _region(where, quoted)
        location["physicalLocation"] = physical
    parts = {name: value for name, value in where.to_json().items() if name in _IN_DATA}
    if parts:
        location["logicalLocations"] = [
            {"fullyQualifiedName": without_surrogates(_data_place(where)), "kind": "member"}
        ]
        location["properties"] = plain_value(parts)
    if where.cell is not None or parts:
        location["message"] = {"text": without_surrogates(str(where))}
    return location


_IN_DATA = ("split", "record", "offset", "feature", "cell")


def _data_place(where: Location) -> str:
    return str(Location(split=where.split, record=where.record, feature=where.feature)) or str(where)


def _region(where: Location, quoted: str | None) -> dict[str, Any]:
    region: dict[str, Any] = {"startLine": where.line}
    if where.column is not None:
        region["startColumn"] = where.column
    if where.end_line is not None:
        region["endLine"] = where.end_line
    if where.end_column is not None:
        region["endColumn"] = where.end_column
    if quoted is not None:
        region["snippet"] = {"text": without_surrogates(quoted)}
    return region


def _uri(path: str) -> str:
    """A path below the folder of the run is relative, as code hosts want it; any other is a file: URI."""
    relative = os.path.relpath(path)
    if not relative.startswith(".."):
        return quote(os.fsencode(relative.replace(os.sep, "/")))
    return Path(path).absolute().as_uri()
