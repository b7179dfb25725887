"""Rules on functions of the program that give something else than what they are asked for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["OWN_FUNCTION_RULES"]


@rule("P277", "argument-ignored", Severity.ERROR)
def argument_ignored(program: Program) -> Iterator[Finding]:
    """A function never uses the data that it is given, and works on a variable of the module instead.

    Why it matters:
        Called with the training data and with the test data, it gives the same for both: the model is tested on its
        training data, and the score is too good.

    Example:
        `def prepare(data): return [encode(row) for row in train_data]`, then `prepare(train_data)` and
        `prepare(test_data)`.

    Fix:
        Use the parameter: `[encode(row) for row in data]`.
    """
    for function in program.source.tree.body:
        if not isinstance(function, ast.FunctionDef) or not function.args.args or function.args.vararg:
            continue
        parameters = [one.arg for one in function.args.args]
        used = {one.id for one in ast.walk(function) if isinstance(one, ast.Name)}
        calls = [call for call in program.source.nodes if _is_call_of(call, function)]
        for position, name in enumerate(parameters):
            arguments = [call.args[position] for call in calls if len(call.args) > position]
            given = [one.id for one in arguments if isinstance(one, ast.Name)]
            read_instead = [one for one in dict.fromkeys(given) if one in used and one not in parameters]
            mixed = [one for one in read_instead if _counted_alike(function, name, one)]
            if mixed and len(calls) > 1 and name in used:
                yield program.finding(
                    argument_ignored,
                    function,
                    f"`{function.name}` goes through `{name}` and reads `{mixed[0]}` at the same place, whatever it is "
                    "given: it is wrong for all other data.",
                    advice=f"Read `{name}` there too.",
                    severity=Severity.WARNING,
                )
            if name not in used and len(set(given)) > 1 and read_instead:
                yield program.finding(
                    argument_ignored,
                    function.args.args[position],
                    f"`{function.name}` never uses `{name}` and reads `{read_instead[0]}` instead: it gives the same "
                    f"for {' and '.join(f'`{one}`' for one in dict.fromkeys(given))}.",
                    advice=f"Use `{name}` in the function instead of `{read_instead[0]}`.",
                )


def _is_call_of(node: ast.AST, function: ast.FunctionDef) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == function.name


def _counted_alike(function: ast.FunctionDef, first: str, second: str) -> bool:
    """Both are taken at the same number of a loop: `passengers[i]` and `data[i]`."""
    places: dict[str, set[str]] = {first: set(), second: set()}
    for node in ast.walk(function):
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Name(id=index)) if name in places:
                places[name].add(index)
    return bool(places[first] & places[second])


@rule("P278", "generator-used-up", Severity.ERROR)
def generator_used_up(program: Program) -> Iterator[Finding]:
    """`from_generator` is given a function that returns the same generator every time.

    Why it matters:
        A generator runs once. `from_generator` calls the function again in every epoch, and gets the used-up one: the
        second epoch is empty.

    Example:
        `made = rows()`, then `tf.data.Dataset.from_generator(lambda: made, ...)`.

    Fix:
        Give the function itself: `tf.data.Dataset.from_generator(rows, ...)`.
    """
    functions = [node for node in program.source.nodes if isinstance(node, ast.FunctionDef)]
    generators = {one.name for one in functions if any(isinstance(part, ast.Yield) for part in ast.walk(one))}
    made = set()
    for node in program.source.nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id=called))) if (
                called in generators
            ):
                made.add(name)
    for call in program.calls:
        if call.name != "tensorflow.data.Dataset.from_generator" or not call.expression.args:
            continue
        match call.expression.args[0]:
            case ast.Lambda(body=ast.Name(id=name)) if name in made:
                yield program.finding(
                    generator_used_up,
                    call.expression,
                    f"Every epoch gets the same generator, `{name}`, which is used up after the first one: from then "
                    "on the dataset is empty.",
                )


@rule("P298", "returns-in-first-turn", Severity.WARNING)
def returns_in_first_turn(program: Program) -> Iterator[Finding]:
    """A loop gathers examples, and the function returns at the end of the loop's first turn.

    Why it matters:
        Only the first folder, class or file is read. No error is raised, and a model that has seen a single class
        predicts it for everything.

    Example:
        `for name in classes: paths.append(...); return paths`, where the `return` is indented too far.

    Fix:
        Move the `return` out of the loop.
    """
    functions = [node for node in program.source.nodes if isinstance(node, ast.FunctionDef)]
    for function in functions:
        for loop in function.body:
            last = loop.body[-1] if isinstance(loop, ast.For) else None
            if not isinstance(loop, ast.For) or not isinstance(last, ast.Return) or last.value is None:
                continue
            left = any(isinstance(one, ast.Continue | ast.Break) for one in ast.walk(loop))
            given = {one.id for one in ast.walk(last.value) if isinstance(one, ast.Name)}
            if not left and _made_empty(function, loop) & _gathered(loop) & given:
                yield program.finding(
                    returns_in_first_turn,
                    last,
                    f"`{function.name}` returns at the end of the first turn of its loop: the rest of "
                    f"`{program.text(loop.iter)}` is never read.",
                )


_EMPTY = ("[]", "{}", "list()", "dict()")


def _made_empty(function: ast.FunctionDef, loop: ast.For) -> set[str]:
    """The names that are set to an empty list or dict before a loop."""
    found: set[str] = set()
    for statement in function.body[: function.body.index(loop)]:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if ast.unparse(value) in _EMPTY:
                found.add(name)
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                pairs = zip(names, values, strict=False)
                found |= {ast.unparse(one) for one, value in pairs if ast.unparse(value) in _EMPTY}
    return found


def _gathered(loop: ast.For) -> set[str]:
    """The lists that a loop appends to, and the dicts that it fills."""
    found: set[str] = set()
    for node in ast.walk(loop):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append" | "extend")):
                found.add(name)
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
                found.add(name)
    return found


OWN_FUNCTION_RULES = [returns_in_first_turn, argument_ignored, generator_used_up]
