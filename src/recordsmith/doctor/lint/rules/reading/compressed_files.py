"""The rule on compressed files."""

from __future__ import annotations

import os
from collections.abc import Iterator

from recordsmith.doctor.lint.edits import Edit
from recordsmith.doctor.lint.interpreter.values import Call, Literal, Parameter, Symbol, Value, walk
from recordsmith.doctor.lint.libraries.tensorflow.record_paths import paths_meet, read_paths
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["COMPRESSION_RULES"]

_SUFFIXES = {"gzip": {".gz", ".gzip", ".tgz"}, "zlib": {".zz", ".zlib", ".z", ".deflate"}}
_WORDS = {None: "no compression", "gzip": "gzip", "zlib": "zlib"}


@rule("P024", "compression-type", Severity.ERROR)
def compression_type(program: Program) -> Iterator[Finding]:
    """The code reads files with another compression than they have.

    The compression of the files is known from the data, from the code that writes them, or from names that end
    in .gz, .gzip, .zz or .zlib.

    Why it matters:
        TensorFlow does not look at the content. Gzip read as plain fails with "corrupted record at 0"; plain read as
        gzip fails too, with a message about the header.

    Example:
        `tf.data.TFRecordDataset("train.tfrecord.gz")` without `compression_type="GZIP"`.

    Fix:
        Give the compression that the files have: "GZIP", "ZLIB", or none.
    """
    for call in program.calls:
        if call.name != "tensorflow.data.TFRecordDataset":
            continue
        asked = _asked(call.argument(1, "compression_type"))
        actual, known_by = _actual(program, call)
        if asked == "?" or actual in ("?", asked):
            continue
        yield program.finding(
            compression_type,
            call.expression,
            f"The files are read with {_WORDS.get(asked, asked)}, but {known_by} {_WORDS.get(actual, actual)}: reading "
            "fails at the first record.",
            edits=_with_type(program, call, actual),
            certain=known_by == "the files have",
            evidence={"asked": asked, "actual": actual},
        )


def _asked(value: Value | None) -> str | None:
    if value is None:
        return None
    if not isinstance(value, Literal):
        return "?"
    return str(value.value).lower() if value.value else None


def _actual(program: Program, call: Call) -> tuple[str | None, str]:
    if program.data is not None and program.data.shards:
        kinds = {shard.compression for shard in program.data.shards}
        return (kinds.pop() if len(kinds) == 1 else "?"), "the files have"
    files = call.argument(0, "filenames")
    defaults = [one.default for one in walk(files) if isinstance(one, Parameter) and one.default is not None]
    named = [*walk(files), *defaults]
    names = [one.value for one in named if isinstance(one, Literal) and isinstance(one.value, str)]
    written = _written(program, list(read_paths(call)))
    if written is not None:
        return written[0], "they are written with"
    suffixes = {os.path.splitext(name)[1].lower() for name in names} - {""}
    for kind, endings in _SUFFIXES.items():
        if suffixes and suffixes <= endings:
            return kind, "their names say"
    return "?", ""


def _written(program: Program, read: list[Value]) -> tuple[str | None] | None:
    """What a writer of the same program gives files of the same name."""
    for call in program.calls:
        if call.name != "tensorflow.io.TFRecordWriter":
            continue
        path = call.argument(0, "path")
        if path is None or not paths_meet(read, [path]):
            continue
        options = call.argument(1, "options")
        if options is None:
            return (None,)
        kinds = [one for one in walk(options) if isinstance(one, Literal) and isinstance(one.value, str)]
        if kinds:
            return (str(kinds[0].value).lower() or None,)
        symbols = [one.path for one in walk(options) if isinstance(one, Symbol)]
        if any(path.endswith(("GZIP", "ZLIB")) for path in symbols):
            return ("gzip" if any(path.endswith("GZIP") for path in symbols) else "zlib",)
    return None


def _with_type(program: Program, call: Call, actual: str | None) -> list[Edit] | None:
    node = call.expression
    source = getattr(node, "source", program.source)
    text = f'"{actual.upper()}"' if actual else '""'
    given = next((one.value for one in node.keywords if one.arg == "compression_type"), None)
    given = given or (node.args[1] if len(node.args) > 1 else None)
    if given is not None:
        begin, end = source.span(given)
        return [Edit(begin, end, text)]
    if not node.args or getattr(node.func, "attr", "TFRecordDataset") != "TFRecordDataset":
        return None
    _, end = source.span(node.args[0])
    return [Edit(end, end, f", compression_type={text}")]


COMPRESSION_RULES = [compression_type]
