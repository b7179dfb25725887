"""`rs.lint`: reads code, without running it."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Sequence
from typing import Any

from recordsmith.doctor.lint.fixing import Fixed, fix_sources
from recordsmith.doctor.lint.program import Program, analyse
from recordsmith.doctor.lint.rules import RULES
from recordsmith.doctor.lint.source_files import SourceFile, read_source, source_files
from recordsmith.doctor.lint.understanding import understood
from recordsmith.errors import RecordsmithError
from recordsmith.facts.dataset_facts import DatasetFacts
from recordsmith.report import Report, TextSection
from recordsmith.rules import Baseline, Configuration, Finding, Judge, Severity

__all__ = ["lint", "lint_and_fix"]

PathLike = str | os.PathLike[str]

_SOURCE = "<source>"
_NOT_FOLLOWED = "P099"  # it would contradict a finding about the code


def lint(
    path: PathLike | None = None,
    data: PathLike | Sequence[str] | DatasetFacts | None = None,
    *,
    source: str | None = None,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    fail_on: str | None = None,
    baseline: Baseline | PathLike | None = None,
    configuration: Configuration | None = None,
) -> Report:
    r"""Read training and writing code, and say what is wrong with it; nothing is imported or executed.

    Args:
        path: a Python file, a notebook, or a folder of them.
        data: the TFRecords that the code reads or writes: a file, a folder, a glob; or the facts about them. With it,
            the features that the code asks for are compared with those that exist.
        source: source code, instead of a path.
        select: the rules to apply: codes, prefixes of codes, or names; by default all.
        ignore: rules to leave out.
        fail_on: the lowest severity that makes the report not ok: "error", "warning", "info" or "never"; None:
            that of the configuration, or "warning".
        baseline: known findings, which are not reported again, or their file; None: that of the configuration.
        configuration: a project's settings, from `rs.load_configuration()`; None: no file is read.

    >>> report = lint(source='''
    ... import tensorflow as tf
    ... train = tf.data.TFRecordDataset("train.tfrecord").batch(32).shuffle(1000)
    ... ''')
    >>> [(finding.code, finding.location.line) for finding in report.findings if finding.severity == "warning"]
    [('P001', 3)]
    >>> report.findings[0].corrected
    'train = tf.data.TFRecordDataset("train.tfrecord").shuffle(1000).batch(32)'
    """
    if (path is None) == (source is None):
        raise RecordsmithError(
            "`lint` takes either a path or `source=`.",
            found="both" if source is not None else "neither",
            advice='Write `rs.lint("train.py")`, or `rs.lint(source="...")`.',
        )
    judge = Judge(RULES, configuration, select=select, ignore=ignore, fail_on=fail_on, baseline=baseline)
    facts = _facts_of(data)
    unread: list[RecordsmithError] = []
    if source is not None:
        programs = [analyse(SourceFile.parse(_SOURCE, source), data=facts)]
    else:
        programs, unread = _programs(os.fspath(path or ""), facts)
    return Report(
        "lint",
        **judge.judgement(_findings(programs, judge)),
        sections=_sections(unread),
        followed=tuple(map(understood, programs)),
        subject=_SOURCE if path is None else os.fspath(path),
    )


def lint_and_fix(
    path: PathLike, data: PathLike | Sequence[str] | None = None, **settings: Any
) -> tuple[Report, list[Fixed]]:
    """Make the changes that are certain, and report what is left; `settings` are those of `lint`."""
    facts = _facts_of(data)
    programs, _ = _programs(os.fspath(path), facts)
    fixed = fix_sources(programs, _findings(programs, Judge(RULES, **settings)))
    return lint(path, facts, **settings), fixed


def _programs(text: str, facts: DatasetFacts | None) -> tuple[list[Program], list[RecordsmithError]]:
    """Read and follow the files; those of a folder that cannot be read are reported, not fatal."""
    if not os.path.exists(text):
        raise RecordsmithError(
            "There is no such file or folder.", path=text, expected="a Python file, a notebook, or a folder of them"
        )
    paths = list(source_files(text))
    if not paths:
        raise RecordsmithError(
            "The folder contains no Python file and no notebook.",
            path=text,
            advice="To check data, use `recordsmith check`.",
        )
    folder = text if os.path.isdir(text) else os.path.dirname(text) or "."
    programs: list[Program] = []
    unread: list[RecordsmithError] = []
    for path in paths:
        try:
            program = analyse(read_source(path), folder=folder, data=facts)
        except RecordsmithError as error:
            unread.append(error)
            continue
        program.alone = len(paths) == 1
        programs.append(program)
        if program.cut_short:
            unread.append(RecordsmithError("It is nested too deeply to be followed to its end.", path=path))
    if not programs:
        raise unread[0]
    for program in programs:
        program.elsewhere = [one for other in programs if other is not program for one in other.examples]
    return programs, unread


def _sections(unread: list[RecordsmithError]) -> tuple[TextSection, ...]:
    if not unread:
        return ()
    return (TextSection("Not read", "\n\n".join(f"{error.path}: {error.problem}" for error in unread)),)


def _findings(programs: list[Program], judge: Judge[Program]) -> list[Finding]:
    found: dict[tuple[object, ...], Finding] = {}
    for program in programs:
        given = list(judge.find(program))
        about_code = [one for one in given if one.code != _NOT_FOLLOWED]
        stopped = program.too_large or program.cut_short
        for finding in given if stopped or not about_code else about_code:
            if program.is_test_code and finding.severity is not Severity.INFO and finding.code.startswith("P"):
                finding = dataclasses.replace(finding, severity=Severity.INFO)  # noqa: PLW2901 - the same one
            if program.cut_short and finding.evidence.get("exception") == RecursionError.__name__:
                continue  # the report says that the program was not followed to its end
            where = finding.location
            path = where.path and os.path.normpath(where.path)
            key = (finding.code, path, where.cell, where.line, where.column, where.feature)
            found.setdefault(key, finding)
    return list(found.values())


def _facts_of(data: PathLike | Sequence[str] | DatasetFacts | None) -> DatasetFacts | None:
    if data is None or isinstance(data, DatasetFacts):
        return data
    from recordsmith.facts.survey import survey

    return survey(data if isinstance(data, str | os.PathLike) else list(data), decode="none")
