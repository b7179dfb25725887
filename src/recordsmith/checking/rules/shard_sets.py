"""F009 to F012 and F016: the files of a dataset together, and their description."""

from __future__ import annotations

import contextlib
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from recordsmith.checking.descriptions import description_in, descriptions, read_description
from recordsmith.checking.wording import listed
from recordsmith.errors import RecordsmithError
from recordsmith.facts.dataset_facts import DatasetFacts
from recordsmith.records.shards import files_in, missing_shards, parse_shard_name
from recordsmith.rules import Finding, Location, Severity, rule
from recordsmith.storage.publication import files_in_force, public_path
from recordsmith.storage.ranged.opening import is_file
from recordsmith.wording.numbers import count_text

__all__ = ["doubled_shard", "manifest_disagrees", "missing_shard", "unlisted_file", "unreadable_description"]

_MOST_LISTED = 1000  # missing numbers that a finding names


@rule("F009", "missing-shard", Severity.ERROR)
def missing_shard(facts: DatasetFacts) -> Iterator[Finding]:
    """A file of the dataset is missing.

    A file is missing if there is no file with its number of `-of-N`, or if the description lists it. Files that
    exist next to the others but are not in the given paths are not reported. If a single file is given by its name, its
    siblings are not looked for.

    Why it matters:
        Globs read the existing files without a warning: the model trains on less than was made, often without whole
        classes or days.

    Example:
        `train-00003-of-00008` was not copied, or its download failed.

    Fix:
        Copy or make the missing files again. If they are lost, renumber the others: `recordsmith copy SRC
        -o DST`.
    """
    if len(facts.paths) == 1 and is_file(facts.paths[0]):
        return  # one shard was asked for by name
    gone: set[str] = set()
    for description in descriptions(facts):
        named = description.files(facts.split)
        absent = [file for file in named if not is_file(file)]
        gone.update(absent)
        if absent:
            names = [os.path.basename(file) for file in absent]
            yield missing_shard.finding(
                f"{count_text(len(absent), 'file')} of the {len(named)} listed in {description.name} "
                f"{'is' if len(absent) == 1 else 'are'} missing: {listed(names)}.",
                location=Location(description.path),
                count=len(absent),
                evidence={"missing": names},
            )
    sets = _numbered_sets(facts.files)
    beside = _numbered_sets(file for folder in {folder for folder, _, _ in sets} for file in _all_files(folder))
    reported = _numbered_sets(gone)
    for (folder, group, count), there in sets.items():
        existing = {*there, *beside.get((folder, group, count), ())}
        missing, first = missing_shards(count, existing, most=_MOST_LISTED)
        if not missing or (folder, group, count) in reported:
            continue
        numbers = ", ".join(map(str, first[:8])) + (", …" if missing > 8 else "")
        yield missing_shard.finding(
            f"{count_text(missing, 'shard')} of the {count} of {group!r} "
            f"{'is' if missing == 1 else 'are'} missing: number {numbers}.",
            location=Location(_sibling(next(iter(there.values())), first[0])),
            count=missing,
            evidence={"group": group, "of": count, "missing": first},
        )


