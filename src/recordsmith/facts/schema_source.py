"""The schema of a dataset, and where it comes from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from recordsmith.dataset.inference import schema_from_census, take_census
from recordsmith.dataset.layout import find_layout
from recordsmith.schema import Schema

__all__ = ["FoundSchema", "find_schema"]


@dataclass(frozen=True, slots=True)
class FoundSchema:
    """A schema and its source.

    Attributes:
        schema: what is in a record.
        described_by: the file that declares it; None where it was inferred.
        looked_at: from how many records it was inferred.
        looked_at_all: these were all records.
        files: the files that it is about.

    >>> FoundSchema(Schema({}), None, 0, True, ()).looked_at
    0
    """

    schema: Schema
    described_by: str | None
    looked_at: int
    looked_at_all: bool
    files: tuple[str, ...]


def find_schema(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    split: str | None = None,
    records: int | None = None,
    infer: bool = False,
) -> FoundSchema:
    """Return the schema that is declared beside the files, or one inferred from their records.

    Args:
        paths: a file, folder, glob, or list of them.
        split: only the files of this split.
        records: look at no more than so many records of each file; None: at all.
        infer: do not take the declared schema even if there is one.

    >>> import recordsmith as rs, tempfile
    >>> path = tempfile.mkdtemp() + "/data.tfrecord"
    >>> with rs.RecordWriter(path) as writer:
    ...     writer.write_example({"label": 3})
    >>> find_schema(path).schema
    Schema({
        'label': Scalar('int64'),
    })
    """
    layout = find_layout(paths).select(split)
    if layout.schema is not None and not infer:
        return FoundSchema(layout.schema, layout.described_by, 0, False, layout.files)
    census = take_census(layout.files) if records is None else take_census(layout.files, records_per_file=records)
    return FoundSchema(schema_from_census(census, layout.files), None, census.records, census.complete, layout.files)
