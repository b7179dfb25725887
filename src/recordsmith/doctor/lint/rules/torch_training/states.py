"""Rules on what a PyTorch program keeps from one step to the next: hidden states, the best weights, stored examples."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Function, Many, Object, Operation, Parameter, Value, walk
from recordsmith.doctor.lint.libraries.control_flow import enclosing, function_of
from recordsmith.doctor.lint.libraries.torch.data import DATASET
from recordsmith.doctor.lint.libraries.torch.modules import derives_from
from recordsmith.doctor.lint.libraries.torch.tensors import tensor_shape
from recordsmith.doctor.lint.libraries.torch.training import receiver_text, training_steps
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["STATE_RULES"]

_RECURRENT = re.compile(r"torch\.nn\.(RNN|LSTM|GRU)(Cell)?")
_CUTS = r"detach|\.data\b|repackage|no_grad|stop_gradient"


@rule("P134", "hidden-state-keeps-graph", Severity.WARNING)
def hidden_state_keeps_graph(program: Program) -> Iterator[Finding]:
    """The hidden state of a recurrent network goes from one training step to the next without `detach()`.

    Why it matters:
        The state is connected to all batches before it. `backward()` runs through them again: the second one stops
        with an error, or, with `retain_graph=True`, each step takes longer than the one before and memory runs out.

    Example:
        `output, hidden = model(x, hidden)` in a loop with `loss.backward()`, and nothing else sets `hidden`.

    Fix:
        `hidden = hidden.detach()` before the next step; of an LSTM, `tuple(part.detach() for part in hidden)`.
    """
    if not any(_RECURRENT.fullmatch(call.name) for call in program.calls) or program.mentions(_CUTS):
        return
    yield from _kept_in_the_module(program)
    trained = {receiver_text(call) for call in program.calls if call.name == ".parameters"}
    loops = {id(one.loop): one.loop for one in training_steps(program.calls) if one.kind == "backward"}
    for loop in loops.values():
        if not isinstance(loop, ast.For | ast.While):
            continue
        for node in ast.walk(loop):
            name = _carried(node, trained)
            if name and len(_assignments(loop, name)) == 1:
                yield program.finding(
                    hidden_state_keeps_graph,
                    node,
                    f"`{name}` goes from step to step with the graph of all steps before: `backward()` runs through "
                    "them again. Detach it in every step.",
                )
                return


def _kept_in_the_module(program: Program) -> Iterator[Finding]:
    """`y, self.state = self.rnn(x, self.state)` in `forward`, where nothing but `__init__` sets the state."""
    if not any(one.kind == "backward" and one.loops for one in training_steps(program.calls)):
        return
    stored = [one for one in program.source.nodes if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store)]
    for made in program.classes:
        forward = made.members.get("forward")
        for node in ast.walk(forward.definition) if isinstance(forward, Function) else ():
            match node:
                case ast.Assign(
                    targets=[ast.Tuple(elts=[_, ast.Attribute(value=ast.Name(id="self"), attr=name) as target])],
                    value=ast.Call(args=[_, ast.Attribute(value=ast.Name(id="self"), attr=given)]),
                ) if name == given:
                    pass
                case _:
                    continue
            others = [one for one in stored if one.attr == name and one is not target]
            if all(getattr(function_of(one), "name", "") == "__init__" for one in others):
                yield program.finding(
                    hidden_state_keeps_graph,
                    node,
                    f"`self.{name}` goes from batch to batch with the graph of all batches before: `backward()` runs "
                    "through them again. Detach it in every step.",
                )
                return


def _carried(node: ast.AST, trained: set[str]) -> str:
    """The state that a model returns and is given again, in `output, state = model(x, state)`."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call) or len(node.targets) != 1:
        return ""
    target = node.targets[0]
    if not isinstance(target, ast.Tuple) or ast.unparse(node.value.func) not in trained:
        return ""
    given = {ast.unparse(one) for one in (*node.value.args, *(key.value for key in node.value.keywords))}
    returned = [ast.unparse(one) for one in target.elts[1:] if isinstance(one, ast.Name | ast.Attribute | ast.Tuple)]
    return next((name for name in returned if name in given), "")


def _assignments(loop: ast.AST, name: str) -> list[ast.AST]:
    """What sets a name inside a loop, or a part of it."""
    found: list[ast.AST] = []
    for node in ast.walk(loop):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.For):
            texts = {ast.unparse(one) for target in targets if target is not None for one in ast.walk(target)
                     if isinstance(one, ast.expr)}  # fmt: skip
            found += [node] if name in texts else []
    return found


@rule("P135", "best-weights-by-reference", Severity.WARNING)
def best_weights_by_reference(program: Program) -> Iterator[Finding]:
    """The best weights are kept as `model.state_dict()`, which changes when training continues.

    Why it matters:
        `state_dict()` gives the tensors of the model themselves. Each later step changes them, so what is loaded at
        the end are the last weights, not the best ones.

    Example:
        `best = model.state_dict()` in a loop over epochs, and `model.load_state_dict(best)` after it.

    Fix:
        Copy them: `best = copy.deepcopy(model.state_dict())`; or write them to a file with `torch.save`.
    """
    for node in program.source.nodes:
        if not isinstance(node, ast.Assign):
            continue
        for target, value in _single_assignments(node):
            model = _is_state(value) or _is_model_called_best(program, target, value)
            loops = [one for one, _ in enclosing(node) if isinstance(one, ast.For | ast.While)]
            if not model or not loops:
                continue
            area = function_of(node) or program.source.tree
            if _trains(loops[-1], model) and _used_after(area, loops[-1], ast.unparse(target)):
                yield program.finding(
                    best_weights_by_reference,
                    node,
                    f"`{ast.unparse(target)}` holds the weights of `{model}` themselves, and changes with every later "
                    "step: copy them with `copy.deepcopy`.",
                )
                break


