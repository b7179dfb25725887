"""Rules on how records are written: memory, and closing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, walk
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["WRITER_RULES"]

_POOLS = {"multiprocessing.Pool", "multiprocessing.pool.Pool", "multiprocessing.pool.ThreadPool", "multiprocess.Pool"}
_WRITERS = {"tensorflow.io.TFRecordWriter", "recordsmith.RecordWriter", "recordsmith.write"}


@rule("P046", "collected-in-memory", Severity.WARNING)
def collected_in_memory(program: Program) -> Iterator[Finding]:
    """All results of a pool are collected in memory before the first is written.

    Why it matters:
        `pool.map` returns a list: nothing is written until every image has been decoded, and all of them are in
        memory at once. Ten thousand images of 224 × 224 as float64 are 12 GB.

    Example:
        `for image in pool.map(decode, paths): writer.write(...)`

    Fix:
        Use `pool.imap(decode, paths, chunksize=16)`, which gives results in order as they come; or `rs.make`.
    """
    for call in program.calls:
        if call.name != ".write" or not (isinstance(call.receiver, Call) and call.receiver.name in _WRITERS):
            continue
        for one in walk(call):
            if isinstance(one, Call) and one.name in (".map", ".starmap") and _is_pool(one):
                yield program.finding(
                    collected_in_memory,
                    one.expression,
                    f"`pool{one.name}` returns a list of all results: every one of them is in memory before the first "
                    "record is written.",
                )


def _is_pool(call: Call) -> bool:
    return isinstance(call.receiver, Call) and call.receiver.name in _POOLS


@rule("P047", "writer-not-closed", Severity.WARNING)
def writer_not_closed(program: Program) -> Iterator[Finding]:
    """A writer is never closed.

    Why it matters:
        Records are collected in a buffer and reach the disk when it is full, or when the writer is closed. Without
        that, the last records may be missing or cut off, which readers report much later.

    Example:
        `writer = tf.io.TFRecordWriter(path)`, some `writer.write(...)`, and the program ends.

    Fix:
        `with tf.io.TFRecordWriter(path) as writer:`, which closes it whatever happens.
    """
    closed = {id(one.receiver) for one in program.calls if one.name in (".close", ".__exit__")}
    written = {id(one.receiver) for one in program.calls if one.name in (".write", ".add", ".extend", ".write_example")}
    given = {id(value) for one in program.calls for value in (*one.args, *one.keywords.values())}
    seen: set[int] = set()
    closed_nodes = {id(one.receiver.node) for one in program.calls if one.name == ".close" and one.receiver is not None}
    for call in program.calls:
        node = call.expression if call.name in _WRITERS else None
        if node is None or id(node) in seen or id(node) in program.managed or id(node) in closed_nodes:
            continue
        if id(call) in closed or id(call) not in written or id(call) in given or _leaves(node):
            continue
        seen.add(id(node))
        yield program.finding(
            writer_not_closed,
            node,
            "This writer is never closed: the last records may never reach the file.",
        )


def _leaves(node: ast.Call) -> bool:
    """It is returned, entered later, or kept in an attribute or a collection: it may be closed elsewhere."""
    parent = getattr(node, "parent", None)
    if not isinstance(parent, ast.Assign) or not isinstance(parent.targets[0], ast.Name):
        return True
    name = parent.targets[0].id
    outer: ast.AST | None = parent
    while outer is not None and not isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module):
        outer = getattr(outer, "parent", None)
    if outer is None:
        return True
    for one in ast.walk(outer):
        if isinstance(one, ast.Return | ast.Yield | ast.withitem) and _mentions(one, name):
            return True
        if isinstance(one, ast.Attribute) and one.attr == "close" and _mentions(one.value, name):
            return True
    return False


def _mentions(node: ast.AST, name: str) -> bool:
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node))


WRITER_RULES = [collected_in_memory, writer_not_closed]