@rule("F010", "doubled-shard", Severity.ERROR)
def doubled_shard(facts: DatasetFacts) -> Iterator[Finding]:
    """A shard exists twice: two files have the same number, or one name has two numberings `-of-N`.

    Why it matters:
        A glob reads both, so that records count twice in training, or evaluation runs partly on training data of
        another run.

    Example:
        A dataset written with 8 shards into a folder where it already had 10: `train-00000-of-00008` and
        `train-00000-of-00010`.

    Fix:
        Remove the outdated set. The times of the files show which one is older.
    """
    by_name: dict[tuple[str, str], dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for file in dict.fromkeys(facts.files):
        folder, name = os.path.split(file)
        parsed = parse_shard_name(name)
        if parsed.shard is not None and parsed.count is not None:
            by_name[folder, _without_suffixes(parsed.group)][parsed.count].append(file)
    for (folder, group), sets in by_name.items():
        if len(sets) > 1:
            numberings = ", ".join(f"{len(files)} of {count}" for count, files in sorted(sets.items()))
            yield doubled_shard.finding(
                f"The shards of {group!r} have two or more different numberings: {numberings}.",
                location=Location(os.path.join(folder, group)),
                evidence={"group": group, "files_by_count": {str(count): len(files) for count, files in sets.items()}},
            )
        for count, files in sets.items():
            yield from _same_number(group, count, files)


@rule("F011", "manifest-disagrees", Severity.ERROR)
def manifest_disagrees(facts: DatasetFacts) -> Iterator[Finding]:
    """A file does not match its manifest: records, bytes or digest differ.

    Why it matters:
        Readers that trust the manifest count wrongly, and the file is not what was made and checked.

    Example:
        One shard of another run was copied into the folder; a file was changed after it was made.

    Fix:
        Copy the file again from where it was made, or make the dataset again.
    """
    for shard in facts.shards:
        wrong = shard.differences()
        if not facts.looked_at_all:
            wrong.pop("records", None)
        if wrong:
            words = [
                f"it has {actual:,} {name}, but the description says {said:,}"
                if name != "sha256"
                else "its digest differs"
                for name, (said, actual) in wrong.items()
            ]
            yield manifest_disagrees.finding(
                f"The file does not match its description: {'; '.join(words)}.",
                location=Location(shard.path, shard.split),
                evidence={name: {"described": said, "found": actual} for name, (said, actual) in wrong.items()},
            )


@rule("F012", "unlisted-file", Severity.WARNING)
def unlisted_file(facts: DatasetFacts) -> Iterator[Finding]:
    """The folder contains a TFRecord file that its description does not list.

    Why it matters:
        Recordsmith and TFDS do not read it, a glob does: two people train on different data from the same folder.

    Example:
        Shards of an earlier run with another name or number of shards were left in the folder.

    Fix:
        Remove the file, or make the dataset again with it.
    """
    for description in descriptions(facts):
        named = {os.path.basename(file) for file in description.files()}
        others: list[str] = []
        with contextlib.suppress(OSError):
            there = files_in(os.path.dirname(description.path) or ".")
            others = [file for file in there if os.path.basename(file) not in named]
        if others:
            yield unlisted_file.finding(
                f"{count_text(len(others), 'TFRecord file')} in the folder {'is' if len(others) == 1 else 'are'} not "
                f"listed in {description.name}: {listed([os.path.basename(file) for file in others])}.",
                location=Location(others[0]),
                count=len(others),
                places=[Location(file) for file in others[1:6]],
            )


@rule("F016", "unreadable-description", Severity.ERROR)
def unreadable_description(facts: DatasetFacts) -> Iterator[Finding]:
    """The description next to the files (recordsmith.json, dataset_info.json) cannot be read.

    The files are then checked by their names, without a schema.

    Why it matters:
        `rs.open` and `tfds.builder_from_directory` refuse the folder, and nothing is known of class names and shapes.

    Example:
        A manifest that was merged by hand and is no longer valid JSON, or that was only partly copied.

    Fix:
        Restore the file, or make the dataset again. Until then, open the files with a glob.
    """
    for path in facts.paths:
        description = description_in(path)
        if description is None:
            continue
        try:
            read_description(description, facts)
        except (RecordsmithError, OSError, ValueError) as error:
            problem = error.problem if isinstance(error, RecordsmithError) else str(error)
            yield unreadable_description.finding(
                f"The description cannot be read: {problem.rstrip('.')}.", location=Location(description)
            )


def _numbered_sets(files: Iterable[str]) -> dict[tuple[str, str, int], dict[int, str]]:
    """The files of each set, which is known by its folder, name and count, by their numbers."""
    sets: dict[tuple[str, str, int], dict[int, str]] = defaultdict(dict)
    for file in files:
        folder, name = os.path.split(public_path(file))
        parsed = parse_shard_name(name)
        if parsed.shard is not None and parsed.count is not None:
            sets[folder, parsed.group, parsed.count][parsed.shard] = file
    return sets


def _sibling(file: str, shard: int) -> str:
    """The name that another shard of a file's set has."""
    folder, name = os.path.split(file)
    digits = re.sub(r"\d+(?=-of-)", lambda digits: f"{shard:0{len(digits[0])}}", name)
    return os.path.join(folder, digits)


def _all_files(folder: str) -> list[str]:
    """All files of a folder, whether they were asked for or not."""
    with contextlib.suppress(OSError):
        return [os.path.join(folder, name) for name in files_in_force(folder or ".")]
    return []


def _same_number(group: str, count: int, files: list[str]) -> Iterator[Finding]:
    by_shard: dict[int, list[str]] = defaultdict(list)
    for file in files:
        number = parse_shard_name(os.path.basename(file)).shard
        if number is not None:
            by_shard[number].append(file)
    doubled = {shard: names for shard, names in by_shard.items() if len(names) > 1}
    if doubled:
        names = next(iter(doubled.values()))
        yield doubled_shard.finding(
            f"{count_text(len(doubled), 'shard')} of the {count} of {group!r} "
            f"{'is' if len(doubled) == 1 else 'are'} present more than once: "
            f"{listed([os.path.basename(name) for name in names])}.",
            location=Location(names[-1]),
            count=len(doubled),
            evidence={"group": group, "of": count, "doubled": sorted(doubled)},
        )


def _without_suffixes(group: str) -> str:
    """A set's name without the suffixes of compression: `a.gz` and `a` would be two copies of one set."""
    for suffix in (".gz", ".gzip", ".zlib", ".z"):
        group = group.removesuffix(suffix)
    return group
