"""Rules on what a PyTorch loss is given: scores or probabilities, shapes, gradients, class numbers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Element,
    Item,
    Literal,
    Operation,
    Value,
    options_of,
    walk,
)
from recordsmith.doctor.lint.libraries.control_flow import loops_around
from recordsmith.doctor.lint.libraries.torch.modules import is_module, is_optimizer, losses
from recordsmith.doctor.lint.libraries.torch.tensors import last_layer, tensor_shape
from recordsmith.doctor.lint.libraries.torch.training import has_no_gradients
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.torch_training.targets import units_of
from recordsmith.rules import Finding, Rule, Severity, rule

__all__ = ["OUTPUT_RULES", "activation_in_torch"]

_SECOND = {  # what a loss has inside, or expects
    (
        "cross_entropy",
        "softmax",
    ): "`CrossEntropyLoss` applies a softmax itself, and the model ends with one: the second "
    "one flattens the scores, the gradients almost vanish, and the loss cannot come near 0",
    ("cross_entropy", "sigmoid"): "`CrossEntropyLoss` takes raw scores, and the model ends with a sigmoid: the scores "
    "stay between 0 and 1, and the loss cannot come near 0",
    ("cross_entropy", "relu"): "`CrossEntropyLoss` takes raw scores, and the model ends with a ReLU: negative scores "
    "become 0, and a unit that gives only 0 learns no more",
    ("binary_cross_entropy_with_logits", "sigmoid"): "`BCEWithLogitsLoss` applies a sigmoid itself, and the model ends "
    "with one: applied twice, it keeps every output between 0.5 and 0.73",
    ("binary_cross_entropy_with_logits", "softmax"): "`BCEWithLogitsLoss` takes raw scores, and the model ends with a "
    "softmax: every output stays between 0.5 and 0.73",
    ("nll_loss", ""): "`NLLLoss` takes log-probabilities, and the model gives raw scores: the loss falls without end "
    "and means nothing",
    ("nll_loss", "softmax"): "`NLLLoss` takes log-probabilities, and the model ends with a softmax without the "
    "logarithm: the gradient does not depend on how wrong the model is",
    ("binary_cross_entropy", ""): "`BCELoss` takes probabilities, and the model gives raw scores: it stops with an "
    "error, or learns nothing",
    ("binary_cross_entropy", "relu"): "`BCELoss` takes probabilities, and the model ends with a ReLU: values above 1 "
    "stop it with an error",
}
_ADVICE = {
    "cross_entropy": "Leave out the activation at the end of the model; apply it to predictions only.",
    "binary_cross_entropy_with_logits": "Leave out the activation at the end of the model, or use `BCELoss`.",
    "nll_loss": "End the model with `log_softmax`, or use `CrossEntropyLoss` with raw scores.",
    "binary_cross_entropy": "Use `BCEWithLogitsLoss`, or end the model with a sigmoid.",
}
_COMPARES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")


def activation_in_torch(program: Program, found_by: Rule[Any]) -> Iterator[Finding]:
    """Find models that end with what the loss applies itself, or without what it expects."""
    seen: set[int] = set()
    for call, loss, prediction, _, _ in losses(program.calls):
        layer = last_layer(prediction)
        message = _SECOND.get((loss, layer[0]), "") if layer else ""
        if layer and message and id(layer[1].node) not in seen and layer[1].node is not None:
            seen.add(id(layer[1].node))
            yield program.finding(
                found_by,
                layer[1].expression,
                f"{message}.",
                advice=_ADVICE[loss],
                evidence={"loss": program.text(call.expression)},
            )


@rule("P112", "loss-without-gradient", Severity.ERROR)
def loss_without_gradient(program: Program) -> Iterator[Finding]:
    """A loss is computed from a prediction that gradients cannot pass through.

    Why it matters:
        `argmax`, `detach`, `.data`, `.item()`, a comparison or a new `torch.tensor` cut the connection to the weights.
        `backward` then fails, or, with `requires_grad=True` set by hand, runs and changes nothing.

    Example:
        `loss = criterion(model(x).argmax(1).float(), y)`

    Fix:
        Give the loss the output of the model itself; use `argmax` for the accuracy only. Never wrap a loss in a new
        tensor.
    """
    yield from _cut_from_its_model(program)
    yield from _left_without_gradients(program)
    yield from _part_without_gradient(program)
    ends = [call.receiver for call in program.calls if call.name == ".backward"]
    for end in ends:
        made = _new_tensor(end)
        if made is not None:
            yield program.finding(
                loss_without_gradient,
                made.expression,
                "The loss is a new tensor of plain numbers (`.item()`), which has no connection to the weights: "
                "`backward()` runs, and the weights never change.",
            )
            return
    for end in ends:
        for option in options_of(end):
            if isinstance(option, Call) and option.name in ("torch.tensor", "torch.autograd.Variable", "torch.Tensor"):
                inner = option.argument(0, "data")
                if any(isinstance(one, Call) and list(losses([one])) for one in walk(inner, 100)):
                    yield program.finding(
                        loss_without_gradient,
                        option.expression,
                        "The loss is wrapped in a new tensor, which has no connection to the weights: `backward()` "
                        "runs, and the weights never change.",
                    )
    backwards = {id(one) for end in ends for one in walk(end, 60)}
    for call, _, prediction, target, _ in losses(program.calls):
        cut = _cut(prediction)
        output = _unchanged(prediction)
        off = _is_model_call(output) and output.node is not None and has_no_gradients(output.node)
        others = [one for one in walk(target, 200) if isinstance(one, Call) and one.name == "()" and one is not output]
        if id(call) in backwards and off and all(one.node and has_no_gradients(one.node) for one in others):
            yield program.finding(
                loss_without_gradient,
                output.node or call.expression,
                "The model runs without gradients here (`no_grad`), and its loss is to train it: `backward()` fails, "
                "or changes nothing.",
                advice="Run the model outside `torch.no_grad()` for training.",
            )
            return
        if cut and id(call) in backwards:
            yield program.finding(
                loss_without_gradient,
                call.expression,
                f"The prediction goes through `{cut}` before the loss: gradients stop there, and the weights never "
                "change.",
            )


def _part_without_gradient(program: Program) -> Iterator[Finding]:
    """`ce + 0.5 * mse.data`: a part of the loss is a number, which changes no gradient."""
    known = {id(call) for call, _, _, _, _ in losses(program.calls)}
    for end in (call.receiver for call in program.calls if call.name == ".backward"):
        parts = _summands(end) if isinstance(end, Operation) else []
        for part in parts if len(parts) > 1 else ():
            match part:
                case Item(base=inner, index=Literal(value="data"), attribute=True):
                    pass
                case Call(name=".detach" | ".item", receiver=inner) if inner is not None:
                    pass
                case _:
                    continue
            if id(inner) in known and part.node is not None:
                yield program.finding(
                    loss_without_gradient,
                    part.node,
                    f"`{program.text(part.node)}` is a plain number without gradients: this part of the loss trains "
                    "nothing.",
                    severity=Severity.WARNING,
                )
                return


def _summands(value: Value) -> list[Value]:
    """What a sum adds up, without the factors."""
    match value:
        case Operation(operator="+", operands=operands):
            return [one for part in operands for one in _summands(part)]
        case Operation(operator="*" | "/", operands=operands):
            found: list[Value] = [one for one in operands if isinstance(one, Call | Item)]
            return found if len(found) == 1 else [value]
    return [value]


def _left_without_gradients(program: Program) -> Iterator[Finding]:
    """`torch.set_grad_enabled(False)` in a loop over epochs that trains, and nothing sets it back."""
    if program.mentions(r"set_grad_enabled\((?!False)|enable_grad"):
        return
    for call in program.calls:
        if call.name != "torch.set_grad_enabled" or not isinstance(getattr(call.node, "parent", None), ast.Expr):
            continue
        epochs = {id(loop) for loop in loops_around(call)}
        trained = [one for one in program.calls if one.name == ".backward" and epochs & set(map(id, loops_around(one)))]
        if trained:
            yield program.finding(
                loss_without_gradient,
                call.expression,
                "Gradients are switched off here, and nothing switches them on again: from the next epoch on, "
                "`backward()` fails, or changes nothing.",
                advice="Use `with torch.no_grad():` around the validation.",
            )
            return


def _unchanged(value: Value) -> Value:
    """What a model returned, before its shape or type was changed."""
    while True:
        match value:
            case Item(base=inner):
                value = inner
            case Call(name=name, receiver=Value() as inner) if name in _RESHAPES:
                value = inner
            case _:
                return value


_RESHAPES = {".squeeze", ".view", ".reshape", ".flatten", ".float", ".transpose", ".permute", ".to"}


def _is_model_call(value: Value) -> bool:
    """It is what a model returns, also one that the program does not show."""
    if not isinstance(value, Call) or value.name != "()":
        return False
    return is_module(value.receiver) or bool(re.search(r"model|net\b|^self$", _called(value)))


def _called(call: Call) -> str:
    """The source of what is called."""
    return ast.unparse(call.node.func) if isinstance(call.node, ast.Call) else ""


def _new_tensor(value: Value | None) -> Call | None:
    """A new tensor that a loss is computed from, and that has nothing in it but numbers of other tensors."""
    for _ in range(8):
        match value:
            case Call(name="torch.tensor" | "torch.FloatTensor" | "torch.Tensor"):
                inner = list(walk(value.argument(0), 60))
                return value if any(isinstance(one, Call) and one.name == ".item" for one in inner) else None
            case Call(name=".sum" | ".mean" | ".requires_grad_" | ".to" | ".cuda"):
                value = value.receiver
            case Call(name="torch.sum" | "torch.mean"):
                value = value.argument(0)
            case _:
                return None
    return None


_CUTS = {
    ".argmax": "argmax", "torch.argmax": "argmax", ".detach": "detach", ".item": "item", ".numpy": "numpy",
    ".tolist": "tolist", "torch.tensor": "torch.tensor", ".round": "round", "torch.round": "round",
}  # fmt: skip


def _cut(value: Value | None, depth: int = 12) -> str | None:
    if depth == 0:
        return None
    match value:
        case Call(name=name) if name in _CUTS:
            return _CUTS[name]
        case Call(name="torch.max" | ".max"):
            return None
        case Item(base=base, index=Literal(value="data"), attribute=True):
            return "data" if _is_output(base) else None
        case Item(base=Call(name="torch.max" | ".max"), index=Literal(value=1)):
            return "max(...)[1]"
        case Operation(operator="compare"):
            return "a comparison"
        case Call(
            name=".float" | ".squeeze" | ".view" | ".to" | ".unsqueeze" | ".reshape" | ".requires_grad_" | ".cuda"
        ):
            return _cut(value.receiver, depth - 1)
    return None


def _is_output(value: Value) -> bool:
    return isinstance(value, Call) and (value.name == "()" or last_layer(value) is not None)


@rule("P113", "loss-broadcasts", Severity.ERROR)
def loss_broadcasts(program: Program) -> Iterator[Finding]:
    """A loss compares predictions of shape (N, 1) with targets of shape (N,), or the other way round.

    Why it matters:
        The two are broadcast to (N, N): every prediction is compared with every target. The loss is smallest when all
        predictions are the mean of the targets, and that is what the model learns.

    Example:
        `nn.MSELoss()(model(x), y)` with a last layer of one unit and `y` of shape (N,).

    Fix:
        Give both the same shape: `model(x).squeeze(1)`, or `y.unsqueeze(1)`.
    """
    resized = {id(one.receiver) for one in program.calls if one.name == ".resize"}  # an array, in place
    for call, loss, prediction, target, _ in losses(program.calls):
        if loss not in _COMPARES or any(id(part) in resized for part in walk(target, 60)):
            continue
        one, other = tensor_shape(prediction), tensor_shape(target)
        if one is None or other is None or {len(one), len(other)} != {1, 2}:
            one = one if one is not None else _column(prediction)
            if one is None or other is None or {len(one), len(other)} != {1, 2}:
                continue
        wide = one if len(one) == 2 else other
        if wide[1] == 1:
            texts = [f"(N, {shape[1]})" if len(shape) == 2 else "(N,)" for shape in (one, other)]
            yield program.finding(
                loss_broadcasts,
                call.expression,
                f"The predictions have shape {texts[0]} and the targets {texts[1]}: the loss broadcasts them to "
                "(N, N), and compares every prediction with every target.",
            )
    yield from _differences(program)


def _differences(program: Program) -> Iterator[Finding]:
    """A loss written by hand: the difference of outputs and targets, of which one has an axis more."""
    seen: set[int] = set()
    for value in program.operations:
        match value:
            case Operation(operator="-" | "+" | "*" as sign, operands=(first, second)):
                outputs = [one for one in (first, second) if last_layer(one) is not None]
                others = [one for one in (first, second) if last_layer(one) is None and (sign == "-" or _is_given(one))]
            case _:
                continue
        if len(outputs) != 1 or len(others) != 1 or value.node is None or id(value.node) in seen:
            continue
        one, other = tensor_shape(outputs[0]) or _column(outputs[0]), tensor_shape(others[0])
        if not one or not other or len(one) != 2 or one[1] != 1 or len(other) != 1:
            continue
        seen.add(id(value.node))
        yield program.finding(
            loss_broadcasts,
            value.node,
            f"The predictions have shape (N, 1) and the targets (N,): `{program.text(value.node)}` is broadcast to "
            "(N, N), and every prediction is compared with every target.",
        )


def _is_given(value: Value) -> bool:
    """It comes from the loader as it is."""
    while isinstance(value, Call) and value.name in (".float", ".to", ".double", ".cuda") and value.receiver:
        value = value.receiver
    return isinstance(value, Element) and value.batched


def _column(prediction: Value) -> tuple[int | None, ...] | None:
    """(N, 1) for the output of a layer with one unit, where the input is not known and nothing changes the shape."""
    if isinstance(prediction, Call) and prediction.name == "()":
        layer = last_layer(prediction)
        if layer and layer[1].name == "torch.nn.Linear" and units_of(layer[1]) == 1:
            return (None, 1)
    return None


def _cut_from_its_model(program: Program) -> Iterator[Finding]:
    """An optimizer steps after a loss whose connection to its model is cut: `D(fake.detach())` for the generator."""
    latest: Call | None = None
    for call in program.calls:
        if call.name == ".backward":
            latest = call
        model = _model_of(call.receiver) if call.name == ".step" else None
        if model is None or latest is None or latest.receiver is None or latest.node is None:
            continue
        if call.via != latest.via or not loops_around(call) or loops_around(call) != loops_around(latest):
            continue
        reached = list(_with_gradient(latest.receiver))
        if _runs(model, reached) or not _runs(model, list(walk(latest.receiver, 1000))):
            continue
        others = [one for one in program.calls if one.name == ".backward" and one is not latest]
        if any(_runs(model, list(_with_gradient(one.receiver))) for one in others if one.receiver is not None):
            continue
        yield program.finding(
            loss_without_gradient,
            latest.expression,
            f"`{program.text(call.expression)}` has nothing to apply: `detach()` cuts this loss from the parameters "
            "that it trains.",
        )
        return


def _model_of(optimizer: Value | None) -> Call | None:
    """The one module of layers that an optimizer trains."""
    given = optimizer.argument(0, "params") if isinstance(optimizer, Call) and is_optimizer(optimizer) else None
    module = given.receiver if isinstance(given, Call) and given.name == ".parameters" else None
    return module if isinstance(module, Call) else None


def _with_gradient(value: Value) -> Iterator[Value]:
    """A loss and what it was computed from, as far as gradients reach."""
    seen: set[int] = set()
    waiting = [value]
    while waiting and len(seen) < 1000:
        one = waiting.pop()
        if id(one) in seen or (isinstance(one, Call) and one.name in (".detach", ".item", ".numpy", ".argmax")):
            continue
        seen.add(id(one))
        yield one
        waiting.extend(one.parts())


def _runs(model: Call, values: list[Value]) -> bool:
    return any(isinstance(one, Call) and one.name == "()" and one.receiver is model for one in values)


OUTPUT_RULES = [loss_without_gradient, loss_broadcasts]
