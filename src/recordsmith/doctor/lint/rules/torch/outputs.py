"""Rules on what a PyTorch loss is given: scores or probabilities, shapes, gradients, class numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Element,
    Group,
    Item,
    Literal,
    Operation,
    Slice,
    Value,
    options_of,
    walk,
)
from recordsmith.doctor.lint.libraries.control_flow import loops_around
from recordsmith.doctor.lint.libraries.torch.modules import is_optimizer, losses
from recordsmith.doctor.lint.libraries.torch.tensors import last_layer, number_range, tensor_shape
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Rule, Severity, rule

__all__ = ["OUTPUT_RULES", "activation_in_torch", "labels_beyond_output_in_torch"]

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


def labels_beyond_output_in_torch(program: Program, found_by: Rule[Any]) -> Iterator[Finding]:
    """Find class numbers that are not below the number of outputs."""
    for call, loss, prediction, target, options in losses(program.calls):
        layer = last_layer(prediction)
        shape = _units(layer[1]) if layer and layer[0] == "" else None
        bounds = number_range(target)
        if loss not in ("cross_entropy", "nll_loss") or shape is None or options.argument(None, "ignore_index"):
            continue
        if bounds is not None and bounds[1] >= shape and bounds[0] >= 0 and layer is not None:
            from_one = " Class numbers must begin at 0." if bounds[0] == 1 else ""
            yield program.finding(
                found_by,
                call.expression,
                f"The labels go from {bounds[0]} to {bounds[1]}, but the model has {shape} outputs, for classes 0 to "
                f"{shape - 1}.{from_one}",
                advice="Subtract 1 from the labels." if bounds[0] == 1 else "",
                evidence={"largest": bounds[1], "units": shape},
            )
            continue
        counted = _counted_from_one(target)
        if counted is not None and _is_length_of(layer, counted):
            yield program.finding(
                found_by,
                counted.expression,
                "The classes are numbered from 1, but the model has one output for each of them, for classes 0 to the "
                "number of classes - 1: the last class has no output.",
                advice="Number the classes from 0: leave out the start of `enumerate`.",
            )


def _units(layer: Call) -> int | None:
    size = layer.argument(1, "out_features", "out_channels") if layer.name != "torch.nn.Embedding" else None
    return size.value if isinstance(size, Literal) and isinstance(size.value, int) else None


def _counted_from_one(target: Value) -> Call | None:
    for one in walk(target, 300):
        if isinstance(one, Call) and one.name == "builtins.enumerate":
            start = one.argument(1, "start")
            if isinstance(start, Literal) and start.value == 1:
                return one
    return None


def _is_length_of(layer: tuple[str, Call] | None, counted: Call) -> bool:
    size = layer[1].argument(1, "out_features") if layer else None
    return (
        isinstance(size, Call)
        and size.name == "builtins.len"
        and bool(counted.args)
        and size.args[0] is counted.args[0]
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
    ends = [call.receiver for call in program.calls if call.name == ".backward"]
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
    for call, _, prediction, _, _ in losses(program.calls):
        cut = _cut(prediction)
        if cut and id(call) in backwards:
            yield program.finding(
                loss_without_gradient,
                call.expression,
                f"The prediction goes through `{cut}` before the loss: gradients stop there, and the weights never "
                "change.",
            )


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
    for call, loss, prediction, target, _ in losses(program.calls):
        if loss not in _COMPARES:
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
            case Operation(operator="-", operands=(first, second)):
                outputs = [one for one in (first, second) if last_layer(one) is not None]
                others = [one for one in (first, second) if last_layer(one) is None]
            case _:
                continue
        if len(outputs) != 1 or value.node is None or id(value.node) in seen:
            continue
        one, other = tensor_shape(outputs[0]) or _column(outputs[0]), tensor_shape(others[0])
        from_loader = isinstance(others[0], Element) and others[0].batched
        if not one or not other or len(one) != 2 or one[1] != 1 or len(other) != 1 or not from_loader:
            continue
        seen.add(id(value.node))
        yield program.finding(
            loss_broadcasts,
            value.node,
            "The predictions have shape (N, 1) and the targets (N,): their difference is broadcast to (N, N), and "
            "every prediction is compared with every target.",
        )


def _column(prediction: Value) -> tuple[int | None, ...] | None:
    """(N, 1) for the output of a layer with one unit, where the input is not known and nothing changes the shape."""
    if isinstance(prediction, Call) and prediction.name == "()":
        layer = last_layer(prediction)
        if layer and layer[1].name == "torch.nn.Linear" and _units(layer[1]) == 1:
            return (None, 1)
    return None


@rule("P114", "batch-and-time-swapped", Severity.WARNING)
def batch_and_time_swapped(program: Program) -> Iterator[Finding]:
    """A recurrent layer or padding has time first, and the program takes the first axis for the batch.

    Why it matters:
        Without `batch_first=True`, `nn.LSTM`, `nn.GRU`, `nn.RNN` and `pad_sequence` put time first and the batch
        second. If the data has the batch first, the layer runs along the batch: examples leak into each other and
        nothing is learnt along time. Where the sizes fit, no error is raised.

    Example:
        `nn.LSTM(8, 32)`, then `out, _ = self.lstm(x)` and `out[:, -1]`.

    Fix:
        Give `batch_first=True` to the layer and to `pad_sequence`.
    """
    seen: set[int] = set()
    for item in program.items:
        if not isinstance(item, Item) or item.node is None:
            continue
        layer = _recurrent_output(item.base)
        if layer is None or id(layer.node) in seen:
            continue
        batch_first = layer.argument(None, "batch_first")
        known = batch_first is None or isinstance(batch_first, Literal)
        first = bool(batch_first.value) if isinstance(batch_first, Literal) else False
        name = layer.name.rpartition(".")[2]
        if known and layer.exact and not first and _takes_last_of_second_axis(item) and not _turned(item.base):
            seen.add(id(layer.node))
            yield program.finding(
                batch_and_time_swapped,
                layer.expression,
                f"`nn.{name}` has time first, without `batch_first=True`, but its output is indexed as if the batch "
                f"came first, in `{program.text(item.node)}`: it runs along the batch.",
            )
        elif first and isinstance(item.index, Literal) and item.index.value == -1:
            seen.add(id(layer.node))
            yield program.finding(
                batch_and_time_swapped,
                item.node,
                f"`nn.{name}` has the batch first, so `{program.text(item.node)}` is the last example of the batch, "
                "not the last step.",
                advice="Take the last step with `[:, -1]`.",
            )
    for call in program.calls:
        fed = call.receiver
        if call.name != "()" or not isinstance(fed, Call) or not _is_recurrent(fed) or id(fed.node) in seen:
            continue
        if fed.exact and fed.argument(4, "batch_first") is None and call.args and _has_batch_first(call.args[0]):
            seen.add(id(fed.node))
            yield program.finding(
                batch_and_time_swapped,
                fed.expression,
                f"`nn.{fed.name.rpartition('.')[2]}` has time first, without `batch_first=True`, but is given "
                "batches of a DataLoader, which have the batch first: it runs along the batch.",
            )
    yield from _padded_time_first(program)
    yield from _packed_time_first(program)


def _has_batch_first(value: Value | None, depth: int = 12) -> bool:
    """It is a batch as a DataLoader makes it, and nothing has moved its axes."""
    match value:
        case Element(batched=True):
            return depth < 12 or value.of is not None
        case Call(name=".to" | ".float" | ".cuda" | ".long" | ".unsqueeze") if depth:
            return _has_batch_first(value.receiver, depth - 1)
        case Call(name="()", receiver=Call(name=name), args=(inner, *_)) if depth:
            keeps = ("torch.nn.Embedding", "torch.nn.Dropout", "torch.nn.Linear", "torch.nn.LayerNorm")
            return name in keeps and _has_batch_first(inner, depth - 1)
    return False


def _recurrent_output(value: Value) -> Call | None:
    """The recurrent layer whose output a value is."""
    if isinstance(value, Item) and isinstance(value.index, Literal) and value.index.value == 0:
        call = value.base
        if isinstance(call, Call) and call.name == "()" and _is_recurrent(call.receiver):
            return call.receiver if isinstance(call.receiver, Call) else None
    return None


def _is_recurrent(value: Value | None) -> bool:
    return isinstance(value, Call) and value.name in ("torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN")


def _takes_last_of_second_axis(item: Item) -> bool:
    match item.index:
        case Group(members=(Slice(lower=None, upper=None), Literal(value=-1), *_)):
            return True
    return False


def _turned(output: Value) -> bool:
    """The input was turned to time first before."""
    call = output.base if isinstance(output, Item) else None
    given = call.args[0] if isinstance(call, Call) and call.args else None
    names = {".transpose", ".permute", ".t", "torch.transpose", ".swapaxes", "torch.stack", "einops.rearrange"}
    return any(isinstance(one, Call) and one.name in names for one in walk(given, 200))


def _padded_time_first(program: Program) -> Iterator[Finding]:
    """Padding with time first, and a recurrent layer or packing with the batch first."""
    pads = [call for call in program.calls if call.name == "torch.nn.utils.rnn.pad_sequence" and call.exact]
    loose = [call for call in pads if call.argument(1, "batch_first") is None]
    firsts = [
        call
        for call in program.calls
        if (
            _is_recurrent(call)
            or call.name in ("torch.nn.utils.rnn.pack_padded_sequence", "torch.nn.MultiheadAttention")
        )
        and isinstance(call.argument(None, "batch_first"), Literal)
        and call.argument(None, "batch_first").value  # type: ignore[union-attr]
    ]
    turned = any(call.name in (".transpose", ".permute", ".t", "torch.transpose") for call in program.calls)
    timed = [call for call in program.calls if _is_recurrent(call) or call.name.startswith("torch.nn.Transformer")]
    if not firsts and not timed:
        firsts = [call for call in program.calls if _reduces_second_axis(call)]
    if loose and firsts and len(loose) == len(pads) and not turned:
        yield program.finding(
            batch_and_time_swapped,
            loose[0].expression,
            "`pad_sequence` puts time first, without `batch_first=True`, but the model expects the batch first "
            f"(`{program.text(firsts[0].expression)}`): it runs along the batch.",
        )


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


_PACK, _UNPACK = "torch.nn.utils.rnn.pack_padded_sequence", "torch.nn.utils.rnn.pad_packed_sequence"


def _packed_time_first(program: Program) -> Iterator[Finding]:
    """Packing or unpacking with time first, beside a recurrent layer with the batch first."""
    for call in program.calls:
        fed, layer = call.args[0] if call.args else None, call.receiver
        if call.name == "()" and isinstance(layer, Call) and isinstance(fed, Call) and _is_packed_otherwise(layer, fed):
            yield program.finding(
                batch_and_time_swapped,
                fed.expression,
                "`pack_padded_sequence` has time first, without `batch_first=True`, but "
                f"`nn.{layer.name.rpartition('.')[2]}` is made for the batch first: examples are packed along the "
                "batch.",
            )
            return
        if call.name != _UNPACK or not call.exact or _is_true(call, 1, or_unknown=True):
            continue
        packs = [one for one in walk(fed, 30) if isinstance(one, Call) and one.name == _PACK]
        if (
            packs
            and _is_true(packs[0], 2)
            and any(_takes_second_axis(one, call) for one in (*program.calls, *program.items))
        ):
            yield program.finding(
                batch_and_time_swapped,
                call.expression,
                "`pad_packed_sequence` gives time first, without `batch_first=True`, and its second axis, the batch, "
                "is then used as time.",
            )
            return


def _is_packed_otherwise(layer: Call, fed: Call) -> bool:
    if not _is_recurrent(layer) or not _is_true(layer, 4) or fed.name != _PACK or not fed.exact:
        return False
    turned = any(isinstance(one, Call) and one.name in _TURNS for one in walk(fed, 60))
    return not turned and not _is_true(fed, 2, or_unknown=True)


_TURNS = {".transpose", ".permute", ".t", "torch.transpose", ".swapaxes", "einops.rearrange"}


def _is_true(call: Call, place: int, *, or_unknown: bool = False) -> bool:
    """`batch_first` is given as True; or it may be, if what is given is not known."""
    given = call.argument(place, "batch_first")
    return bool(given.value) if isinstance(given, Literal) else or_unknown and given is not None


def _takes_second_axis(value: Value, unpacked: Call) -> bool:
    """It reduces the second axis of what was unpacked, or takes its last step there."""
    match value:
        case Item(base=Item(base=base, index=Literal(value=0))):
            return base is unpacked and _takes_last_of_second_axis(value)
        case Call(name=".mean" | ".sum" | ".max" | "torch.mean" | "torch.sum" | "torch.max"):
            method = value.name.startswith(".")
            axis, given = value.argument(0 if method else 1, "dim", "axis"), value.receiver or value.argument(0)
            inside = isinstance(given, Item) and given.base is unpacked
            return inside and isinstance(axis, Literal) and axis.value == 1
    return False


def _reduces_second_axis(call: Call) -> bool:
    """A mean or maximum of embedded words, along the second axis."""
    if call.name not in (".mean", ".sum", ".max", "torch.mean", "torch.sum", "torch.max"):
        return False
    method = call.name.startswith(".")
    axis = call.argument(0 if method else 1, "dim", "axis")
    value = call.receiver if method else call.argument(0)
    embedded = any(isinstance(one, Call) and one.name == "torch.nn.Embedding" for one in walk(value, 100))
    return isinstance(axis, Literal) and axis.value == 1 and embedded


OUTPUT_RULES = [loss_without_gradient, loss_broadcasts, batch_and_time_swapped]
