"""TFRecords as a dataset of Ray Data, decoded by the native core and divided by record numbers, not by files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import ray.data
from ray.data.block import BlockMetadata
from ray.data.datasource import Datasource, ReadTask

from recordsmith.dataset import StoredDataset
from recordsmith.query.where import Where, compile_where
from recordsmith.ray.blocks import block_of
from recordsmith.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["RecordsmithDatasource", "read"]

PathLike = str | os.PathLike[str]

_BLOCK_BYTES = 16 << 20
_MOST_ROWS = 1 << 16


def read(
    path: PathLike | Iterable[PathLike],
    *,
    columns: Sequence[str] | None = None,
    where: str | None = None,
    split: str | None = None,
    schema: Schema | None = None,
    verify: bool = True,
    **options: Any,
) -> ray.data.Dataset:
    """Return TFRecords as a dataset of Ray Data.

    The number of rows and the schema are known without reading records. Work is divided by record numbers, so a single
    large file is read by all workers. Tensors have their shape, rows of different length are lists or ragged tensors,
    and labels are numbers. A damaged record is an error that names the file and the record.

    Args:
        path: a file, folder, glob or URL, or a list of these, which all machines see.
        columns: the features to read; None means all.
        where: read only the rows that meet a condition, such as "label == 'cat' and len(tokens) > 10".
        split: only the files of this split.
        schema: the features of a record; None uses the one next to the files, or infers it from the first records.
        verify: check the checksum of every record.
        options: passed to `ray.data.read_datasource`, such as `override_num_blocks`.
    """
    dataset = StoredDataset.open(path, split=split, schema=schema, verify=verify)
    return ray.data.read_datasource(RecordsmithDatasource(dataset, columns=columns, where=where), **options)


class RecordsmithDatasource(Datasource):  # type: ignore[misc] # Ray is not checked
    """The records of some TFRecord files, for `ray.data.read_datasource`.

    Args:
        dataset: the records.
        columns: the features to read; None means all.
        where: a condition that rows must meet.
    """

    def __init__(
        self, dataset: StoredDataset, *, columns: Sequence[str] | None = None, where: str | None = None
    ) -> None:
        super().__init__()
        self._where = None if where is None else compile_where(where, dataset.schema)
        self._all = dataset
        self._chosen = dataset if columns is None else dataset.select(*columns)
        self._rows = len(dataset)
        self._indexes = dataset.places().indexes
        self._bytes = sum(os.path.getsize(file) if os.path.exists(file) else 0 for file in dataset.files)

    def get_name(self) -> str:
        """Return how Ray shows it."""
        return "Recordsmith"

    def estimate_inmemory_data_size(self) -> int | None:
        """Return about how large all rows are."""
        return self._bytes

    def get_read_tasks(
        self,
        parallelism: int,
        per_task_row_limit: int | None = None,
        data_context: Any = None,  # noqa: ARG002 - Ray passes it by name
    ) -> list[ReadTask]:
        """Divide the records among tasks."""
        fields = block_of(self._chosen.schema, next(iter(_no_rows(self._chosen)))).schema if self._rows else None
        tasks = []
        for first, last in self._ranges(parallelism):
            size = self._bytes * (last - first) // max(1, self._rows)
            files = self._files_of(first, last)
            rows = last - first if self._where is None else None
            work = partial(_read, self._all, self._chosen, self._where, first, last, self._rows_at_once())
            metadata = BlockMetadata(num_rows=rows, size_bytes=size, input_files=files, exec_stats=None)
            tasks.append(ReadTask(work, metadata, schema=fields, per_task_row_limit=per_task_row_limit))
        return tasks

    def _ranges(self, parallelism: int) -> list[tuple[int, int]]:
        """Cut the records into ranges of equal size; compressed files only where they begin."""
        table = self._all.places()
        if table.is_plain:
            count = max(1, min(parallelism, self._rows))
            ends = [self._rows * number // count for number in range(count + 1)]
        else:
            ends = table.starts.tolist()
        return [(first, last) for first, last in pairwise(ends) if last > first]

    def _files_of(self, first: int, last: int) -> list[str]:
        files, _ = self._all.places().at(np.array([first, last - 1], np.int64))
        return list(self._all.files[int(files[0]) : int(files[1]) + 1])

    def _rows_at_once(self) -> int:
        return max(1, min(_MOST_ROWS, _BLOCK_BYTES * max(1, self._rows) // max(1, self._bytes)))


def _no_rows(dataset: StoredDataset) -> Iterator[dict[str, Any]]:
    """Give the columns of the first row, to know their types."""
    yield dataset[[0]]


def _read(
    whole: StoredDataset, chosen: StoredDataset, where: Where | None, first: int, last: int, at_once: int
) -> Iterator[pa.Table]:
    """Read a range of records, in blocks."""
    tested = None if where is None or not where.names else whole.select(*where.names)
    for start in range(first, last, at_once):
        numbers = np.arange(start, min(start + at_once, last), dtype=np.int64)
        if where is not None:
            batch = (tested or whole)[numbers]
            numbers = numbers[where.mask(batch, len(numbers))]
        if len(numbers):
            yield block_of(chosen.schema, chosen[numbers])
