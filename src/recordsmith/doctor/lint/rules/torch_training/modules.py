"""Rules on PyTorch modules and optimizers: layers that are not registered, parameters that are not trained."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.edits import Edit
from recordsmith.doctor.lint.interpreter.values import Call, Group, Item, Many, Object, Table, Value, walk
from recordsmith.doctor.lint.libraries.control_flow import enclosing, function_of, statement_of
from recordsmith.doctor.lint.libraries.torch.modules import derives_from, is_module, is_optimizer
from recordsmith.doctor.lint.libraries.torch.training import has_no_gradients, optimizers
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["MODULE_RULES"]

_MODULE = r"torch\.nn\.Module|pytorch_lightning\.LightningModule"


@rule("P115", "layers-not-registered", Severity.ERROR)
def layers_not_registered(program: Program) -> Iterator[Finding]:
    """A PyTorch module keeps layers in a plain list or dict.

    Why it matters:
        `nn.Module` finds only layers that are attributes, or in an `nn.ModuleList` or `nn.ModuleDict`. Layers in a
        plain list are not in `parameters()`: the optimizer does not train them, `to(device)` does not move them, and
        they are not saved.

    Example:
        `self.layers = [nn.Linear(8, 8) for _ in range(4)]`

    Fix:
        `self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(4)])`, or `nn.ModuleDict` for a dict.
    """
    seen: set[int] = set()
    for made in program.instances:
        definition = made.program_class.definition
        if not derives_from(made.program_class, _MODULE) or id(definition) in seen:
            continue
        seen.add(id(definition))
        body = ast.unparse(definition)
        for name, value in made.fields.items():
            if value.node is None or not _is_plain_collection(value) or not _makes_layers(value.node):
                continue
            used = len(re.findall(rf"self\.{re.escape(name)}\b", body))
            wrapped = re.search(
                rf"(Sequential|ModuleList|add_module|setattr|register|parameters)\b[^\n]*self\.{re.escape(name)}\b",
                body,
            )
            looped = re.search(
                rf"for [^\n]* in [^\n]*self\.{re.escape(name)}\b[^\n]*:\n[^\n]*(add_module|setattr|register)", body
            )
            if used > 1 and not wrapped and not looped and not re.search(r"setattr\(self|add_module\(", body):
                yield program.finding(
                    layers_not_registered,
                    value.node,
                    f"`self.{name}` is a plain {'dict' if isinstance(value, Table) else 'list'} of layers: they are "
                    "not in `parameters()`, so they are not trained, moved or saved.",
                    edits=_as_module_list(program, value.node),
                    certain=True,
                )


def _makes_layers(node: ast.expr | None) -> bool:
    """The layers are made there, and not only listed once more."""
    if isinstance(node, ast.ListComp):
        return isinstance(node.elt, ast.Call)
    if isinstance(node, ast.Dict):
        return all(isinstance(one, ast.Call) for one in node.values)
    return isinstance(node, ast.List) and all(isinstance(one, ast.Call) for one in node.elts)


def _is_plain_collection(value: Value) -> bool:
    members = tuple(value.parts()) if isinstance(value, Group | Table) else ()
    members = (value.member,) if isinstance(value, Many) else members
    return bool(members) and all(is_module(one) and _has_weights(one) for one in members)


def _has_weights(value: Value) -> bool:
    if isinstance(value, Object):
        return any(is_module(one) and _has_weights(one) for one in value.fields.values())
    return not (
        isinstance(value, Call)
        and re.fullmatch(r"torch\.nn\.\w*(ReLU|Loss|Pool\w*|Softmax|Sigmoid|Tanh|Dropout|Identity|Flatten)", value.name)
    )


def _as_module_list(program: Program, node: ast.expr) -> list[Edit] | None:
    if not program.mentions(r"\bnn\.Module\b") or isinstance(node, ast.Dict):
        return None
    source = getattr(node, "source", program.source)
    begin, end = source.span(node)
    return [Edit(begin, begin, "nn.ModuleList("), Edit(end, end, ")")]


@rule("P116", "dropout-always-active", Severity.WARNING)
def dropout_always_active(program: Program) -> Iterator[Finding]:
    """`F.dropout` is called without `training=self.training`, so that it is active in evaluation mode too.

    Why it matters:
        `F.dropout(x)` does not know the mode of the model: by default it always drops. Validation scores and
        predictions are then random and too bad, and `eval()` does not change it.

    Example:
        `x = F.dropout(x, 0.5)` in `forward`.

    Fix:
        `F.dropout(x, 0.5, training=self.training)`, or a layer `nn.Dropout(0.5)`.
    """
    seen: set[int] = set()
    for call in program.calls:
        if not re.fullmatch(r"torch\.nn\.functional\.(feature_alpha_|alpha_)?dropout[123]?d?", call.name):
            continue
        if not call.exact or call.argument(2, "training") is not None or id(call.node) in seen:
            continue
        owner = function_of(call.expression)
        guarded = any(
            isinstance(one, ast.If) and "training" in ast.unparse(one.test) for one, _ in enclosing(call.expression)
        )
        if not isinstance(owner, ast.FunctionDef) or owner.name != "forward" or guarded:
            continue
        seen.add(id(call.node))
        source = getattr(call.expression, "source", program.source)
        _, end = source.span(call.expression)
        yield program.finding(
            dropout_always_active,
            call.expression,
            "This dropout is active in evaluation mode too: `F.dropout` needs `training=self.training`.",
            edits=[Edit(end - 1, end - 1, ", training=self.training")],
            certain=source.text[end - 1] == ")" and source.text[: end - 1].rstrip()[-1:] not in (",", "("),
        )


@rule("P117", "parameters-not-trained", Severity.ERROR)
def parameters_not_trained(program: Program) -> Iterator[Finding]:
    """Parameters of the model that is trained are not among those that the optimizer changes.

    The optimizer was made before a layer was replaced or the model was made anew, or all parameters are frozen. Or the
    other way round: parameters are trained that were to be frozen.

    Why it matters:
        An optimizer changes the parameters that it was given when it was made. A layer that is replaced later, or a
        model that is made anew, is never changed: it keeps its random weights.

    Example:
        `optimizer = SGD(model.parameters(), lr=0.1)`, and after it `model.fc = nn.Linear(512, 10)`.

    Fix:
        Make the optimizer last: after all layers are in place, and after anything is frozen.
    """
    replaced = list(_replaced_in_a_model(program))
    yield from replaced
    for made in optimizers(program.calls) if not replaced else ():
        statement = statement_of(made.expression)
        names = _models_of(made.expression)
        block = _block_of(statement)
        if statement is None or not names or statement not in block:
            continue
        for later in block[block.index(statement) + 1 :]:
            for node in (later, *_loop_body(later)):
                message = _replaces(node, names)
                if message and not any(_makes_optimizer(one) for one in block[block.index(statement) + 1 :]):
                    if program.source.cells or not _steps_later(block[block.index(later) :]):
                        return  # a notebook begins something else, or nothing is trained with it any more
                    yield program.finding(parameters_not_trained, node, message)
                    return
    yield from _of_another_model(program)
    yield from _nothing_frozen(program)
    yield from _all_frozen(program)
    yield from _one_model_twice(program)
    yield from _layer_in_no_group(program)


def _replaced_in_a_model(program: Program) -> Iterator[Finding]:
    """`self.model.classifier[1] = nn.Linear(...)` after the optimizer was made, which takes steps later."""
    made = {
        id(layer): (place, one)
        for place, one in enumerate(program.calls)
        if _is_of_one_model(one)
        for layer in _layers_of(one)
    }
    steps = [(place, id(one.receiver)) for place, one in enumerate(program.calls) if one.name == ".step"]
    for place, call in enumerate(program.calls):
        if call.name not in (".__setitem__", ".__setattr__") or len(call.args) != 2 or call.node is None:
            continue
        model, layer = call.receiver, call.args[1]
        while isinstance(model, Item):
            model = model.base
        at, optimizer = made.get(id(model), (place, None))
        new = (
            isinstance(layer, Call) and layer.name.startswith("torch.nn.") and is_module(layer) and _has_weights(layer)
        )
        trained = any(later > place and key == id(optimizer) for later, key in steps)
        if optimizer is not None and at < place and new and trained and not call.undecided and not program.source.cells:
            yield program.finding(
                parameters_not_trained,
                call.node,
                "This layer is replaced after the optimizer was made: the new layer is never trained.",
            )
            return


def _of_another_model(program: Program) -> Iterator[Finding]:
    """The optimizer has the parameters of a model that runs without gradients, and another one gives the loss."""
    made = optimizers(program.calls)
    if len(made) != 1 or not _is_of_one_model(made[0]):
        return
    given = {id(layer) for layer in _layers_of(made[0])}
    ends = [call.receiver for call in program.calls if call.name == ".backward" and call.receiver is not None]
    runs = [one for end in ends for one in walk(end, 600) if isinstance(one, Call) and one.name == "()"]
    runs = [one for one in runs if isinstance(one.receiver, Call) and _MODELS_OF_LIBRARIES.match(one.receiver.name)]
    with_gradients = [one for one in runs if one.node is not None and not has_no_gradients(one.node)]
    trained = {id(one.receiver) for one in with_gradients}
    if len(trained) == 1 and not given & trained and given & {id(one.receiver) for one in runs}:
        yield program.finding(
            parameters_not_trained,
            made[0].expression,
            "The optimizer has the parameters of a model that runs without gradients (`no_grad`), and none of the one "
            f"that the loss is computed from, `{ast.unparse(with_gradients[0].expression.func)}`: it is never trained.",
        )


_MODELS_OF_LIBRARIES = re.compile(r"torchvision\.models\.|timm\.|torch\.nn\.Sequential|segmentation_models_pytorch\.")


def _nothing_frozen(program: Program) -> Iterator[Finding]:
    """`p.require_grad = False` for the parameters of a model: PyTorch knows no such attribute."""
    for node in program.source.nodes:
        match node:
            case ast.Assign(targets=[ast.Attribute(attr="require_grad" | "require_grads" | "requires_grads" as name)]):
                yield program.finding(
                    parameters_not_trained,
                    node,
                    f"PyTorch knows no attribute `{name}`: nothing is frozen, and all parameters are trained.",
                    advice="Write `requires_grad`.",
                )
                return


def _is_of_one_model(call: Call) -> bool:
    given = call.args[0] if is_optimizer(call) and call.args else None
    return isinstance(given, Call) and given.name == ".parameters" and isinstance(given.receiver, Call)


def _layer_in_no_group(program: Program) -> Iterator[Finding]:
    """The optimizer gets some layers of a model by their names, and another one that has weights is left out."""
    if program.mentions(
        r"requires_grad(_| *=)|freeze|frozen|from_pretrained|pretrained|add_param_group|load_state_dict"
    ):
        return
    made = optimizers(program.calls)
    given = [_layers_of(one) for one in made]
    layers = {id(layer) for group in given for layer in group}
    for model in program.instances:
        mine = {name: one for name, one in model.fields.items() if is_module(one) and _has_weights(one)}
        inside = [name for name, one in mine.items() if id(one) in layers]
        left = [name for name in mine if name not in inside]
        whole = any(id(model) in {id(layer) for layer in group} for group in given)
        text = ast.unparse(model.program_class.definition)
        used = [name for name in left if len(re.findall(rf"self\.{re.escape(name)}\b", text)) > 1]
        if len(inside) > 1 and used and not whole and derives_from(model.program_class, _MODULE):
            yield program.finding(
                parameters_not_trained,
                made[-1].expression,
                f"The optimizer gets the parameters of {', '.join(f'`{name}`' for name in inside)}, but not those of "
                f"`{used[0]}`, which is part of the same model: it keeps its random weights.",
                severity=Severity.WARNING,
            )
            return


def _layers_of(optimizer: Call) -> list[Value]:
    """The modules whose parameters an optimizer is given."""
    parts = walk(optimizer.argument(0, "params"), 400)
    return [one.receiver for one in parts if isinstance(one, Call) and one.name == ".parameters" and one.receiver]


def _steps_later(statements: list[ast.stmt]) -> bool:
    """Something is trained after it, or may be: a step is taken, it is returned, or a function may train with it."""
    return any(
        (isinstance(node, ast.Return) and node.value is not None)
        or (isinstance(node, ast.Attribute) and node.attr in ("step", "backward", "fit", "train"))
        or (isinstance(node, ast.Name) and "train" in node.id)
        for statement in statements
        for node in ast.walk(statement)
    )


def _models_of(call: ast.Call) -> set[str]:
    """The models whose parameters an optimizer is given, as the source calls them."""
    return {
        ast.unparse(one.func.value)
        for one in ast.walk(call)
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == "parameters"
    }


def _block_of(statement: ast.stmt | None) -> list[ast.stmt]:
    parent = getattr(statement, "parent", None)
    for name in ("body", "orelse", "finalbody"):
        block = getattr(parent, name, None)
        if isinstance(block, list) and statement in block:
            return block
    return []


def _loop_body(statement: ast.stmt) -> list[ast.stmt]:
    return statement.body if isinstance(statement, ast.For | ast.While) else []


def _makes_optimizer(statement: ast.stmt) -> bool:
    return any(
        isinstance(one, ast.Attribute | ast.Name) and re.search(r"optim\.[A-Z]|add_param_group", ast.unparse(one))
        for one in ast.walk(statement)
    )


def _replaces(statement: ast.stmt, names: set[str]) -> str | None:
    if (
        not isinstance(statement, ast.Assign)
        or len(statement.targets) != 1
        or not isinstance(statement.value, ast.Call)
    ):
        return None
    target, value = ast.unparse(statement.targets[0]), statement.value
    while (
        isinstance(value.func, ast.Attribute)
        and value.func.attr in ("to", "cuda")
        and isinstance(value.func.value, ast.Call)
    ):
        value = value.func.value
    made = ast.unparse(value.func)
    uses = {ast.unparse(one) for one in ast.walk(value) if isinstance(one, ast.Name | ast.Attribute)}
    for name in names:
        if target.startswith(f"{name}.") and re.search(r"(^|\.)nn\.[A-Z]\w+$|^(Linear|Conv2d|Sequential)$", made):
            return f"`{target}` is replaced after the optimizer was made: the new layer is never trained."
        if (
            target == name
            and name not in uses
            and re.fullmatch(r"[A-Z]\w*|(?!keras|tf)\w+\.[A-Z]\w*|models\.\w+", made)
        ):
            return f"`{name}` is created again after the optimizer was made: the optimizer still changes the old one."
    return None


def _one_model_twice(program: Program) -> Iterator[Finding]:
    """Two optimizers have the same parameters, where each was meant for a model of its own."""
    made = [one for one in optimizers(program.calls) if one.via == ()]
    for place, one in enumerate(made):
        for other in made[place + 1 :]:
            models = _models_of(one.expression)
            targets = [
                ast.unparse(t) for call in (one, other) for t in getattr(statement_of(call.expression), "targets", [])
            ]
            same = models and models == _models_of(other.expression) and len(set(targets)) == 2
            same = same and all(program.mentions(rf"{re.escape(target)}\.step\(") for target in targets)
            if (
                same
                and function_of(one.expression) is function_of(other.expression)
                and not other.undecided
                and not one.undecided
            ):
                yield program.finding(
                    parameters_not_trained,
                    other.expression,
                    f"`{targets[0]}` and `{targets[1]}` both have the parameters of `{min(models)}`: another model is "
                    "never trained.",
                    severity=Severity.WARNING,
                )
                return


def _all_frozen(program: Program) -> Iterator[Finding]:
    """All parameters are frozen after the new layers were put in place."""
    for node in program.source.nodes:
        if not isinstance(node, ast.For) or not re.fullmatch(r"[\w.]+\.parameters\(\)", ast.unparse(node.iter)):
            continue
        frozen = len(node.body) == 1 and re.fullmatch(
            r"\w+\.requires_grad = False|\w+\.requires_grad_\(False\)", ast.unparse(node.body[0])
        )
        name = ast.unparse(node.iter).removesuffix(".parameters()")
        block = _block_of(node)
        if not frozen or not block or list(enclosing(node)):
            continue
        after = block[block.index(node) + 1 :]
        ends = next((place for place, one in enumerate(after) if _makes_optimizer(one)), len(after))
        later = "\n".join(ast.unparse(one) for one in after[: ends + 1])
        trained = re.search(rf"optim\w*\.\w+\({re.escape(name)}\.parameters\(\)", later)
        free = r"requires_grad(_\(\)| = True|_\(True|_\(requires)|setattr"
        thawed = re.search(rf"{free}|{re.escape(name)}\.\w[\w.\[\]]* = |{re.escape(name)} = ", later)
        if trained and not thawed:
            yield program.finding(
                parameters_not_trained,
                node,
                f"All parameters of `{name}` are frozen here, and no layer is replaced or set free after it: nothing "
                "is left to train.",
                severity=Severity.WARNING if function_of(node) is not None else None,
            )


MODULE_RULES = [layers_not_registered, dropout_always_active, parameters_not_trained]
