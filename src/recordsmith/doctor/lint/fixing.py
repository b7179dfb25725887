"""Writing the changes that are certain back into the files."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from recordsmith.doctor.lint.edits import Edit, apply_edits
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.source_files import SourceFile, is_python, read_source
from recordsmith.rules import Finding
from recordsmith.storage.atomic_file import rewrite_text

__all__ = ["Fixed", "fix_sources"]


@dataclass(frozen=True, slots=True)
class Fixed:
    """A finding that was mended in its file."""

    path: str
    findings: tuple[Finding, ...]


def fix_sources(programs: Iterable[Program], findings: Iterable[Finding]) -> list[Fixed]:
    """Make the edits of those findings that are certain, file by file; a file that would no longer parse is left."""
    wanted: dict[str, tuple[SourceFile, list[tuple[Finding, tuple[Edit, ...]]]]] = {}
    kept = {id(finding): finding for finding in findings}
    for program in programs:
        for identity, (source, edits) in program.fixes.items():
            if identity in kept:
                wanted.setdefault(source.path, (source, []))[1].append((kept[identity], edits))
    return [fixed for source, mended in wanted.values() if (fixed := _fix(source, mended)) is not None]


def _fix(source: SourceFile, mended: list[tuple[Finding, tuple[Edit, ...]]]) -> Fixed | None:
    chosen: list[Edit] = []
    made: list[Finding] = []
    for finding, edits in mended:
        if not any(edit.begin < other.end and other.begin < edit.end for edit in edits for other in chosen):
            chosen += edits
            made.append(finding)
    text = apply_edits(source.text, chosen)
    if not is_python(text) or read_source(source.path).text != source.text:
        return None
    written = _write_notebook(source, text) if source.cells else _write_plain(source, text)
    return Fixed(source.path, tuple(made)) if written else None


def _write_plain(source: SourceFile, text: str) -> bool:
    with open(source.path, "rb") as file:
        original = file.read().decode(errors="replace")
    windows = "\r\n" in original and original.replace("\r\n", "\n") == source.text
    if original != source.text and not windows:  # another encoding, or magic lines: not the same text
        return False
    rewrite_text(source.path, text.replace("\n", "\r\n") if windows else text)
    return True


def _write_notebook(source: SourceFile, text: str) -> bool:
    """Put the changed lines into their cells, and leave everything else as it stands."""
    before, after = source.text.splitlines(), text.splitlines()
    if len(before) != len(after):
        return False
    with open(source.path, encoding="utf-8") as file:
        raw = file.read()
    document = json.loads(raw)
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        if old != new:
            cell, line = source.cells[number]
            holder = document["cells"][cell - 1]
            parts = holder["source"]
            lines = (
                "".join(parts).splitlines(keepends=True) if isinstance(parts, list) else parts.splitlines(keepends=True)
            )
            if lines[line - 1].rstrip("\r\n") == old:
                lines[line - 1] = lines[line - 1].replace(old, new)
            holder["source"] = lines if isinstance(parts, list) else "".join(lines)
    indent = 1 if "\n " in raw and not raw.startswith('{\n  "') else 2
    rewrite_text(source.path, json.dumps(document, indent=indent, ensure_ascii=False) + "\n")
    return True