def _single_assignments(node: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    for target in node.targets:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            if len(target.elts) == len(node.value.elts):
                yield from zip(target.elts, node.value.elts, strict=True)
        else:
            yield target, node.value


def _is_state(value: ast.expr) -> str:
    match value:
        case ast.Call(func=ast.Attribute(value=model, attr="state_dict"), args=[], keywords=[]):
            return ast.unparse(model)
    return ""


def _is_model_called_best(program: Program, target: ast.expr, value: ast.expr) -> str:
    """`best_model = model`: two names for one model."""
    name = ast.unparse(value) if isinstance(value, ast.Name | ast.Attribute) else ""
    called = re.search(r"best", ast.unparse(target)) and isinstance(target, ast.Name | ast.Attribute)
    module = rf"(?<![\w.]){re.escape(name)}\.(train|eval|parameters|state_dict)\("
    return name if name and called and program.mentions(module) else ""


def _trains(loop: ast.AST, model: str) -> bool:
    """Something in the loop changes the model: a step, or a function that is given it."""
    for node in ast.walk(loop):
        if isinstance(node, ast.Attribute) and node.attr in ("step", "backward"):
            return True
        if isinstance(node, ast.Call) and re.search(r"(^|[._])(train|fit|update)", ast.unparse(node.func)):
            given = {ast.unparse(one) for one in node.args}
            if model in given:
                return True
    return False


def _used_after(area: ast.AST, loop: ast.AST, name: str) -> bool:
    """After the loop, the weights are loaded, saved or returned."""
    end = getattr(loop, "end_lineno", 0) or 0
    for node in ast.walk(area):
        if getattr(node, "lineno", 0) <= end:
            continue
        loads = isinstance(node, ast.Call) and re.search(r"load_state_dict$|(^|\.)save$", ast.unparse(node.func))
        given = [ast.unparse(one) for one in (node.args if isinstance(node, ast.Call) else ())]
        if loads and name in given:
            return True
        if isinstance(node, ast.Return) and node.value is not None:
            parts = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            if name in [ast.unparse(one) for one in parts]:
                return True
    return False


@rule("P139", "stored-example-changed", Severity.WARNING)
def stored_example_changed(program: Program) -> Iterator[Finding]:
    """The `__getitem__` of a dataset changes the stored example in place.

    Why it matters:
        A row of an array is a view of it. `image += noise` changes the array that the dataset keeps: the next epoch
        starts from the changed image, and the data moves away from the truth with every epoch.

    Example:
        `image = self.images[i]`, then `image *= 1.2`.

    Fix:
        Change a copy: `image = self.images[i].copy()` (`.clone()` for a tensor).
    """
    seen: set[int] = set()
    for made in program.instances:
        member = made.program_class.members.get("__getitem__")
        if not derives_from(made.program_class, DATASET) or not isinstance(member, Function):
            continue
        if id(member.definition) in seen or isinstance(member.definition, ast.Lambda):
            continue
        seen.add(id(member.definition))
        body = member.definition.body
        for place, statement in enumerate(body):
            name, field = _row_of_field(statement)
            changed = next((one for one in body[place + 1 :] if name and _changes(one, name)), None)
            if changed is None or not _is_stored_array(made, field):
                continue
            if any(_rebinds(one, name) for one in body[place + 1 : body.index(changed)]):
                continue
            yield program.finding(
                stored_example_changed,
                changed,
                f"`{ast.unparse(changed).splitlines()[0]}` changes `self.{field}` in place, because `{name}` is a "
                "view of it: every epoch starts from what the epoch before left.",
            )


def _row_of_field(statement: ast.stmt) -> tuple[str, str]:
    """The name and the field, in `image = self.images[i]`."""
    match statement:
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.Subscript(value=ast.Attribute(value=ast.Name(id="self"), attr=field), slice=ast.Name()),
        ):
            return name, field
    return "", ""


def _changes(statement: ast.stmt, name: str) -> bool:
    """It changes a name in place, as `image += 1` and `image[...] = 0` do, on its own or in a condition."""
    if isinstance(statement, ast.If):
        return any(_changes(one, name) for one in statement.body)
    match statement:
        case ast.AugAssign(target=ast.Name(id=found)):
            return found == name
        case ast.AugAssign(target=ast.Subscript(value=ast.Name(id=found))):
            return found == name
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=found))]):
            return found == name
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=found), attr=method))):
            return found == name and bool(re.fullmatch(r"(add|mul|sub|div|clamp|clip|copy|fill)_", method))
    return False


def _rebinds(statement: ast.stmt, name: str) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
        for node in ast.walk(statement)
    )


def _is_stored_array(made: Object, field: str) -> bool:
    """It is an array or a tensor in memory with more than one axis, of which a row is a view, for certain."""
    value: Value | None = made.fields.get(field)
    if isinstance(value, Many):
        value = value.member
    if isinstance(value, Parameter) or value is None:
        return False
    rows = [one for one in walk(value, 60) if isinstance(one, Call)]
    made_of = re.compile(r"(numpy|torch)\.\w+(\.\w+)*|\.(astype|float|numpy|copy|clone|reshape|normal|random|integers)")
    known = isinstance(value, Operation) or (isinstance(value, Call) and bool(made_of.fullmatch(value.name)))
    files = any(re.match(r"h5py|zarr|.*memmap|.*open", one.name) for one in rows)
    shape = tensor_shape(value)
    return known and not files and shape is not None and len(shape) > 1


STATE_RULES = [hidden_state_keeps_graph, best_weights_by_reference, stored_example_changed]
