"""What `recordsmith copy` and `recordsmith export` print when they are done."""

from __future__ import annotations

import os
import shlex
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from recordsmith.copying.copied_dataset import CopiedDataset
from recordsmith.exporting.exported_dataset import ExportedDataset
from recordsmith.terminal.error_block import warning_block
from recordsmith.terminal.results.written_splits import some_names, splits_table, written_json
from recordsmith.terminal.values.short_values import printable
from recordsmith.wording.numbers import bytes_text, count_text

__all__ = ["copied_json", "copied_renderable", "exported_json", "exported_renderable"]


def copied_renderable(copied: CopiedDataset, *, path: str) -> RenderableType:
    """Lay out what came of copying a dataset.

    Args:
        copied: the copy.
        path: where it is, as the user named it.

    >>> from rich.console import Console
    >>> from recordsmith.run.publishing.written_dataset import MadeSplit
    >>> copied = CopiedDataset("/tmp/data", {"train": MadeSplit(7, 1234, 1)}, source_rows=10, duplicates=3)
    >>> Console(width=70).print(copied_renderable(copied, path="data"))
    data: 7 of 10 records, 1.23 KB, copied byte for byte
    ...
    """
    parts: list[RenderableType] = [_title(copied, path)]
    if set(copied.splits) != {""}:
        parts += [Text(), splits_table(copied, "records")]
    left = _left_behind(copied)
    if left:
        parts += [Text(), *left]
    if copied.warnings:
        parts += [Text(), *(warning_block(text) for text in copied.warnings)]
    step = Text().append("next: ", "bold").append(f"recordsmith show {shlex.quote(printable(path))}", "green")
    return Group(*parts, Text(), step)


def copied_json(copied: CopiedDataset) -> dict[str, Any]:
    """Turn what came of copying a dataset into JSON-ready values."""
    return {
        **written_json(copied),
        "path": copied.path,
        "verbatim": copied.verbatim,
        "left_behind": {
            "rejects": copied.rejects,
            "unmatched": copied.unmatched,
            "duplicates": copied.duplicates,
            "not_sampled": copied.not_sampled,
            "unassigned": copied.unassigned,
        },
    }


def exported_renderable(exported: ExportedDataset) -> RenderableType:
    """Lay out what came of an export.

    >>> from rich.console import Console
    >>> exported = ExportedDataset("csv", {"/tmp/data.csv": 7}, 1234, source_rows=10, unmatched=3)
    >>> Console(width=70).print(exported_renderable(exported))
    data.csv: 7 of 10 records, 1.23 KB of CSV
    left out: 3 records, which do not meet the condition
    <BLANKLINE>
    back again: recordsmith make /tmp/data.csv -o DATA
    """
    name = {"parquet": "Parquet", "csv": "CSV", "jsonl": "JSON lines", "webdataset": "WebDataset"}[exported.kind]
    names = ", ".join(os.path.basename(path) for path in exported.files)
    rows = count_text(exported.rows, "record")
    if exported.rows != exported.source_rows:
        rows = f"{exported.rows:,} of {count_text(exported.source_rows, 'record')}"
    title = Text().append(printable(names), "bold").append(f": {rows}, ")
    parts: list[RenderableType] = [title.append(bytes_text(exported.bytes), "bold").append(f" of {name}")]
    if exported.rejects:
        what = f"{count_text(exported.rejects, 'record')}, damaged, or not as the schema says"
        parts.append(Text().append("rejected: ", "bold yellow").append(what))
    parts += [Text(printable(f"  {reason}")) for reason in exported.reasons]
    if exported.unmatched:
        left = f"{count_text(exported.unmatched, 'record')}, which do not meet the condition"
        parts.append(Text().append("left out: ", "bold").append(left))
    if exported.left_out:
        parts.append(_features_left_out(exported.left_out))
    back = f"recordsmith make {shlex.quote(printable(next(iter(exported.files))))} -o DATA"
    return Group(*parts, Text(), Text().append("back again: ", "bold").append(back, "green"))


def exported_json(exported: ExportedDataset) -> dict[str, Any]:
    """Turn what came of an export into JSON-ready values."""
    return {
        "ok": exported.ok,
        "kind": exported.kind,
        "files": exported.files,
        "rows": exported.rows,
        "bytes": exported.bytes,
        "source": {"rows": exported.source_rows},
        "left_behind": {"rejects": exported.rejects, "unmatched": exported.unmatched},
        "reasons": list(exported.reasons),
        "left_out": list(exported.left_out),
    }


def _title(copied: CopiedDataset, path: str) -> Text:
    rows = count_text(copied.rows, "record")
    if copied.rows != copied.source_rows:
        rows = f"{copied.rows:,} of {count_text(copied.source_rows, 'record')}"
    title = Text().append(printable(path), "bold").append(f": {rows}, ").append(bytes_text(copied.bytes), "bold")
    return title.append(", copied byte for byte" if copied.verbatim else ", encoded again")


def _left_behind(copied: CopiedDataset) -> list[RenderableType]:
    lines: list[RenderableType] = []
    for count, name, what in (
        (copied.rejects, "rejected", "damaged, or not as the schema says"),
        (copied.unmatched, "left out", "which were not selected"),
        (copied.duplicates, "duplicates", "that repeat an earlier record"),
        (copied.not_sampled, "not sampled", "which the sample leaves out"),
        (copied.unassigned, "not asked for", "which belong to no split"),
    ):
        if count:
            style = "bold yellow" if name == "rejected" else "bold"
            lines.append(Text().append(f"{name}: ", style).append(f"{count_text(count, 'record')}, {what}"))
    for reason in copied.reasons:
        where = f" ({reason.feature})" if reason.feature else ""
        text = f"  {reason.count:,} x {reason.reason.removesuffix('.')}{where}, as in {reason.example}"
        lines.append(Text(printable(text)))
    if copied.left_out:
        lines.append(_features_left_out(copied.left_out))
    return lines


def _features_left_out(names: tuple[str, ...]) -> Text:
    return Text().append("features left out: ", "bold").append(some_names(names))
