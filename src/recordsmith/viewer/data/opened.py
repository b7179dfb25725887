"""A dataset as the viewer has it open: its files, its features, and its records by number, in bounded memory.

Nothing is read through before the first page. A census of the first records says which features there are; the files
are indexed in the background, one after the other. Until the first one is, its first records are shown. Where a file
is damaged, the records that can be read before and after the damage are shown.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice

import numpy as np
import numpy.typing as npt

from recordsmith import _core
from recordsmith.dataset.compressed import CompressedShards
from recordsmith.dataset.inference import Census, sample_census
from recordsmith.dataset.layout import DatasetLayout, find_layout
from recordsmith.dataset.payload_reading import FileOverview, StoredPayload, refuse_pipe, survey_files
from recordsmith.dataset.row_decoding import decode_row
from recordsmith.dataset.stored import StoredDataset
from recordsmith.errors import RecordsmithError, reason_of
from recordsmith.query.overview import FeatureOverview, known_features
from recordsmith.records.reader import RecordReader
from recordsmith.schema import Feature, Label, Labels, Schema, Steps
from recordsmith.storage.ranged.opening import file_size, is_ranged
from recordsmith.text import Vocabulary
from recordsmith.viewer.data.class_colours import ClassColours
from recordsmith.viewer.data.damage import Break, RecoveredFile
from recordsmith.viewer.data.shown_record import ShownRecord
from recordsmith.workers.background import start_in_background

__all__ = ["LARGEST_RECORD", "OpenedDataset"]

LARGEST_RECORD = 64 << 20  # bytes of a record that is read to be shown
_FIRST_RECORDS = 64  # that are shown of a file until it is indexed
_PATIENCE = 0.3  # seconds that the first page waits for the first index
_CENSUS_FILES = 16  # that are tried, where some are damaged
_OPEN_FILES = 64
_COMPRESSED_BYTES = 128 << 20  # of decompressed records that are kept
_DAMAGED_BYTES = 64 << 20  # of a damaged file's records that are kept
_KEPT_ROWS = 512
_KEPT_ROW_BYTES = 64 << 20

PathLike = str | os.PathLike[str]


class OpenedDataset:
    """The files of a dataset, opened for looking around.

    Args:
        paths: a file, folder, glob or list of them.
        split: only the files of this split.
        schema: what the records hold; None: the schema next to the files, or what the records show.
    """

    def __init__(
        self, paths: PathLike | Sequence[PathLike], *, split: str | None = None, schema: Schema | None = None
    ) -> None:
        asked = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
        self.paths = tuple(os.fsdecode(path) for path in asked)
        self.split = split
        self.layout = find_layout(paths if len(asked) > 1 else asked[0]).select(split)
        for file in self.layout.files:
            refuse_pipe(file)
        self.declared = schema if schema is not None else self.layout.schema
        self.name = _named(self.paths) + (f" ({split})" if split else "")
        self.problems: list[RecordsmithError] = []
        self.indexed = False
        self._indexed_files: list[FileOverview] = []
        self._lock = threading.Lock()
        self._stopped = False
        self._datasets: OrderedDict[str, StoredDataset] = OrderedDict()
        self._compressed = CompressedShards(verify=True, budget=_COMPRESSED_BYTES)
        self._damaged: tuple[str, list[bytes]] = ("", [])
        self._recovered: dict[str, RecoveredFile] = {}
        self.colours = ClassColours(self.class_names, self._usual_classes)
        self._vocabularies: dict[str, Sequence[str]] = {}
        self._rows: OrderedDict[int, tuple[ShownRecord, int]] = OrderedDict()
        self._row_bytes = 0
        self._first_indexed = threading.Event()
        self._waited = False
        self._indexing = start_in_background(self._index, name="recordsmith-view-index", stop=self.close)

    def close(self) -> None:
        """Stop the work in the background."""
        self._stopped = True
        for one in self._recovered.values():
            one.close()

    # --- what it is ---

    @property
    def files(self) -> Sequence[FileOverview]:
        """The files that are known so far; of a first one that is not indexed yet, the first records."""
        if not self._indexed_files and not self._first_indexed.wait(0 if self._waited else _PATIENCE):
            self._waited = True
            return [self._first_records]
        return self._indexed_files

    @property
    def records(self) -> int:
        """How many records are known so far."""
        return sum(file.records for file in self.files)

    def recovered(self, path: str) -> RecoveredFile | None:
        """Return what can be read of a damaged file, if that is known."""
        return self._recovered.get(path)

    @property
    def breaks(self) -> list[Break]:
        """Where files are broken, as far as that is known."""
        return [one for file in list(self._recovered.values()) for one in file.breaks]

    @cached_property
    def census(self) -> Census:
        """What the first records contain."""
        alone = [[file] for file in self.layout.files[:_CENSUS_FILES]]
        for files, verify in [
            (list(self.layout.files), True),
            *((one, check) for check in (True, False) for one in alone),
        ]:
            try:
                census = sample_census(files, verify=verify)
            except (RecordsmithError, OSError):
                continue  # damaged: the indexing says so
            if census.records:
                return census
        return Census(0, False, {}, ())

    @cached_property
    def features(self) -> list[FeatureOverview]:
        """The features, in the order of the schema or of their first appearance."""
        return known_features(self.census, self.declared)

    @cached_property
    def types(self) -> dict[str, Feature | None]:
        """The types of the features by name; None where records disagree."""
        return {feature.name: feature.feature for feature in self.features}

    def class_names(self, name: str) -> tuple[str, ...]:
        """The names of the classes of a feature; empty if it is not a label."""
        feature = self.types.get(name)
        feature = feature.feature if isinstance(feature, Steps) else feature
        return feature.names if isinstance(feature, (Label, Labels)) else ()

    def _usual_classes(self) -> Sequence[str]:
        return next((names for name in self.types if (names := self.class_names(name))), ())

    def value_names(self, name: str) -> Sequence[str]:
        """What the numbers of a feature stand for: the names of its classes, or the words of its vocabulary."""
        names: Sequence[str] = self.class_names(name)
        if names:
            return names
        if name not in self._vocabularies:
            self._vocabularies[name] = self._vocabulary(name)
        return self._vocabularies[name]

    def _vocabulary(self, name: str) -> Sequence[str]:
        """Read the vocabulary that `make` wrote next to the data, if there is one."""
        path = os.path.join(os.path.dirname(self.layout.files[0]), f"vocabulary.{name.replace('/', '.')}.json")
        if is_ranged(path) or os.sep in os.path.basename(path) or not os.path.isfile(path):
            return ()
        try:
            return Vocabulary.load(path).words
        except (RecordsmithError, OSError):
            return ()

    # --- records ---

    def read(self, numbers: Iterable[int]) -> list[ShownRecord]:
        """Return the records with these numbers, each with what can be read of it."""
        wanted = list(numbers)
        with self._lock:
            found = {number: self._rows[number][0] for number in wanted if number in self._rows}
        missing = [number for number in wanted if number not in found]
        for number, payload in self._payloads(missing).items():
            found[number] = self._decoded(number, payload)
            self._keep(found[number])
        return [found[number] for number in wanted if number in found]

    def locate(self, number: int) -> tuple[FileOverview, int] | None:
        """Return the file of a record, and its number there."""
        for file in self.files:
            if number < file.records:
                return (file, number) if number >= 0 else None
            number -= file.records
        return None

    def number_of(self, path: str, number_in_file: int, offset: int | None = None) -> int | None:
        """Return the number in the dataset of a record of a file; in a damaged one, of the record at an offset."""
        start = 0
        for file in self.files:
            if file.path == path:
                if path in self._recovered and offset is not None:
                    found = self._recovered[path].number_at(offset)
                    return None if found is None else start + found
                return start + number_in_file if number_in_file < file.records else None
            start += file.records
        return None

    def place(self, number: int) -> tuple[int, int] | None:
        """Return the offset and the size of a record in its (decompressed) file, if that is known from an index."""
        found = self.locate(number)
        if found is not None and found[0].path in self._recovered:
            return self._recovered[found[0].path].place(found[1])
        if found is None or found[0].damaged:
            return None
        file, within = found
        try:
            begin, end = map(int, self._dataset(file.path).places().indexes[0].offsets[within : within + 2])
        except (RecordsmithError, OSError, ValueError):  # it has changed meanwhile
            return None
        return begin, end - begin

    def _payloads(self, numbers: Sequence[int]) -> dict[int, StoredPayload | str]:
        files = self.files
        starts = np.cumsum([0, *(file.records for file in files)])
        by_file: dict[int, list[int]] = {}
        for number in numbers:
            if 0 <= number < starts[-1]:
                by_file.setdefault(int(np.searchsorted(starts, number, side="right")) - 1, []).append(number)
        found: dict[int, StoredPayload | str] = {}
        for position, wanted in by_file.items():
            file, start = files[position], int(starts[position])
            within = [number - start for number in wanted]
            read = self._from_damaged(file, within) if file.damaged else self._from_sound(file, within)
            for number, payload in read.items():
                stored = (
                    payload if isinstance(payload, str) else StoredPayload(start + number, file.path, number, payload)
                )
                found[start + number] = stored
        return found

    def _from_sound(self, file: FileOverview, numbers: list[int]) -> dict[int, bytes | str]:
        found: dict[int, bytes | str] = {}
        try:
            dataset = self._dataset(file.path)
            index = dataset.places().indexes[0]
            for number in numbers:
                begin, end = map(int, index.offsets[number : number + 2])
                if end - begin > LARGEST_RECORD:
                    found[number] = (
                        f"The record has {end - begin:,} bytes: records above {LARGEST_RECORD:,} are not shown."
                    )
            fitting = [number for number in numbers if number not in found]
            try:
                return {**found, **dict(zip(fitting, dataset.raw(fitting), strict=True))}
            except (RecordsmithError, IndexError) as error:
                if file.compression:  # which can only be read from its start, up to the damage
                    before = self._from_damaged(file, fitting)
                    return found | {n: one if isinstance(one, bytes) else reason_of(error) for n, one in before.items()}
                for number in fitting:
                    found[number] = self._single(dataset, number)
        except (RecordsmithError, OSError, IndexError, ValueError) as error:
            found |= {number: reason_of(error) for number in numbers if number not in found}
        return found

    def _single(self, dataset: StoredDataset, number: int) -> bytes | str:
        try:
            return dataset.raw(number)
        except (RecordsmithError, OSError, IndexError) as error:
            return reason_of(error)

    def _dataset(self, path: str) -> StoredDataset:
        with self._lock:
            dataset = self._datasets.get(path)
            if dataset is None:
                dataset = StoredDataset(DatasetLayout((path,))).reading_with(self._compressed)
                self._datasets[path] = dataset
                if len(self._datasets) > _OPEN_FILES:
                    self._datasets.popitem(last=False)
            self._datasets.move_to_end(path)
            return dataset

    def _from_damaged(self, file: FileOverview, numbers: list[int]) -> dict[int, bytes | str]:
        recovered = self._recovered.get(file.path)
        if recovered is not None:
            return {number: self._recovered_payload(recovered, number) for number in numbers}
        path, kept = self._damaged
        if path != file.path:
            kept = self._read_up_to(file, file.records, _DAMAGED_BYTES)
            self._damaged = (file.path, kept)
        if max(numbers) < len(kept):
            return {number: kept[number] for number in numbers}
        payloads = dict(enumerate(self._read_up_to(file, max(numbers) + 1, None, set(numbers))))
        return {number: payloads.get(number, "It cannot be read.") for number in numbers}

    def _recovered_payload(self, file: RecoveredFile, number: int) -> bytes | str:
        _, size = file.place(number)
        if size > LARGEST_RECORD:
            return f"The record has {size:,} bytes: records above {LARGEST_RECORD:,} are not shown."
        try:
            return file.payload(number)
        except (RecordsmithError, OSError) as error:
            return reason_of(error)

    def payloads_of_damaged(self, file: FileOverview) -> Iterable[bytes]:
        """Read the records of a damaged file one after the other."""
        recovered = self._recovered.get(file.path)
        return recovered.payloads() if recovered is not None else self._read_up_to(file, file.records, _DAMAGED_BYTES)

    def _read_up_to(
        self, file: FileOverview, records: int, limit: int | None, wanted: set[int] | None = None
    ) -> list[bytes]:
        payloads: list[bytes] = []
        size = 0
        try:
            with RecordReader(file.path) as reader:
                for number, payload in enumerate(islice(reader, records)):
                    size += len(payload)
                    if limit is not None and size > limit:
                        break
                    payloads.append(payload if wanted is None or number in wanted else b"")
        except (RecordsmithError, OSError):
            pass  # the damage, about which the indexing has said everything
        return payloads

    def _decoded(self, number: int, payload: StoredPayload | str) -> ShownRecord:
        if isinstance(payload, str):
            return ShownRecord(number, None, payload)
        problems: list[RecordsmithError] = []
        row = decode_row(payload, self.features, self._stored_schema, problems)
        return ShownRecord(number, row, None, problems)

    @cached_property
    def _stored_schema(self) -> Schema | None:
        names = [feature.name for feature in self.features if feature.declared]
        return self.declared.select(names) if self.declared is not None and names else None

    def _keep(self, record: ShownRecord) -> None:
        size = 0 if record.row is None else len(record.row.payload)
        with self._lock:
            if size > _KEPT_ROW_BYTES // 4 or record.number in self._rows:
                return
            self._rows[record.number] = (record, size)
            self._row_bytes += size
            while len(self._rows) > _KEPT_ROWS or self._row_bytes > _KEPT_ROW_BYTES:
                _, (_, freed) = self._rows.popitem(last=False)
                self._row_bytes -= freed

    # --- indexing ---

    @cached_property
    def _first_records(self) -> FileOverview:
        path = self.layout.files[0]
        found = _core.detect_compression(path)
        first = FileOverview(path, file_size(path), None if found == "none" else found, _FIRST_RECORDS, damaged=True)
        return FileOverview(
            path, first.bytes, first.compression, len(self._read_up_to(first, _FIRST_RECORDS, 16 << 20)), damaged=True
        )

    def _index(self) -> None:
        _ = self.features  # which the first page needs
        for path in self.layout.files:
            if self._stopped:
                return
            alone = DatasetLayout((path,))
            try:
                files = survey_files(alone, self.problems, lambda _: None)
            except Exception as error:  # noqa: BLE001 - the other files can be shown, whatever is wrong with this one
                self.problems.append(RecordsmithError(reason_of(error), path=path))
                files = [FileOverview(path, 0, None, 0, damaged=True)]
            if files[0].damaged and (recovered := RecoveredFile.of(path)) is not None:
                files = [replace(files[0], records=recovered.records)]
                self._recovered[path] = recovered
                if self._stopped:
                    recovered.close()
            with self._lock:
                if not self._indexed_files:  # what was shown until now had the same numbers, read in another way
                    self._rows.clear()
                    self._row_bytes = 0
                self._indexed_files = [*self._indexed_files, *files]
            self._first_indexed.set()
        self.indexed = True

    def positions(self) -> npt.NDArray[np.int64]:
        """Return the number of the first record of each file, and that after the last."""
        return np.cumsum([0, *(file.records for file in self.files)]).astype(np.int64)


def _named(paths: Sequence[str]) -> str:
    """Name what was opened in a few words.

    >>> _named(["data/a", "data/b", "data/c"]), _named(["a", "b"])
    ('data (3 files)', 'a, b')
    """
    folders = {os.path.dirname(path) for path in paths}
    if len(paths) > 2 and len(folders) == 1:
        return f"{folders.pop()} ({len(paths)} files)"
    return ", ".join(paths) if len(paths) <= 2 else f"{paths[0]} and {len(paths) - 1} more"
