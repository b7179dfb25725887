"""`check`: collects the facts of a dataset in one pass, then applies the rules."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Literal

from recordsmith.checking.descriptions import description_in
from recordsmith.checking.rules import RULES, look_into_records
from recordsmith.dataset.descriptions.schema_source import find_schema
from recordsmith.dataset.row_decoding import RowOverview
from recordsmith.errors import RecordsmithError
from recordsmith.facts.dataset_facts import DatasetFacts
from recordsmith.facts.named_images import NamedImage, named_images
from recordsmith.facts.sample_rows import sample_rows
from recordsmith.facts.survey import survey
from recordsmith.records.shards import files_in
from recordsmith.report import Report
from recordsmith.rules import Baseline, Configuration, Finding, Judge
from recordsmith.run.engines.execution import EngineName, Execution
from recordsmith.schema import Schema
from recordsmith.workers.progress_display import OnPhase, ShowProgress, phase_progress

__all__ = ["check"]

PathLike = str | os.PathLike[str]


def check(  # noqa: PLR0913 - each is a choice of its own, and all but the paths are named
    paths: PathLike | Sequence[PathLike],
    *,
    split: str | None = None,
    schema: Schema | PathLike | None = None,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    fail_on: str | None = None,
    baseline: Baseline | PathLike | None = None,
    decode: Literal["sample", "all", "none"] = "sample",
    similar_images: bool = False,
    configuration: Configuration | None = None,
    engine: EngineName = "local",
    address: str | None = None,
    progress: OnPhase | ShowProgress = "auto",
) -> Report:
    """Check a dataset: every file, record and value, against all rules.

    Args:
        paths: a file, folder, glob, or list of them.
        split: only the files of this split.
        schema: the schema to check against, or its file; None: the declared schema, if there is one.
        select: the rules to apply: codes, prefixes of codes, or names; by default all. If they are only about files and
            framing (F, D008 to D011), records are not decoded, which is much faster.
        ignore: the rules to leave out.
        fail_on: the lowest severity that makes the report not `ok`: "error", "warning", "info" or "never"; None: that
            of the configuration, or "warning".
        baseline: known findings, which are not reported again, or their file; None: that of the configuration.
        decode: which images to decode.
        similar_images: look for images that look alike.
        configuration: a project's settings, from `rs.load_configuration()`; None: no file is read.
        engine: who reads the files: "local", this machine, or "ray", a Ray cluster whose machines see the same files.
            The report is the same.
        address: the address of the Ray cluster, or "auto"; None uses the cluster that this program is connected
            to, or RAY_ADDRESS, or starts Ray on this machine.
        progress: True shows a bar on a terminal and in a notebook, and elsewhere writes a line every few seconds;
            "auto" shows only the bar; False shows nothing. A function is called from time to time with the phase, the
            amount done, and the total (0 if it is not known).

    >>> import recordsmith as rs, tempfile
    >>> path = tempfile.mkdtemp() + "/data.tfrecord"
    >>> with rs.RecordWriter(path) as writer:
    ...     for row in range(10):
    ...         writer.write_example({"x": [float("nan")], "row": row})
    >>> report = rs.check(path, select=["V001"])
    >>> report.ok, report.findings[0].message
    (False, "Feature 'x' contains 10 NaN among 10 values (100 %).")
    """
    judge = Judge(RULES, configuration, select=select, ignore=ignore, fail_on=fail_on, baseline=baseline)
    frames_only = not (look_into_records(judge.rules) or decode == "all" or similar_images)
    declared = schema if schema is None or isinstance(schema, Schema) else find_schema(schema).schema
    asked = [os.fsdecode(path) for path in ([paths] if isinstance(paths, (str, os.PathLike)) else paths)]

    execution = Execution.checked("", engine=engine, address=address)

    def look(files: list[str]) -> DatasetFacts:
        with (
            phase_progress(shown=False if callable(progress) else progress) as bar,
            execution.open() as machines,
        ):
            return survey(
                files[0] if len(files) == 1 else files,
                split=split,
                schema=declared,
                decode=decode,
                similar_images=similar_images,
                frames_only=frames_only,
                machines=machines if machines.is_remote else None,
                progress=progress if callable(progress) else bar,
            )

    facts = _survey_existing_files(asked, look)
    judgement = judge.judgement(judge.find(facts))
    return Report(
        "check",
        **judgement,
        facts=facts,
        subject=", ".join(asked),
        samples=_samples(facts),
        images=_images(facts, judgement["findings"]),
    )


def _survey_existing_files(paths: list[str], look: Callable[[list[str]], DatasetFacts]) -> DatasetFacts:
    """Survey a dataset; one whose description is broken or names missing files, by the files that there are."""
    try:
        return look(paths)
    except (RecordsmithError, OSError):
        described = [path for path in paths if description_in(path) is not None]
        files = [file for path in paths for file in (files_in(path) if path in described else [path])]
        if not described or not files:
            raise
        return replace(look(files), paths=tuple(paths))


def _images(facts: DatasetFacts, findings: Iterable[Finding]) -> tuple[NamedImage, ...]:
    places = [place for finding in findings for place in (finding.location, *finding.places)]
    named = [(one.path, one.record, one.offset) for one in places if one.path is not None and one.record is not None]
    with contextlib.suppress(RecordsmithError, OSError):
        return named_images(facts, named)
    return ()


def _samples(facts: DatasetFacts) -> tuple[RowOverview, ...]:
    if facts.frames_only:
        return ()
    with contextlib.suppress(RecordsmithError, OSError):
        return sample_rows(facts)
    return ()  # a report without samples is better than none
