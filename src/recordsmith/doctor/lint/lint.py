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
from recordsmith.report import Report, TextSection
from recordsmith.rules import Baseline, Configuration, Finding, Selection
from recordsmith.rules.running import run_rules

__all__ = ["lint", "lint_and_fix"]

_SOURCE = "<source>"


def lint(
    path_or_source: str | os.PathLike[str],
    data: str | os.PathLike[str] | Sequence[str] | DatasetFacts | None = None,
    *,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    fail_on: str | None = None,
    baseline: str | os.PathLike[str] | None = None,
    configuration: Configuration | None = None,
) -> Report:
    r"""Read training and writing code, and say what is wrong with it; nothing is imported or executed.

    Args:
        path_or_source: a Python file, a notebook, a folder of them, or source code itself.
        data: the TFRecords that the code reads or writes: a file, a folder, a glob; or the facts about them. With it,
            the features that the code asks for are compared with those that exist.
        select: rules to run, by code, the beginning of one, or name; all, if none is given.
        ignore: rules to leave out.
        fail_on: the least severity that makes the report not ok: "error", "warning", "info" or "never"; None: as the
            configuration says, which is "warning" without one.
        baseline: a file of known findings, which are left out; None: none.
        configuration: a project's settings, from `rs.load_configuration()`; None: no file is read.

    >>> report = lint('''
    ... import tensorflow as tf
    ... train = tf.data.TFRecordDataset("train.tfrecord").batch(32).shuffle(1000)
    ... ''')
    >>> [(finding.code, finding.location.line) for finding in report.findings if finding.severity == "warning"]
    [('P001', 3)]
    >>> report.findings[0].corrected
    'train = tf.data.TFRecordDataset("train.tfrecord").shuffle(1000).batch(32)'
    """
    report, _ = lint_and_fix(
        path_or_source,
        data,
        select=select,
        ignore=ignore,
        fail_on=fail_on,
        baseline=baseline,
        configuration=configuration,
    )
    return report


def lint_and_fix(
    path_or_source: str | os.PathLike[str],
    data: str | os.PathLike[str] | Sequence[str] | DatasetFacts | None = None,
    *,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    fail_on: str | None = None,
    baseline: str | os.PathLike[str] | None = None,
    configuration: Configuration | None = None,
    fix: bool = False,
) -> tuple[Report, list[Fixed]]:
    """Do as `lint` does; with `fix`, first make the changes that are certain, and report what is left."""
    selection = _selection(configuration or Configuration(), select, ignore, fail_on)
    facts = _facts_of(data)
    text = os.fspath(path_or_source)
    programs, unread = _programs(text, facts)
    findings = _findings(programs, selection)
    fixed: list[Fixed] = []
    if fix:
        fixed = fix_sources(programs, findings)
        if fixed:
            programs, unread = _programs(text, facts)
            findings = _findings(programs, selection)
    told = findings if baseline is None else Baseline.load(baseline).without_known(findings)
    report = Report(
        "lint",
        tuple(told),
        sections=_sections(unread),
        subject=_subject(text),
        fail_on=selection.fail_on,
        rules={one.code: one.text for one in RULES},
        known=len(findings) - len(told),
    )
    return report, fixed


def _selection(
    configuration: Configuration, select: Iterable[str], ignore: Iterable[str], fail_on: str | None
) -> Selection:
    """Join what is asked for with what the project has decided, where rules of other families do not count."""
    chosen = Selection(tuple(select), tuple(ignore)).resolved(RULES)
    ours = tuple(entry for entry in configuration.select if any(Selection(select=(entry,)).wants(one) for one in RULES))
    settings = Configuration(ours, configuration.ignore, configuration.fail_on)
    return settings.selection(select=chosen.select, ignore=chosen.ignore, fail_on=fail_on)


def _is_source(text: str) -> bool:
    return not os.path.exists(text) and ("\n" in text or "(" in text)


def _subject(text: str) -> str:
    return _SOURCE if _is_source(text) else text


def _programs(text: str, facts: DatasetFacts | None) -> tuple[list[Program], list[RecordsmithError]]:
    """Read and follow the files; those of a folder that cannot be read are told, not fatal."""
    if _is_source(text):
        return [analyse(SourceFile.parse(_SOURCE, text), data=facts)], []
    if not os.path.exists(text):
        raise RecordsmithError(
            "There is no such file or folder.", path=text, expected="a Python file, a notebook, or a folder of them"
        )
    paths = list(source_files(text))
    if not paths:
        raise RecordsmithError(
            "There is no Python file and no notebook here.", path=text, advice="`recordsmith check` looks at data."
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


def _findings(programs: list[Program], selection: Selection) -> list[Finding]:
    found: dict[tuple[object, ...], Finding] = {}
    for program in programs:
        for finding in run_rules(RULES, program, wanted=selection.wants):
            if program.cut_short and "RecursionError" in str(finding.evidence.get("error")):
                continue  # the report says that the program was not followed to its end
            where = finding.location
            key = (finding.code, where.path, where.cell, where.line, where.column, where.feature)
            found.setdefault(key, finding)
    return list(found.values())


def _facts_of(data: str | os.PathLike[str] | Sequence[str] | DatasetFacts | None) -> DatasetFacts | None:
    if data is None or isinstance(data, DatasetFacts):
        return data
    from recordsmith.facts.survey import survey

    return survey(data if isinstance(data, str | os.PathLike) else list(data), decode="none")
