"""Surveys a dataset: one pass that collects all facts that rules and reports need.

The files are read once by the core, on several threads and in bounded memory: sums and places are exact, and where
values become too many to hold, sketches take over (see dataset_facts.py). The same facts come out whatever the number
of threads, or if other machines do the work (divided_survey.py). Beyond that pass only what asks for it is read again:
images that are decoded, and features of which the facts do not already show that they keep to their constraints.

Memory, for each thread: a few megabytes of records, and some tens of kilobytes for each feature. For all: 24 bytes a
record up to 4 million records for finding duplicates, and a temporary file beyond; two bytes a record for the first 16
million labels.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any, Literal

from recordsmith import _core
from recordsmith.dataset.payload_reading import refuse_pipe
from recordsmith.errors import RecordsmithError
from recordsmith.facts.dataset_facts import Anomaly, DatasetFacts, ShardFacts, SplitFacts
from recordsmith.facts.divided_survey import Machines, SurveyWay, divided_survey
from recordsmith.facts.from_core.box_facts import boxes_of
from recordsmith.facts.from_core.duplicates import duplicates_of
from recordsmith.facts.from_core.feature_facts import features_of
from recordsmith.facts.from_core.image_facts import decode_images
from recordsmith.facts.from_core.label_facts import labels_of
from recordsmith.facts.from_core.schema_mismatches import expectations_of, mismatches_of
from recordsmith.facts.from_core.shard_facts import digest_of, shard_of
from recordsmith.facts.from_core.survey_places import FilePlaces
from recordsmith.facts.similar_images import SimilarImages
from recordsmith.facts.survey_files import SurveyedFiles, find_files
from recordsmith.schema import Schema
from recordsmith.storage.objects.interruptible import interruptible
from recordsmith.storage.ranged.opening import file_size, is_file, is_ranged
from recordsmith.storage.ranged.requests import stopped_by_ctrl_c
from recordsmith.workers.progress_display import OnPhase
from recordsmith.workers.threads import default_workers, in_order, thread_pool

__all__ = ["survey"]

PathLike = str | os.PathLike[str]


def survey(  # noqa: PLR0913 - each is a choice of its own, and all but the paths are named
    paths: PathLike | Sequence[PathLike],
    *,
    split: str | None = None,
    schema: Schema | None = None,
    decode: Literal["sample", "all", "none"] = "sample",
    similar_images: bool = False,
    frames_only: bool = False,
    records: int | None = None,
    threads: int | None = None,
    machines: Machines | None = None,
    progress: OnPhase | None = None,
) -> DatasetFacts:
    """Collect the facts of a dataset.

    Damage is a part of them, as are files that hold something else. An error is raised only for what nobody could look
    at: paths that do not exist, a folder without files, an unknown split, a manifest that cannot be understood.

    Args:
        paths: a file, folder, glob, or list of them.
        split: only the files of this split.
        schema: what the records should hold; None: the schema next to the files, if there is one.
        decode: which images to decode in full: "sample" (up to 200 of each feature, drawn evenly), "all" or "none".
            Without OpenCV, a sample is left out in silence.
        similar_images: also look for images that look alike, which decodes all of them.
        frames_only: look at files, frames and checksums, and not into the records, which takes a fraction of the time:
            no features, labels, duplicates, anomalies and mismatches are reported then.
        records: look at no more than so many records of each file; None: at all.
        threads: how many threads; None: one for each processor.
        machines: other machines, which read the files, compute their digests, and decode images if all are decoded. The
            facts are the same.
        progress: called now and then with the phase, what is done of it, and how much it is (0 where that is not
            known): "checking" and "verifying" count bytes, "decoding images" and looking at a feature again count
            records.

    >>> import recordsmith as rs, tempfile
    >>> path = tempfile.mkdtemp() + "/data.tfrecord"
    >>> with rs.RecordWriter(path) as writer:
    ...     for number in (3, 4, 4):
    ...         writer.write_example({"label": number})
    >>> facts = survey(path)
    >>> facts.records, facts.feature("label").numbers.max, facts.duplicates.within
    (3, 4, {'': 1})
    """
    started = time.perf_counter()
    if decode not in ("sample", "all", "none"):
        raise RecordsmithError("Unknown value of decode.", found=decode, expected="'sample', 'all' or 'none'")
    found = find_files(paths).select(split)
    for file in found.files:
        refuse_pipe(file)
    declared = schema if schema is not None else found.schema
    workers = threads or default_workers()
    report: OnPhase = progress or (lambda _phase, _done, _total: None)
    if machines is not None:
        machines.begin("", sorted({os.path.dirname(file) for file in found.files if not is_ranged(file)}))
    counted = _count(
        found, declared, workers=workers, records=records, frames_only=frames_only, machines=machines, progress=report
    )
    shards = _shards(found, counted, workers, machines, report)
    places = FilePlaces(found.files)
    names = _split_names(found)
    looked_into: dict[str, Any] = {}
    if not frames_only:
        looked_into = _contents(
            found,
            counted,
            declared,
            shards,
            decode=decode,
            similar_images=similar_images,
            threads=workers,
            machines=machines,
            progress=report,
        )
    asked = (paths,) if isinstance(paths, (str, os.PathLike)) else tuple(paths)
    return DatasetFacts(
        paths=tuple(os.fsdecode(path) for path in asked),
        files=found.files,
        records=sum(shard.records for shard in shards),
        bytes=sum(shard.bytes for shard in shards),
        schema=declared,
        described_by=found.described_by if schema is None else None,
        manifest=found.manifest,
        shards=shards,
        splits=_splits(names, counted.splits, shards, declared, places),
        seconds=time.perf_counter() - started,
        looked_at_all=all(file.is_complete for file in counted.files),
        split=split,
        features_left_out=round(counted.total.features_left_out),
        frames_only=frames_only,
        **looked_into,
    )


def _contents(  # noqa: PLR0913 - what the survey was asked for, and what it has found so far
    found: SurveyedFiles,
    counted: _core.SurveySummary,
    declared: Schema | None,
    shards: tuple[ShardFacts, ...],
    *,
    decode: Literal["sample", "all", "none"],
    similar_images: bool,
    threads: int,
    machines: Machines | None,
    progress: OnPhase,
) -> dict[str, Any]:
    """Return the fields of DatasetFacts about the contents of the records."""
    places = FilePlaces(found.files)
    names = _split_names(found)
    total = counted.total
    features = features_of(total, declared, places)
    labels = labels_of(dict(zip(names, counted.splits, strict=True)), features, declared, places)
    similar = SimilarImages(found.splits) if similar_images else None
    features = decode_images(
        features,
        total,
        found.files,
        decode=decode,
        similar=similar,
        threads=threads,
        machines=machines,
        progress=progress,
    )
    duplicates = duplicates_of(
        counted.duplicates, names, places, total.provenance, counted.contradictions if labels else None
    )
    if similar is not None:
        progress("comparing images", 0, 0)
        duplicates = similar.added_to(duplicates, places)
    return {
        "features": features,
        "labels": labels,
        "duplicates": duplicates,
        "anomalies": _anomalies(total, places),
        "boxes": boxes_of(declared, features, shards, progress),
        "mismatches": () if declared is None else mismatches_of(declared, total, features, labels, shards, progress),
    }


def _count(
    found: SurveyedFiles,
    schema: Schema | None,
    *,
    workers: int,
    records: int | None,
    frames_only: bool,
    machines: Machines | None,
    progress: OnPhase,
) -> _core.SurveySummary:
    """Let the core survey all records."""
    names = _split_names(found)
    in_all = sum(file_size(file) for file in found.files)
    files = [(file, names.index(split or "")) for file, split in zip(found.files, found.splits, strict=True)]
    way = SurveyWay(schema, _provenance(found), records, frames_only)

    def report(done: int) -> None:
        progress("checking", min(done, in_all), in_all)

    def count() -> _core.SurveySummary:
        if machines is not None:
            return divided_survey(files, way, machines, report)
        return _core.survey(
            [_core.SurveyFile(file, split) for file, split in files],
            expectations_of(schema),
            provenance=way.provenance,
            options=way.options(threads=workers),
            progress=report,
        )

    with stopped_by_ctrl_c():
        counted = interruptible(count) if any(map(is_ranged, found.files)) else count()
    report(in_all)
    return counted


def _provenance(found: SurveyedFiles) -> list[str]:
    """Return the features that, according to the manifest, only say where a record comes from."""
    return [] if found.manifest is None else list(found.manifest.provenance)


def _split_names(found: SurveyedFiles) -> list[str]:
    """Return the splits in the order of their files; "" stands for files of none."""
    return list(dict.fromkeys(split or "" for split in found.splits)) or [""]


def _shards(
    found: SurveyedFiles,
    counted: _core.SurveySummary,
    workers: int,
    machines: Machines | None,
    progress: OnPhase,
) -> tuple[ShardFacts, ...]:
    files = counted.files
    in_all = sum(file_size(file) for file in found.files if is_file(file))
    digests: dict[str, str | None] = {}  # that others have computed
    if machines is not None:
        described = [path for path in found.files if path in found.promises and found.promises[path].sha256]
        for path, digest in zip(described, machines.in_order(digest_of, described), strict=True):
            digests[path] = digest
            progress("verifying", sum(map(file_size, digests)), in_all)

    def shard(number: int) -> ShardFacts:
        path = found.files[number]
        promised = found.promises.get(path)
        sha256 = digests.get(path)
        if promised is not None and promised.sha256 and path not in digests:
            sha256 = digest_of(path)
        return shard_of(path, found.splits[number], files[number], promised=promised, sha256=sha256)

    with thread_pool(min(workers, len(found.files))) as pool:
        shards = []
        done = 0
        with stopped_by_ctrl_c():
            for one in in_order(pool, shard, range(len(found.files)), ahead=2 * workers):
                shards.append(one)
                done += one.bytes
                if one.sha256 is not None and machines is None:
                    progress("verifying", min(done, in_all), in_all)
        return tuple(shards)


def _splits(
    names: Sequence[str],
    counted: Sequence[_core.SplitSummary],
    shards: Sequence[ShardFacts],
    schema: Schema | None,
    places: FilePlaces,
) -> dict[str, SplitFacts]:
    splits = {}
    for name, content in zip(names, counted, strict=True):
        if not name:
            continue
        own = [shard for shard in shards if shard.split == name]
        splits[name] = SplitFacts(
            name=name,
            records=sum(shard.records for shard in own),
            bytes=sum(shard.bytes for shard in own),
            shards=len(own),
            features=features_of(content, schema, places),
        )
    return splits


def _anomalies(counted: _core.SplitSummary, places: FilePlaces) -> tuple[Anomaly, ...]:
    return tuple(
        Anomaly(found.kind, found.count, places.all_of(found.places), found.feature or None)
        for found in counted.anomalies
    )
