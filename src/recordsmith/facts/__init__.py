"""Facts: what a look at the data tells, as frozen dataclasses that know neither terminals nor options."""

from recordsmith.facts.index_report import IndexedFile, export_indexes, index_files, keep_indexes
from recordsmith.facts.overview import (
    DatasetOverview,
    FeatureOverview,
    FileOverview,
    RowOverview,
    RowRange,
    look_at,
)
from recordsmith.facts.schema_source import FoundSchema, find_schema, is_schema_file

__all__ = [
    "DatasetOverview",
    "FeatureOverview",
    "FileOverview",
    "FoundSchema",
    "IndexedFile",
    "RowOverview",
    "RowRange",
    "export_indexes",
    "find_schema",
    "index_files",
    "is_schema_file",
    "keep_indexes",
    "look_at",
]
