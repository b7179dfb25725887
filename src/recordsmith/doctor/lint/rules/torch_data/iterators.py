"""The rule on iterators that are gone through a second time."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from recordsmith.doctor.lint.libraries.control_flow import enclosing, function_of
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["ITERATOR_RULES"]

_MAKERS = {"map", "filter", "zip", "iter", "csv.reader", "csv.DictReader", "reversed"}
_READERS = {"list", "tuple", "set", "sorted", "sum", "dict", "max", "min", "enumerate", "tqdm", "len"}


@rule("P172", "iterator-used-up", Severity.WARNING)
def iterator_used_up(program: Program) -> Iterator[Finding]:
    """A generator or iterator is gone through again after it has been used up.

    Why it matters:
        A generator expression, `map`, `zip`, `iter(loader)` and a CSV reader give their items once. The second time
        they give nothing, and no error is raised: later epochs train on no data, or half of the rows are missing.

    Example:
        `batches = iter(loader)` before the loop over the epochs, and `for x, y in batches` in it.

    Fix:
        Make a list of it, `list(...)`, or make the iterator anew each time.
    """
    if not program.mentions(r"\btorch\b") or program.source.cells:
        return
    generators = _generator_functions(program)
    for node in program.source.nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _makes_iterator(value, generators):
                again = _gone_through_again(program, node, name)
                if again is not None:
                    yield program.finding(
                        iterator_used_up,
                        again,
                        f"`{name}` is a generator or iterator, used up after it was gone through once, and it is gone "
                        "through again: the second time it gives nothing.",
                    )
                    return


def _generator_functions(program: Program) -> set[str]:
    """The functions of the program that return a generator expression, or yield."""
    found: set[str] = set()
    for one in program.source.nodes:
        if isinstance(one, ast.FunctionDef) and not isinstance(getattr(one, "parent", None), ast.ClassDef):
            last = one.body[-1]
            yields = any(isinstance(part, ast.Yield) and function_of(part) is one for part in ast.walk(one))
            if yields or (isinstance(last, ast.Return) and isinstance(last.value, ast.GeneratorExp)):
                found.add(one.name)
    return found


def _makes_iterator(value: ast.expr, generators: set[str]) -> bool:
    if isinstance(value, ast.GeneratorExp):
        return True
    if not isinstance(value, ast.Call):
        return False
    name = ast.unparse(value.func)
    return name in generators or (name in _MAKERS and bool(value.args))


def _gone_through_again(program: Program, made: ast.Assign, name: str) -> ast.AST | None:
    area = function_of(made) or program.source.tree
    stores = [
        one for one in ast.walk(area) if isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Store)
    ]
    if len(stores) != 1:
        return None
    around = {id(parent) for parent, _ in enclosing(made)}
    uses = [
        use for one in ast.walk(area) if (use := _use(one, name)) is not None and function_of(use) is function_of(made)
    ]
    passed = _passed(program, area, name, made)
    for use in uses:
        loops = [one for one, child in enclosing(use) if isinstance(one, ast.For | ast.While) and id(one) not in around]
        loops = [one for one in loops if one is not use and not (isinstance(one, ast.For) and one.iter is use)]
        if loops and not _breaks(use) and not _leaves(loops[0], use):
            return use
    plain = [one for one in uses if not _breaks(one) and not _in_branch(one)]
    if len(plain) > 1 and plain[0].lineno < plain[1].lineno:
        return plain[1]
    return passed


def _use(node: ast.AST, name: str) -> ast.expr | ast.For | None:
    """A place that goes through the whole of it."""
    match node:
        case ast.For(iter=over) if _names(over, name):
            return node
        case ast.Call(func=ast.Name(id=reader), args=[ast.Name(id=given), *_]) if given == name and reader in _READERS:
            parent = getattr(node, "parent", None)
            return None if isinstance(parent, ast.For) and parent.iter is node else node
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return node if _names(node.generators[0].iter, name) else None
    return None


def _names(over: ast.expr, name: str) -> bool:
    while isinstance(over, ast.Call) and over.args and ast.unparse(over.func) in ("enumerate", "tqdm", "tqdm.tqdm"):
        over = over.args[0]
    return isinstance(over, ast.Name) and over.id == name


def _breaks(use: ast.AST) -> bool:
    """Whether a loop stops early: the next one then continues from there, which may be intended."""
    return isinstance(use, ast.For) and any(isinstance(one, ast.Break | ast.Return) for one in ast.walk(use))


def _leaves(loop: ast.AST, use: ast.AST) -> bool:
    """The loop around it ends in the same turn."""
    return any(isinstance(one, ast.Break | ast.Return) for one in ast.walk(loop)) and use is not loop


def _in_branch(use: ast.AST) -> bool:
    return any(isinstance(one, ast.If | ast.Try | ast.With) for one, _ in enclosing(use))


def _passed(program: Program, area: ast.AST, name: str, made: ast.Assign) -> ast.AST | None:
    """It is given to a function that goes through it again in every turn of a comprehension."""
    functions = {one.name: one for one in program.source.nodes if isinstance(one, ast.FunctionDef)}
    for call in ast.walk(area):
        if (
            not isinstance(call, ast.Call)
            or not isinstance(call.func, ast.Name)
            or function_of(call) is not function_of(made)
        ):
            continue
        function = functions.get(call.func.id)
        places = [place for place, one in enumerate(call.args) if isinstance(one, ast.Name) and one.id == name]
        if function is None or not places or places[0] >= len(function.args.args):
            continue
        parameter = function.args.args[places[0]].arg
        for node in ast.walk(function):
            later = node.generators[1:] if isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp) else []
            if any(_names(one.iter, parameter) for one in later):
                return node
    return None


ITERATOR_RULES = [iterator_used_up]
