"""Rules on how records are written: memory, and closing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, walk
from recordsmith.doctor.lint.libraries.control_flow import enclosing, function_of
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["WRITER_RULES"]

_POOLS = {"multiprocessing.Pool", "multiprocessing.pool.Pool", "multiprocessing.pool.ThreadPool", "multiprocess.Pool"}
_WRITES = (".write", ".add", ".extend", ".write_example")
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
    written = {id(writer) for one in program.calls if one.name in _WRITES for writer in walk(one.receiver, 20)}
    given = {id(value) for one in program.calls for value in (*one.args, *one.keywords.values())}
    seen: set[int] = set()
    closed = {
        id(one.receiver.node)
        for one in program.calls
        if one.name in (".close", ".__exit__") and one.receiver is not None and not _behind_its_loop(one)
    }
    for call in program.calls:
        node = call.expression if call.name in _WRITERS else None
        if node is None or id(node) in seen or id(node) in program.managed or id(node) in closed:
            continue
        is_written = id(call) in written or _written_by_key(program, node)
        if not is_written or id(call) in given or _leaves(program, node):
            continue
        seen.add(id(node))
        yield program.finding(
            writer_not_closed,
            node,
            "This writer is never closed: the last records may never reach the file.",
        )


def _written_by_key(program: Program, node: ast.Call) -> bool:
    """`writers[key] = TFRecordWriter(...)`, beside `writers[key].write(...)`."""
    match getattr(node, "parent", None):
        case ast.Assign(targets=[ast.Subscript(value=kept)]):
            kept_in = ast.unparse(kept)
        case _:
            return False
    for call in program.calls:
        match call.node:
            case ast.Call(func=ast.Attribute(value=ast.Subscript(value=base))) if call.name in _WRITES:
                if ast.unparse(base) == kept_in:
                    return True
    return False


def _leaves(program: Program, node: ast.Call) -> bool:
    """It may be closed elsewhere: it is returned or entered later, or something of its name is closed."""
    parent = getattr(node, "parent", None)
    target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    if isinstance(parent, ast.Tuple) and isinstance(getattr(parent, "parent", None), ast.Assign):
        parent = parent.parent  # type: ignore[attr-defined]
        names = parent.targets[0].elts if isinstance(parent.targets[0], ast.Tuple) else []
        target = names[parent.value.elts.index(node)] if len(names) == len(parent.value.elts) else None
    if isinstance(target, ast.Attribute):
        return any(_closes(one, target.attr) for one in _nodes(program)) or program.mentions(r"\.__exit__|ExitStack")
    if isinstance(parent, ast.ListComp | ast.DictComp) or isinstance(target, ast.Subscript):
        return program.mentions(r"\.(close|__exit__)\b|ExitStack|enter_context|\bclosing\b")
    if not isinstance(target, ast.Name):
        return True
    outer: ast.AST | None = parent
    while outer is not None and not isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module):
        outer = getattr(outer, "parent", None)
    if outer is None:
        return True
    for one in ast.walk(outer):
        if isinstance(one, ast.Return | ast.Yield | ast.withitem) and _mentions(one, target.id):
            return True
        if isinstance(one, ast.Attribute) and one.attr == "close" and _mentions(one.value, target.id):
            return not _only_the_last(node, one)
    return False


def _behind_its_loop(closing: Call) -> bool:
    made = closing.receiver.node if closing.receiver is not None else None
    return isinstance(made, ast.Call) and closing.node is not None and _only_the_last(made, closing.node)


def _nodes(program: Program) -> Iterator[ast.AST]:
    for source in (program.source, *program.modules):
        yield from source.nodes


def _closes(node: ast.AST, name: str) -> bool:
    """`x.name.close`, `with x.name`, or the attribute is handed to something else."""
    match node:
        case ast.Attribute(value=ast.Attribute(attr=kept), attr="close" | "__exit__"):
            return kept == name
        case ast.withitem(context_expr=ast.Attribute(attr=kept)) | ast.Return(value=ast.Attribute(attr=kept)):
            return kept == name
        case ast.Call(args=args, keywords=keywords):
            given = [*args, *(one.value for one in keywords)]
            return any(isinstance(one, ast.Attribute) and one.attr == name for one in given)
        case ast.Assign(value=ast.Attribute(attr=kept)):
            return kept == name
    return False


def _only_the_last(made: ast.Call, closed: ast.AST) -> bool:
    """It is made anew in each turn of a loop, and closed only behind the loop."""
    loops = [one for one, _ in enclosing(made) if isinstance(one, ast.For | ast.While)]
    around = {id(one) for one, _ in enclosing(closed)}
    return bool(loops) and function_of(made) is function_of(closed) and id(loops[0]) not in around


def _mentions(node: ast.AST, name: str) -> bool:
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node))


WRITER_RULES = [collected_in_memory, writer_not_closed]
