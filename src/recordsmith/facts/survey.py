"""One pass over a dataset: everything that rules and reports look at."""

from __future__ import annotations

import collections
import contextlib
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from recordsmith import _core
from recordsmith.errors import RecordsmithError
from recordsmith.facts.dataset_facts import (
    Anomaly,
    Damage,
    DatasetFacts,
    DuplicateFacts,
    DuplicateGroup,
    FeatureFacts,
    FrequentValue,
    Histogram,
    LabelFacts,
    LengthFacts,
    NumberFacts,
    Place,
    ShardFacts,
    SplitFacts,
    StringFacts,
)
from recordsmith.facts.survey_files import find_files
from recordsmith.file_signatures import describe_content
from recordsmith.schema import Label, Schema

__all__ = ["survey"]

PathLike = str | os.PathLike[str]
_SHARES = (0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)


def survey(  # noqa: PLR0913
    paths: PathLike | Sequence[PathLike],
    *,
    split: str | None = None,
    schema: Schema | None = None,
    decode: str = "sample",
    similar_images: bool = False,
    records: int | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> DatasetFacts:
    """Collect the facts of a dataset.

    Args:
        paths: a file, folder, glob, or list of them.
        split: only the files of this split.
        schema: what the records should hold; None: the schema beside the files, if there is one.
        decode: which images to decode in full: "sample", "all" or "none".
        similar_images: look for images that look alike.
        records: look at no more than so many records of each file; None: at all.
        threads: None: one for each processor.
        progress: called now and then with the bytes done and the bytes in all.

    >>> import recordsmith as rs, tempfile
    >>> path = tempfile.mkdtemp() + "/data.tfrecord"
    >>> with rs.RecordWriter(path) as writer:
    ...     writer.write_example({"label": 3})
    >>> survey(path).feature("label").numbers.max
    3
    """
    started = time.perf_counter()
    found = find_files(paths).select(split)
    declared = schema if schema is not None else found.schema
    shards, rows, complete = [], [], True
    for file, name in zip(found.files, found.splits, strict=True):
        shard, content, whole = _scan(file, name, records)
        shard_promise = found.promises.get(file)
        shards.append(ShardFacts(**{**shard, "promised": shard_promise}))
        rows += content
        complete = complete and whole
    names = list(dict.fromkeys(name for name in found.splits if name is not None))
    splits = {}
    for name in names:
        own = [row for row in rows if row[3] == name]
        mine = [shard for shard in shards if shard.split == name]
        splits[name] = SplitFacts(
            name,
            sum(shard.records for shard in mine),
            sum(shard.bytes for shard in mine),
            len(mine),
            _features(own),
        )
    features = _features(rows)
    asked = (paths,) if isinstance(paths, (str, os.PathLike)) else tuple(paths)
    odd = collections.defaultdict(list)
    for row in rows:
        if row[4] is None:
            odd["not-an-example"].append(Place(row[1], row[2], None, row[5]))
    return DatasetFacts(
        tuple(os.fsdecode(path) for path in asked),
        found.files,
        sum(shard.records for shard in shards),
        sum(shard.bytes for shard in shards),
        declared,
        found.described_by if schema is None else None,
        found.manifest,
        tuple(shards),
        splits,
        features,
        _labels(features, rows, declared, names),
        _duplicates(rows),
        tuple(Anomaly(kind, len(places), tuple(places[:5])) for kind, places in odd.items()),
        (),
        time.perf_counter() - started,
        complete,
    )


def _scan(path: str, split: str | None, limit: int | None) -> tuple[dict[str, Any], list[Any], bool]:
    damages: list[Damage] = []
    rows: list[Any] = []
    sizes: list[int] = []
    payloads: collections.Counter[str] = collections.Counter()
    size = os.path.getsize(path)
    compression = "none"
    whole = True
    try:
        stream = _core.RecordStream(path, "auto", True)
        compression = stream.compression
        while True:
            if limit is not None and len(sizes) >= limit:
                whole = False
                break
            try:
                payload = stream.next()
            except (RecordsmithError, OSError) as error:
                damages.append(_damage(error, path, compression))
                more = False
                with contextlib.suppress(RecordsmithError, OSError):
                    more = stream.recover()
                if not more:
                    break
                continue
            if payload is None:
                break
            example = None
            kind = "unknown"
            try:
                context, lists = _core.decode_sequence_example(payload)
                kind = "sequence_example" if lists else "example" if context or not payload else "unknown"
                example = (context, lists) if kind != "unknown" else None
            except RecordsmithError:
                with contextlib.suppress(UnicodeDecodeError):
                    payload.decode()
                    kind = "text"
            payloads[kind] += 1
            sizes.append(len(payload))
            rows.append((hash(payload), path, stream.number - 1, split, example, f"looks like {kind}"))
    except (RecordsmithError, OSError) as error:
        damages.append(_damage(error, path, compression))
    facts = {
        "path": path,
        "split": split,
        "bytes": size,
        "compression": None if compression == "none" else compression,
        "records": len(sizes),
        "payload_bytes": sum(sizes),
        "min_record": min(sizes, default=None),
        "max_record": max(sizes, default=None),
        "payloads": dict(payloads),
        "damages": tuple(damages[:100]),
        "damage_count": len(damages),
    }
    return facts, rows, whole


def _damage(error: Exception, path: str, compression: str) -> Damage:
    kinds = {
        "CompressionError": "compression",
        "NotTFRecordError": "not-a-tfrecord",
        "TruncatedFileError": "truncated",
    }
    kind = kinds.get(type(error).__name__, "length-crc" if "length" in str(error) else "data-crc")
    if isinstance(error, OSError):
        return Damage("unreadable", path, None, None, None, str(error))
    assert isinstance(error, RecordsmithError)
    content = describe_content(path)
    if kind == "truncated" and error.found and int(str(error.found).split()[0]) < 12:
        kind = "stray-tail"
    looks = content.looks_like if kind == "not-a-tfrecord" else None
    return Damage(
        kind, path, error.offset, error.record, None, error.problem,
        None if error.found is None else str(error.found),
        None if error.expected is None else str(error.expected), looks,
    )  # fmt: skip


def _features(rows: list[Any]) -> tuple[FeatureFacts, ...]:
    found: dict[tuple[str, bool], list[tuple[Place, list[Any]]]] = {}
    examples = [row for row in rows if row[4] is not None]
    for row in examples:
        context, lists = row[4]
        place = Place(row[1], row[2])
        for name, value in context.items():
            found.setdefault((name, False), []).append((place, [value]))
        for name, values in lists.items():
            found.setdefault((name, True), []).append((place, list(values)))
    return tuple(_feature(name, steps, values, examples) for (name, steps), values in found.items())


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return "float" if value.dtype.kind == "f" else "int64"
    return "bytes"


def _feature(name: str, in_steps: bool, values: list[Any], examples: list[Any]) -> FeatureFacts:  # noqa: FBT001
    kinds: dict[str, list[Place]] = {}
    for place, steps in values:
        for kind in dict.fromkeys(_kind(value) for value in steps):
            kinds.setdefault(kind, []).append(place)
    have = {(place.path, place.record) for place, _ in values}
    missing = [Place(row[1], row[2]) for row in examples if (row[1], row[2]) not in have]
    common = max(kinds, key=lambda kind: len(kinds[kind]), default=None)
    lists = [step for _, steps in values for step in steps if _kind(step) == common]
    counts = [len(step) for _, steps in values for step in steps]
    numbers = strings = None
    flat: list[Any] = []
    if common in ("int64", "float"):
        array = np.concatenate(lists) if lists else np.zeros(0)
        flat = array.tolist()
        numbers = _numbers(array)
    elif common == "bytes":
        flat = [value for step in lists for value in step]
        strings = _strings(flat)
    frequent = collections.Counter(flat).most_common(20)
    return FeatureFacts(
        name,
        in_steps,
        len(values),
        len(missing),
        0,
        sum(all(len(step) == 0 for step in steps) for _, steps in values),
        {kind: len(places) for kind, places in kinds.items()},
        {kind: tuple(places[:5]) for kind, places in kinds.items()},
        tuple(missing[:5]),
        tuple(
            place for place, steps in values if any(_kind(step) == "float" and np.isnan(step).any() for step in steps)
        )[:5],
        _lengths(counts),
        _lengths([len(steps) for _, steps in values]) if in_steps else None,
        0,
        len(set(flat)),
        frequent=tuple(FrequentValue(value, count) for value, count in frequent if len(repr(value)) < 200),
        numbers=numbers,
        strings=strings,
    )


def _lengths(counts: list[int]) -> LengthFacts | None:
    return LengthFacts(min(counts), max(counts), sum(counts) / len(counts)) if counts else None


def _numbers(array: np.ndarray[Any, Any]) -> NumberFacts:
    finite = array[np.isfinite(array)]
    wide = finite.astype(np.float64)
    if not len(finite):
        return NumberFacts(len(array), None, None, None, None, nan=int(np.isnan(array).sum()))
    counts, edges = np.histogram(wide, bins=20)
    return NumberFacts(
        len(array),
        finite.min().item(),
        finite.max().item(),
        float(wide.mean()),
        float(wide.std()),
        int((finite == 0).sum()),
        int((finite < 0).sum()),
        int(np.isnan(array).sum()),
        int(np.isposinf(array).sum()),
        int(np.isneginf(array).sum()),
        bool((wide == np.floor(wide)).all()),
        dict(zip(_SHARES, np.quantile(wide, _SHARES, method="inverted_cdf").tolist(), strict=True)),
        histogram=Histogram(tuple(edges.tolist()), tuple(counts.tolist())),
    )


def _strings(values: list[bytes]) -> StringFacts | None:
    if not values:
        return None
    texts = []
    for value in values:
        with contextlib.suppress(UnicodeDecodeError):
            texts.append(value.decode())
    return StringFacts(
        len(values),
        sum(map(len, values)),
        _lengths([len(value) for value in values]) or LengthFacts(0, 0, 0.0),
        sum(not value for value in values),
        sum(text.isascii() for text in texts),
        len(texts),
        sum(text[:1].isspace() for text in texts),
        sum(text[-1:].isspace() for text in texts),
        sum(any(ord(letter) < 32 and not letter.isspace() for letter in text) for text in texts),
    )


def _labels(
    features: tuple[FeatureFacts, ...], rows: list[Any], schema: Schema | None, splits: list[str]
) -> tuple[LabelFacts, ...]:
    labels = []
    for feature in features:
        declared = None if schema is None else schema.get(feature.name)
        is_label = isinstance(declared, Label)
        named = feature.name.lower().rsplit("/", 1)[-1] in ("label", "labels", "class", "target", "y", "category")
        single = feature.lengths is not None and feature.lengths.min == feature.lengths.max == 1
        if not is_label and not (named and single and feature.kind in ("int64", "bytes") and feature.distinct < 1000):
            continue
        names = declared.names if isinstance(declared, Label) else ()
        counts: dict[str, dict[str, int]] = {}
        longest: dict[str, int] = {}
        outside = []
        for split in splits or [""]:
            own: collections.Counter[str] = collections.Counter()
            run = best = 0
            last = None
            for row in rows:
                if (row[3] or "") != split or row[4] is None or feature.name not in row[4][0]:
                    continue
                value = row[4][0][feature.name]
                if len(value) != 1:
                    continue
                one = value[0] if isinstance(value[0], bytes) else int(value[0])
                if is_label and isinstance(one, int) and not 0 <= one < len(names):
                    outside.append(Place(row[1], row[2], None, str(one)))
                text = one.decode(errors="replace") if isinstance(one, bytes) else str(one)
                if names and isinstance(one, int) and 0 <= one < len(names):
                    text = names[one]
                own[text] += 1
                run = run + 1 if text == last else 1
                best = max(best, run)
                last = text
            counts[split] = dict(own)
            longest[split] = best
        labels.append(LabelFacts(feature.name, is_label, names, counts, len(outside), tuple(outside[:5]), longest))
    return tuple(labels)


def _duplicates(rows: list[Any]) -> DuplicateFacts:
    places: dict[int, list[Any]] = {}
    for row in rows:
        places.setdefault(row[0], []).append(row)
    within: collections.Counter[str] = collections.Counter()
    across: collections.Counter[tuple[str, str]] = collections.Counter()
    groups = []
    for same in places.values():
        if len(same) < 2:
            continue
        by_split = collections.Counter(row[3] or "" for row in same)
        for split, count in by_split.items():
            if count > 1:
                within[split] += count - 1
        own = list(by_split)
        for i, first in enumerate(own):
            for second in own[i + 1 :]:
                across[first, second] += 1
        groups.append(DuplicateGroup(tuple(Place(row[1], row[2]) for row in same[:5]), len(same), tuple(own)))
    groups.sort(key=lambda group: -group.count)
    return DuplicateFacts(dict(within), dict(across), tuple(groups[:20]))
