"""Rules on batches that a generator or a class of the program puts together itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["OWN_BATCH_RULES", "shuffled_without_its_partner"]

_SHUFFLES = ("random", "np.random", "numpy.random")


@rule("P270", "labels-of-first-batch", Severity.ERROR)
def labels_of_first_batch(program: Program) -> Iterator[Finding]:
    """A generator moves through the inputs batch by batch, but gives the labels of the first batch every time.

    Why it matters:
        From the second batch on, the labels belong to other examples. No error is raised, because the sizes fit, and
        the accuracy stays near chance.

    Example:
        `yield x[start:start + size], y[:size]` in a loop over `start`.

    Fix:
        Cut both in the same way: `yield x[start:start + size], y[start:start + size]`.
    """
    for function in program.source.nodes:
        if not isinstance(function, ast.FunctionDef):
            continue
        slices = _assigned_slices(function)
        for node in ast.walk(function):
            pair = node.value if isinstance(node, ast.Yield | ast.Return) else None
            if not isinstance(pair, ast.Tuple) or len(pair.elts) != 2:
                continue
            first, second = (_slice_of(one, slices) for one in pair.elts)
            if first is None or second is None or ast.unparse(first.value) == ast.unparse(second.value):
                continue
            for moving, fixed in ((first, second), (second, first)):
                if _moves(moving, function) and _is_fixed(fixed, function):
                    yield program.finding(
                        labels_of_first_batch,
                        fixed,
                        f"`{program.text(moving)}` moves on from batch to batch, and `{program.text(fixed)}` is the "
                        "same every time: from the second batch on, labels and examples do not belong together.",
                    )


def _assigned_slices(function: ast.FunctionDef) -> dict[str, ast.expr]:
    """What each name is, that a function assigns once."""
    found: dict[str, ast.expr] = {}
    twice: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                twice |= {name} & found.keys()
                found[name] = value
            case ast.AugAssign(target=ast.Name(id=name)):
                twice.add(name)
    return {name: value for name, value in found.items() if name not in twice}


def _slice_of(node: ast.expr, assigned: dict[str, ast.expr]) -> ast.Subscript | None:
    """The slice that a value is, apart from arithmetic and calls around it."""
    for _ in range(10):
        match node:
            case ast.Subscript(slice=ast.Slice()):
                return node
            case ast.Name(id=name) if name in assigned:
                node = assigned[name]
            case ast.BinOp(left=inner) | ast.Call(args=[inner, *_]):
                node = inner
            case _:
                return None
    return None


def _counters(function: ast.FunctionDef) -> set[str]:
    """The names that change from batch to batch: of loops, of `i += 1`, and the index of `__getitem__`."""
    found = {argument.arg for argument in function.args.args[1:]} if function.name == "__getitem__" else set()
    for node in ast.walk(function):
        match node:
            case ast.For(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Name(id=name)):
                found.add(name)
    for name, value in _assigned_slices(function).items():
        if found & {one.id for one in ast.walk(value) if isinstance(one, ast.Name)}:
            found.add(name)
    return found


def _names(node: ast.AST | None) -> set[str]:
    return set() if node is None else {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _moves(part: ast.Subscript, function: ast.FunctionDef) -> bool:
    lower = part.slice.lower if isinstance(part.slice, ast.Slice) else None
    return bool(_names(lower) & _counters(function))


def _is_fixed(part: ast.Subscript, function: ast.FunctionDef) -> bool:
    if not isinstance(part.slice, ast.Slice) or part.slice.upper is None:
        return False
    return part.slice.lower is None and not _names(part) & _counters(function)


@rule("P295", "position-set-back", Severity.ERROR)
def position_set_back(program: Program) -> Iterator[Finding]:
    """A generator sets its position back before every batch, so it yields the first batch again and again.

    Why it matters:
        The model memorises one batch and never sees another example. The training loss looks perfect.

    Example:
        `while True: i = 0; yield x[i:i + size], y[i:i + size]; i += size`

    Fix:
        Set the position before the loop, and back to 0 only at the end of the data.
    """
    for loop in program.source.nodes:
        if not isinstance(loop, ast.While) or not isinstance(loop.test, ast.Constant):
            continue
        for name in _set_first(loop):
            yields = [one for one in loop.body if isinstance(one, ast.Expr) and isinstance(one.value, ast.Yield)]
            moved = any(
                isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name) and one.target.id == name
                for one in loop.body
            )
            sliced = any(
                isinstance(one, ast.Subscript) and isinstance(one.slice, ast.Slice) and name in _names(one.slice.lower)
                for one in ast.walk(loop)
            )
            if len(yields) == 1 and moved and sliced:
                yield program.finding(
                    position_set_back,
                    loop.body[0],
                    f"`{name}` is set back before every batch: the generator yields the same batch again and again.",
                )


def _set_first(loop: ast.While) -> Iterator[str]:
    """The names that the first statements of a loop set to a constant."""
    for statement in loop.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant()):
                yield name
            case _:
                return


def shuffled_without_its_partner(program: Program) -> Iterator[tuple[ast.Call, str, str]]:
    """Yield each shuffle of a list that a class keeps, where its batches pair it with a list that is not shuffled."""
    for made in program.classes:
        methods = [one for one in made.definition.body if isinstance(one, ast.FunctionDef)]
        shuffles = {name: call for method in methods for name, call in _shuffled(method)}
        pairs = [pair for method in methods if method.name == "__getitem__" for pair in _indexed_alike(method)]
        for name, call in shuffles.items():
            others = {other for pair in pairs if name in pair for other in pair} - {name}
            changed = {_attribute(node) for method in methods if method.name != "__init__" for node in _stored(method)}
            apart = sorted(others - shuffles.keys() - changed)
            together = sorted(others & shuffles.keys())
            if apart:
                yield call, name, apart[0]
            elif together and name < together[0] and not _is_seeded(call):
                yield shuffles[together[0]], together[0], name


def _is_seeded(call: ast.AST) -> bool:
    """The method that shuffles sets a seed, or a state, again before the second shuffle."""
    while not isinstance(call, ast.FunctionDef):
        call = getattr(call, "parent", ast.parse("def none(): pass").body[0])
    return any(isinstance(one, ast.Attribute) and one.attr in ("seed", "set_state") for one in ast.walk(call))


def _attribute(node: ast.AST) -> str:
    own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return node.attr if own and isinstance(node, ast.Attribute) else ""


def _stored(method: ast.FunctionDef) -> Iterator[ast.AST]:
    for node in ast.walk(method):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node


def _shuffled(method: ast.FunctionDef) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(method):
        match node:
            case ast.Call(func=ast.Attribute(value=module, attr="shuffle"), args=[first, *_]):
                if _attribute(first) and ast.unparse(module) in _SHUFFLES:
                    yield _attribute(first), node


def _indexed_alike(method: ast.FunctionDef) -> Iterator[set[str]]:
    """The attributes that a method takes at the same place: `self.files[part]` and `self.labels[part]`."""
    places: dict[str, set[str]] = {}
    for node in ast.walk(method):
        if isinstance(node, ast.Subscript) and _attribute(node.value):
            places.setdefault(ast.unparse(node.slice), set()).add(_attribute(node.value))
    yield from (names for names in places.values() if len(names) > 1)


OWN_BATCH_RULES = [labels_of_first_batch, position_set_back]
