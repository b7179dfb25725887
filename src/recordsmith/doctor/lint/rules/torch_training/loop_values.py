"""Rules on the values that a PyTorch loop keeps, drops or counts."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Item, Literal, Object
from recordsmith.doctor.lint.libraries.control_flow import enclosing, function_of, loops_around, statement_of
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline
from recordsmith.doctor.lint.libraries.torch.modules import derives_from, is_module
from recordsmith.doctor.lint.libraries.torch.training import has_no_gradients, receiver_text, training_steps
from recordsmith.doctor.lint.libraries.torch.transforms import transform_steps
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["LOOP_VALUE_RULES"]

_COPIES = {
    ".to", ".cuda", ".cpu", ".float", ".long", ".double", ".half", ".unsqueeze", ".squeeze", ".view", ".reshape",
    ".permute", ".transpose", ".detach", ".clamp", ".flatten", ".contiguous", ".clone", ".type",
}  # fmt: skip
_HF_COPIES = {
    ".map",
    ".filter",
    ".shuffle",
    ".rename_column",
    ".remove_columns",
    ".cast_column",
    ".with_format",
    ".select",
}


@rule("P118", "loss-keeps-graph", Severity.WARNING)
def loss_keeps_graph(program: Program) -> Iterator[Finding]:
    """A loop adds up losses with everything that they were computed from.

    Why it matters:
        A loss tensor keeps what is needed for its gradients. The sum of all losses of an epoch is connected to all of
        them, so memory grows with every batch until it is exhausted.

    Example:
        `total_loss += loss` after `loss.backward()`.

    Fix:
        Add the number: `total_loss += loss.item()`, or `loss.detach()` to stay on the device.
    """
    for step in training_steps(program.calls):
        name, loop = _loss_name(step.call), step.loop
        owner = statement_of(step.call.expression)
        if (
            step.kind != "backward"
            or not name.isidentifier()
            or not isinstance(loop, ast.For | ast.While)
            or owner is None
        ):
            continue
        if function_of(owner) is not function_of(loop):
            continue
        whole = ast.unparse(function_of(owner) or program.source.tree)
        for node in ast.walk(loop):
            total, added = _addition(node)
            if added is None or getattr(node, "lineno", 0) < owner.lineno:
                continue
            if not _is_bare(added, name) or total == name or has_no_gradients(node):
                continue
            used = rf"{re.escape(total)}\.(backward|item|detach|data|cpu)|backward\({re.escape(total)}"
            if re.search(rf"{re.escape(total)}\.backward|backward\({re.escape(total)}", whole) or _is_redefined(
                loop, name, owner, node
            ):
                continue
            severity = Severity.INFO if re.search(used, whole) else None
            yield program.finding(
                loss_keeps_graph,
                node,
                f"`{ast.unparse(node)}` keeps the graph of every batch in memory: add `{name}.item()`.",
                severity=severity,
            )


def _addition(node: ast.AST) -> tuple[str, ast.expr | None]:
    """The total and what is added to it, in `total += loss` and `total = total + loss`."""
    match node:
        case ast.AugAssign(target=target, op=ast.Add(), value=value):
            return ast.unparse(target), value
        case ast.Assign(targets=[target], value=ast.BinOp(left=left, op=ast.Add(), right=right)):
            total = ast.unparse(target)
            return (total, right) if ast.unparse(left) == total else (total, None)
    return "", None


def _loss_name(call: Call) -> str:
    """The loss of `loss.backward()`, `scaler.scale(loss).backward()` or `accelerator.backward(loss)`."""
    inner = call.expression.args[0] if call.expression.args else getattr(call.expression.func, "value", None)
    while isinstance(inner, ast.Call) and inner.args:
        inner = inner.args[0]
    return ast.unparse(inner) if inner is not None else ""


def _is_bare(value: ast.expr, name: str) -> bool:
    match value:
        case ast.Name(id=found):
            return found == name
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div(), right=right):
            return _is_bare(left, name) or _is_bare(right, name)
    return False


def _is_redefined(loop: ast.For | ast.While, name: str, after: ast.stmt, before: ast.AST) -> bool:
    """Between the two, the name gets a new value, such as `loss = loss.item()`."""
    between = range(after.lineno, getattr(before, "lineno", 0) + 1)
    assigned = [node for node in ast.walk(loop) if isinstance(node, ast.Assign) and node.lineno in between]
    return any(ast.unparse(target) == name for node in assigned for target in node.targets)


@rule("P119", "changed-copy-dropped", Severity.WARNING)
def changed_copy_dropped(program: Program) -> Iterator[Finding]:
    """The result of a call that returns a changed copy is dropped, or the None of one that changes in place is kept.

    Why it matters:
        `tensor.to(device)`, `tensor.unsqueeze(0)` and `dataset.map(tokenize)` return something new and leave what they
        are called on as it was. `random.shuffle(rows)` and `rows.sort()` change the list and return None.

    Example:
        `images.to(device)` as a statement on its own; `rows = random.shuffle(rows)`.

    Fix:
        `images = images.to(device)`; `random.shuffle(rows)` without the assignment.
    """
    for call in program.calls:
        parent = getattr(call.node, "parent", None)
        if call.node is None or program.source.cells:
            continue
        if isinstance(parent, ast.Expr) and call.name in _COPIES and _is_tensor(call) and not _is_tried(parent):
            yield program.finding(
                changed_copy_dropped,
                call.expression,
                f"The result of `{program.text(call.expression)}` is not used: it returns a new tensor, and "
                f"`{receiver_text(call)}` stays as it was.",
            )
        elif isinstance(parent, ast.Expr) and _returns_changed_image(call):
            yield program.finding(
                changed_copy_dropped,
                call.expression,
                f"The result of `{program.text(call.expression)}` is not used: it returns a new image, and the old one "
                "stays as it was.",
                severity=Severity.ERROR,
            )
        elif isinstance(parent, ast.Expr) and call.name in _HF_COPIES and _is_hugging_face(call):
            yield program.finding(
                changed_copy_dropped,
                call.expression,
                f"The result of `{call.name[1:]}` is not used: it returns a new dataset, and `{receiver_text(call)}` "
                "stays as it was.",
                severity=Severity.ERROR,
            )
        elif isinstance(parent, ast.Assign) and parent.value is call.node and _shuffles_in_place(call):
            yield program.finding(
                changed_copy_dropped,
                call.expression,
                f"`{ast.unparse(parent.targets[0])}` becomes None: `{call.name.lstrip('.')}` shuffles in place and "
                "returns nothing.",
                severity=Severity.ERROR,
            )


def _returns_changed_image(call: Call) -> bool:
    if call.name == "()":
        return bool(transform_steps(call.receiver)[0]) and bool(call.args or call.keywords)
    if call.name in (".resize", ".convert", ".rotate", ".crop"):
        return isinstance(call.receiver, Call) and call.receiver.name == "PIL.Image.open"
    made = re.fullmatch(
        r"torchvision\.transforms\.functional\.[a-z]\w*|numpy\.(flip|fliplr|flipud|rot90)|torch\.flip", call.name
    )
    return bool(made) or (
        call.name in ("cv2.flip", "cv2.resize", "cv2.cvtColor") and "dst" not in call.keywords and len(call.args) <= 2
    )


def _shuffles_in_place(call: Call) -> bool:
    if call.name == ".shuffle" and isinstance(call.receiver, Call):
        return call.receiver.name in ("random.Random", "numpy.random.default_rng", "numpy.random.RandomState")
    return call.name in ("random.shuffle", "numpy.random.shuffle")


def _is_tensor(call: Call) -> bool:
    """It is a tensor for certain: it came from a loader, or from an operation of torch."""
    value = call.receiver
    if is_module(value) or isinstance(value, Object):
        return False
    text = receiver_text(call)
    from_loader = any(isinstance(one, Pipeline) for one in [getattr(value, "of", None)])
    while isinstance(value, Call) and value.name in _COPIES and value.receiver is not None:
        value = value.receiver
    made = isinstance(value, Call) and re.fullmatch(
        r"torch\.(tensor|from_numpy|zeros|ones|randn|rand|stack|cat)|torch\.\w*Tensor", value.name
    )
    loop = loops_around(call)
    bound = (
        bool(loop)
        and isinstance(loop[-1], ast.For)
        and text in {one.id for one in ast.walk(loop[-1].target) if isinstance(one, ast.Name)}
    )
    named = bool(
        re.fullmatch(r"(batch_)?(x|y|images?|imgs?|inputs?|labels?|targets?|data|features?|masks?)(_batch)?", text)
    )
    return text.isidentifier() and (from_loader or bool(made) or (bound and named))


def _is_tried(statement: ast.stmt) -> bool:
    return any(isinstance(parent, ast.Try | ast.With) for parent, _ in enclosing(statement))


def _is_hugging_face(call: Call) -> bool:
    value = call.receiver
    while isinstance(value, Call | Item):
        if isinstance(value, Call) and value.name in (
            "datasets.load_dataset",
            "datasets.Dataset.from_dict",
            "datasets.load_from_disk",
            "datasets.Dataset.from_pandas",
        ):
            return True
        value = value.receiver if isinstance(value, Call) else value.base
    return False


@rule("P120", "counted-by-batches", Severity.WARNING)
def counted_by_batches(program: Program) -> Iterator[Finding]:
    """A score is divided by the wrong number: correct examples by batches, or a part by the whole dataset.

    Why it matters:
        `len(loader)` is the number of batches, `len(loader.dataset)` that of examples. The accuracy comes out as the
        average number of correct examples per batch, which is mostly above 1.

    Example:
        `correct += (output.argmax(1) == y).sum().item()`, then `accuracy = correct / len(loader)`.

    Fix:
        Divide by `len(loader.dataset)`, or by the number of examples that were counted.
    """
    lengths = {
        id(call.node): call.args[0]
        for call in program.calls
        if call.name == "builtins.len" and call.args and isinstance(call.args[0], Pipeline)
    }
    one_by_one = program.mentions(r"batch_size=1\b")
    for node in program.source.nodes:
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div):
            continue
        loader = lengths.get(id(node.right))
        size = loader.source.call.argument(1, "batch_size") if loader and loader.source.call else None
        counted = _length_of(node.right)
        if loader is None and (one_by_one or not counted or not _goes_over(node, counted)):
            continue  # a loader that is given to the function is known by its loop
        if loader and (
            loader.source.kind != "torch" or size is None or (isinstance(size, Literal) and size.value == 1)
        ):
            continue
        names = [one.id for one in ast.walk(node.left) if isinstance(one, ast.Name)]
        area = function_of(node) or program.source.tree
        if len(names) == 1 and _counts_correct(area, names[0]):
            yield program.finding(
                counted_by_batches,
                node,
                f"`{ast.unparse(node)}` divides the number of correct examples by the number of batches, not of "
                "examples.",
            )
    yield from _over_the_whole(program)


def _length_of(node: ast.expr) -> str:
    """The source of what `len(...)` counts."""
    match node:
        case ast.Call(func=ast.Name(id="len"), args=[counted]) if isinstance(counted, ast.Name | ast.Attribute):
            return ast.unparse(counted) if not ast.unparse(counted).endswith(("dataset", "sampler")) else ""
    return ""


def _goes_over(node: ast.AST, loader: str) -> bool:
    """A loop near a node goes over a loader and takes the class of the highest score of each example in a batch."""
    for loop in ast.walk(function_of(node) or ast.Module([], [])):
        if isinstance(loop, ast.For) and re.search(rf"(^|[(, ]){re.escape(loader)}($|[), ])", ast.unparse(loop.iter)):
            text = "\n".join(map(ast.unparse, loop.body))
            return bool(re.search(r"(argmax|max)\(.*\b1\b", text))
    return False


def _over_the_whole(program: Program) -> Iterator[Finding]:
    """A sum over the part that a sampler draws is divided by the length of the whole dataset."""
    drawn = {
        name: pipeline
        for pipeline in program.pipelines
        if pipeline.source.kind == "torch" and pipeline.source.call is not None
        for name in pipeline.names
        if isinstance(sampler := pipeline.source.call.argument(3, "sampler"), Call)
        and sampler.name.endswith("SubsetRandomSampler")
    }
    for node in program.source.nodes:
        match node:
            case ast.BinOp(
                left=left,
                op=ast.Div(),
                right=ast.Call(func=ast.Name(id="len"), args=[ast.Attribute(value=ast.Name(id=name), attr="dataset")]),
            ) if name in drawn:
                yield program.finding(
                    counted_by_batches,
                    node,
                    f"`len({name}.dataset)` is the length of the whole dataset, and `{name}` draws a part of it with a "
                    f"sampler: divide `{ast.unparse(left)}` by `len({name}.sampler)`.",
                )


def _counts_correct(area: ast.AST, name: str) -> bool:
    for node in ast.walk(area):
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and ast.unparse(node.target) == name:
            value = ast.unparse(node.value)
            if re.search(r"==|\.eq\(", value) and ".sum(" in value and "mean" not in value and "/" not in value:
                return True
    return False


@rule("P121", "training-step-without-loss", Severity.ERROR)
def training_step_without_loss(program: Program) -> Iterator[Finding]:
    """The `training_step` of a Lightning module returns no loss, or one without gradients.

    Why it matters:
        Lightning calls `backward` on what `training_step` returns. Without it, the batch is skipped, and the weights
        never change.

    Example:
        `def training_step(self, batch, i): loss = ...; self.log("loss", loss)`, and no `return loss`.

    Fix:
        End with `return loss`.
    """
    for one in program.classes:
        step = next(
            (
                node
                for node in one.definition.body
                if isinstance(node, ast.FunctionDef) and node.name == "training_step"
            ),
            None,
        )
        if step is None or not derives_from(one, r"pytorch_lightning\.LightningModule"):
            continue
        text = ast.unparse(one.definition)
        returns = [node for node in ast.walk(step) if isinstance(node, ast.Return) and node.value is not None]
        raises = any(isinstance(node, ast.Raise | ast.Yield) for node in ast.walk(step))
        if "automatic_optimization" in text or "manual_backward" in text or raises:
            continue
        if not returns and any(isinstance(node, ast.Assign) for node in ast.walk(step)):
            yield program.finding(
                training_step_without_loss,
                step.body[-1],
                "`training_step` returns nothing: Lightning skips every batch, and the weights never change.",
            )
        for node in returns:
            if node.value is not None and re.search(r"\.(item|detach)\(\)$", ast.unparse(node.value)):
                yield program.finding(
                    training_step_without_loss,
                    node,
                    "`training_step` returns a loss without gradients: Lightning cannot train with it.",
                )


LOOP_VALUE_RULES = [loss_keeps_graph, changed_copy_dropped, counted_by_batches, training_step_without_loss]
