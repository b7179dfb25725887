"""What `rs.export` returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice

from recordsmith.display.tables import note, table
from recordsmith.wording.markup import element
from recordsmith.wording.numbers import bytes_text, count_text
from recordsmith.wording.visible_text import clipped

__all__ = ["ExportedDataset"]


@dataclass(frozen=True)
class ExportedDataset:
    """The result of `rs.export`.

    Attributes:
        kind: "parquet", "csv", "jsonl" or "webdataset".
        files: the number of rows of each file.
        bytes: the size of all files.
        source_rows: the number of records in the input, damaged ones included.
        rejects: damaged records, and those that do not fit the schema.
        reasons: why the first of them were rejected.
        unmatched: records that do not meet the condition.
        left_out: features that are not exported.

    >>> ExportedDataset("csv", {"data.csv": 10}, 1234, source_rows=10).rows
    10
    """

    kind: str
    files: dict[str, int]
    bytes: int
    source_rows: int = 0
    rejects: int = 0
    reasons: tuple[str, ...] = ()
    unmatched: int = 0
    left_out: tuple[str, ...] = field(default=())

    @property
    def ok(self) -> bool:
        """Whether every record that was asked for was exported."""
        return self.rejects == 0

    @property
    def rows(self) -> int:
        """How many records were exported."""
        return sum(self.files.values())

    def _repr_html_(self) -> str:
        return element(
            "div",
            table(["file", "records"], [[path, f"{rows:,}"] for path, rows in islice(self.files.items(), 100)]),
            note(f"{bytes_text(self.bytes)}, {count_text(self.rejects, 'record')} rejected"),
            [note(clipped(reason, 600)) for reason in self.reasons],
        )
