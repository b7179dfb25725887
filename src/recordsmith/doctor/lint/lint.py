"""`rs.lint`: reads code, without running it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from recordsmith.doctor.lint.fixing import Fixed, fix_sources
from recordsmith.doctor.lint.program import Program, analyse
from recordsmith.doctor.lint.rules import RULES
from recordsmith.doctor.lint.source_files import SourceFile, read_source, source_files
from recordsmith.errors import RecordsmithError
from recordsmith.facts.dataset_facts import DatasetFacts
from recordsmith.findings import Finding, Selection, load_configuration
from recordsmith.findings.running import run_rules
from recordsmith.report import Report

__all__ = ["lint", "lint_and_fix"]


def lint(
    path_or_source: str | os.PathLike[str],
    data: str | os.PathLike[str] | Sequence[str] | DatasetFacts | None = None,
    *,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    fail_on: str | None = None,
) -> Report:
    r"""Read training and writing code, and say what is wrong with it; nothing is imported or executed.

    Args:
        path_or_source: a Python file, a notebook, a folder of them, or source code itself.
        data: the TFRecords that the code reads or writes: a file, a folder, a glob; or the facts about them. With it,
            the features that the code asks for are compared with those that exist.
        select: rules to run, by code, the beginning of one, or name; all, if none is given.
        ignore: rules to leave out.
        fail_on: the least severity that makes the report not ok: "error", "warning" (the default), "info", "never".

    >>> report = lint('''
    ... import tensorflow as tf
    ... train = tf.data.TFRecordDataset("train.tfrecord").batch(32).shuffle(1000)
    ... ''')
    >>> [(finding.code, finding.location.line) for finding in report.findings if finding.severity == "warning"]
    [('P001', 3)]
    >>> report.findings[0].corrected
    'train = tf.data.TFRecordDataset("train.tfrecord").shuffle(1000).batch(32)'
    """
    report, _ = lint_and_fix(path_or_source, data, select=select, ignore=ignore, fail_on=fail_on, fix=False)
    return report


def lint_and_fix(
    path_or_source: str | os.PathLike[str],
    data: str | os.PathLike[str] | Sequence[str] | DatasetFacts | None = None,
    *,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    fail_on: str | None = None,
    fix: bool = False,
) -> tuple[Report, list[Fixed]]:
    """Do as `lint` does; with `fix`, first make the changes that are certain, and report what is left."""
    facts = _facts_of(data)
    text = os.fspath(path_or_source)
    selection = load_configuration(_start_of(text)).selection(
        select=select, ignore=ignore, fail_on=fail_on, rules=RULES
    )
    programs, subject = _programs(text, facts)
    findings = _findings(programs, selection)
    fixed: list[Fixed] = []
    if fix:
        fixed = fix_sources(programs, findings)
        if fixed:
            programs, subject = _programs(text, facts)
            findings = _findings(programs, selection)
    rules = {one.code: one.text for one in RULES}
    report = Report("lint", tuple(findings), subject=subject, fail_on=selection.fail_on, rules=rules)
    return report, fixed


def _start_of(text: str) -> str:
    if "\n" in text or not os.path.exists(text):
        return "."
    return text if os.path.isdir(text) else os.path.dirname(text) or "."


def _programs(text: str, facts: DatasetFacts | None) -> tuple[list[Program], str]:
    if "\n" in text or (not os.path.exists(text) and "(" in text):
        return [analyse(SourceFile.parse("<source>", text), data=facts)], "<source>"
    if not os.path.exists(text):
        raise RecordsmithError(
            "There is no such file or folder.", path=text, expected="a Python file, a notebook, or a folder of them"
        )
    paths = list(source_files(text))
    if not paths:
        raise RecordsmithError("There is no Python file and no notebook here.", path=text)
    programs: list[Program] = []
    refused: RecordsmithError | None = None
    for path in paths:
        try:
            source = read_source(path)
        except RecordsmithError as error:
            refused = error
            continue
        folder = text if os.path.isdir(text) else os.path.dirname(path) or "."
        programs.append(analyse(source, folder=folder, data=facts))
    if refused is not None and not programs:
        raise refused
    for program in programs:
        program.elsewhere = [one for other in programs if other is not program for one in other.examples]
    return programs, text


def _findings(programs: list[Program], selection: Selection) -> list[Finding]:
    found: dict[tuple[object, ...], Finding] = {}
    for program in programs:
        for finding in run_rules(RULES, program, wanted=lambda one: selection.wants(one.code)):
            where = finding.location
            key = (finding.code, where.path, where.cell, where.line, where.column, where.feature)
            found.setdefault(key, finding)
    return list(found.values())


def _facts_of(data: str | os.PathLike[str] | Sequence[str] | DatasetFacts | None) -> DatasetFacts | None:
    if data is None or isinstance(data, DatasetFacts):
        return data
    from recordsmith.facts.survey import survey

    return survey(data if isinstance(data, str | os.PathLike) else list(data), decode="none")
