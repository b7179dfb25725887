"""Rules on what a PyTorch loop trains on, its learning rate, and where its classes are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Element, Group, Item, Literal, Value, walk
from recordsmith.doctor.lint.libraries.control_flow import loops_around, root_of
from recordsmith.doctor.lint.libraries.models import output_units
from recordsmith.doctor.lint.libraries.torch.modules import losses
from recordsmith.doctor.lint.libraries.torch.tensors import sequence_of
from recordsmith.doctor.lint.libraries.torch.training import optimizers, receiver_text, training_steps
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["SCHEDULE_RULES"]

_PER_BATCH = {"torch.optim.lr_scheduler.OneCycleLR", "torch.optim.lr_scheduler.CyclicLR"}
_TEST_LOADER = re.compile(
    r"(self\.)?(val|valid|validation|test|eval|dev)_?(data)?_?(loader|dl|iter|iterator|batches)", re.IGNORECASE
)


@rule("P129", "schedule-out-of-step", Severity.WARNING)
def schedule_out_of_step(program: Program) -> Iterator[Finding]:
    """A learning rate schedule is stepped once per epoch where it counts batches, too often, or too early.

    Why it matters:
        `OneCycleLR` and `CyclicLR` count optimizer steps. Stepped once per epoch, they stay at the beginning of their
        cycle, with a tiny learning rate. A schedule that is made for a number of epochs and stepped in every batch is
        at its end after a fraction of the first epoch.

    Example:
        `OneCycleLR(optimizer, 0.1, epochs=10, steps_per_epoch=len(loader))` with `scheduler.step()` after the loop over
        the batches.

    Fix:
        Call `scheduler.step()` after each `optimizer.step()` for the first kind, and once per epoch for the second.
    """
    steps = [one for one in training_steps(program.calls) if one.kind == "step" and one.loops]
    stepped: dict[int, list[Call]] = {}
    for call in program.calls:
        if call.name == ".step" and isinstance(call.receiver, Call) and "lr_scheduler." in call.receiver.name:
            stepped.setdefault(id(call.receiver), []).append(call)
    for calls in stepped.values():
        call, schedule = calls[0], calls[0].receiver
        near = [one for one in steps if one.root is root_of(call)]
        if len(calls) != 1 or not isinstance(schedule, Call) or not near:
            continue
        own, deepest = loops_around(call), max((one.loops for one in near), key=len)
        first = next(one for one in near if one.loops == deepest)
        if _comes_first(program, call, first.call) and own and deepest[: len(own)] == own:
            yield program.finding(
                schedule_out_of_step,
                call.expression,
                "The scheduler takes its step before the optimizer does: the first learning rate of the schedule is "
                "skipped.",
                advice="Call `scheduler.step()` after the loop over the batches.",
            )
            continue
        if schedule.name in _PER_BATCH and len(own) < len(deepest) and deepest[: len(own)] == own:
            yield program.finding(
                schedule_out_of_step,
                call.expression,
                f"`{schedule.name.rpartition('.')[2]}` counts batches, but is stepped once per epoch: it stays at the "
                "beginning of its cycle.",
            )
        elif own == deepest and len(own) > 1 and _is_for_epochs(schedule, own) and not call.undecided:
            yield program.finding(
                schedule_out_of_step,
                call.expression,
                f"`{schedule.name.rpartition('.')[2]}` is made for a number of epochs, but is stepped in every batch: "
                "it is at its end within the first epochs.",
            )


def _comes_first(program: Program, schedule: Call, step: Call) -> bool:
    """A schedule is stepped, without a number, before the optimizer in the same turn of a loop."""
    if schedule.args or schedule.keywords or schedule.undecided or schedule.via or step.node is None:
        return False
    if "Plateau" in getattr(schedule.receiver, "name", ""):
        return False
    return program.calls.index(schedule) < program.calls.index(step) and schedule.node is not None


def _is_for_epochs(schedule: Call, loops: tuple[ast.AST, ...]) -> bool:
    """Its numbers are those of epochs: one is called so, or all are below the number of epochs."""
    short = schedule.name.rpartition(".")[2]
    if short == "CosineAnnealingLR":
        node = schedule.expression
        named = next((one.value for one in node.keywords if one.arg == "T_max"), None)
        given = named or (node.args[1] if len(node.args) > 1 else None)
        return given is not None and bool(
            re.fullmatch(r"[\w.]*(num_|n_|max_)?epochs?", ast.unparse(given), re.IGNORECASE)
        )
    if short not in ("StepLR", "MultiStepLR"):
        return False
    value = schedule.argument(1, "step_size", "milestones")
    numbers = [
        one.value for one in (value.members if isinstance(value, Group) else (value,)) if isinstance(one, Literal)
    ]
    epochs = _turns(loops[0])
    whole = [one for one in numbers if isinstance(one, int)]
    return epochs is not None and bool(whole) and len(whole) == len(numbers) and max(whole) < epochs


def _turns(loop: ast.AST) -> int | None:
    """How often `for epoch in range(50)` runs."""
    if not isinstance(loop, ast.For) or "epoch" not in ast.unparse(loop.target).lower():
        return None
    match loop.iter:
        case ast.Call(func=ast.Name(id="range"), args=[*_, ast.Constant(value=int() as number)]):
            return number
        case ast.Call(func=ast.Name(id="range"), args=[*_, ast.Name(id=name)]):
            module: ast.AST | None = loop
            while module is not None and not isinstance(module, ast.Module):
                module = getattr(module, "parent", None)
            for node in module.body if isinstance(module, ast.Module) else ():
                match node:
                    case ast.Assign(targets=[ast.Name(id=found)], value=ast.Constant(value=int() as number)):
                        if found == name:
                            return number
    return None


@rule("P130", "trained-on-validation-data", Severity.WARNING)
def trained_on_validation_data(program: Program) -> Iterator[Finding]:
    """A loop over validation or test data changes the weights.

    Why it matters:
        The model learns the data that it is judged by. The score is too good, and says nothing about new data.

    Example:
        `for x, y in val_loader:` with `loss.backward()` and `optimizer.step()` in it.

    Fix:
        Compute the loss only, inside `with torch.no_grad():`, without `backward` and `step`.
    """
    steps = [one for one in training_steps(program.calls) if one.kind == "step"]
    seen: set[int] = set()
    for step in steps:
        loop = step.loop
        if not isinstance(loop, ast.For) or id(loop) in seen:
            continue
        over = ast.unparse(loop.iter)
        inner = re.fullmatch(r"(?:enumerate|tqdm|tqdm\.tqdm)\((.*?)(?:, .*)?\)", over)
        name = inner[1] if inner else over
        direct = any(node is step.call.node for node in ast.walk(loop))
        if direct and _TEST_LOADER.fullmatch(name):
            seen.add(id(loop))
            yield program.finding(
                trained_on_validation_data,
                loop,
                f"The loop over `{name}` calls `{receiver_text(step.call)}.step()`: the model is trained on the data "
                "that it is judged by.",
            )


@rule("P131", "classes-along-the-batch", Severity.ERROR)
def classes_along_the_batch(program: Program) -> Iterator[Finding]:
    """A softmax or an argmax over the classes runs along the batch.

    Why it matters:
        The output of a classifier has the batch as its first axis and the classes as its second. With `dim=0`, each
        class is compared across the examples of the batch: the probabilities of one example do not add up to 1, and
        the predicted "class" is the number of an example.

    Example:
        `F.log_softmax(self.fc(x), dim=0)`; `output.argmax(dim=0)`

    Fix:
        Use `dim=1`.
    """
    for call, loss, prediction, _, _ in losses(program.calls):
        if loss in ("nll_loss", "cross_entropy") and isinstance(prediction, Call) and _along_batch(prediction):
            yield program.finding(
                classes_along_the_batch,
                prediction.expression if prediction.node is not None else call.expression,
                "The softmax runs along the batch (`dim=0`), not along the classes: use `dim=1`.",
            )
            return
    for call in program.calls:
        short = call.name.rpartition(".")[2]
        if _over_predicted_examples(program, call):
            yield program.finding(
                classes_along_the_batch,
                call.expression,
                "`argmax` runs along the examples that were predicted (`axis=0`), not along the classes: use `axis=1`.",
                advice="Use `axis=1`, or `axis=-1`.",
            )
            return
        layer = _softmax_layer(call)
        if layer is not None:
            yield program.finding(
                classes_along_the_batch,
                layer.expression,
                "This softmax runs along the batch (`dim=0`), not along the classes: use `dim=1`.",
            )
            return
        if short not in ("argmax", "max", "softmax", "log_softmax") or not isinstance(call.node, ast.Call):
            continue
        source = _scores(call.receiver if call.name.startswith(".") else call.argument(0, "input", "a"))
        mixes = any(isinstance(one, Call) and _MIXES.fullmatch(one.name) for one in walk(source, 300))
        if not _is_batch_output(source) or (mixes and short.endswith("softmax")):
            continue  # the softmax of an attention may run along time, which can be the first axis
        if _along_batch(call):
            message = f"`{short}` runs along the batch (`dim=0`), not along the classes: use `dim=1`."
        elif short == "argmax" and call.exact and len(call.args) + len(call.keywords) == (call.receiver is None):
            if not isinstance(getattr(call.node, "parent", None), ast.Compare):
                continue
            message = "`argmax` without `dim` gives one number for the whole batch, not a class for each example."
        else:
            continue
        yield program.finding(classes_along_the_batch, call.expression, message)
        return


def _over_predicted_examples(program: Program, call: Call) -> bool:
    """`np.argmax(model.predict(x), axis=0)` of a model of Keras that gives several numbers for each example."""
    if call.name not in ("numpy.argmax", "tensorflow.argmax", "tensorflow.math.argmax", ".argmax"):
        return False
    predicted = call.receiver if call.name == ".argmax" else call.argument(0, "a", "input")
    if not isinstance(predicted, Call) or predicted.name != ".predict" or not _along_batch(call):
        return False
    return (output_units(predicted.receiver, program.calls) or 1) > 1


def _along_batch(call: Call) -> bool:
    method = call.name.startswith(".")
    softmax = call.name.rpartition(".")[2] in ("softmax", "log_softmax")
    if not softmax and call.name.rpartition(".")[2] not in ("argmax", "max"):
        return False
    if call.name == "()":
        return False
    given = call.argument(0 if method else 1, "dim", "axis")
    return isinstance(given, Literal) and given.value == 0 and given.value is not False


_MIXES = re.compile(r"torch\.(cat|stack|bmm|matmul|einsum)|torch\.nn\.(LSTM|GRU|RNN|MultiheadAttention)|\.(bmm|matmul)")


def _scores(value: Value | None) -> Value | None:
    """The scores that an argmax is taken of, before a softmax and the way to numpy."""
    while isinstance(value, Call) and value.name in _TO_NUMPY:
        value = value.receiver if value.name.startswith(".") else value.argument(0)
    return value


_TO_NUMPY = {".cpu", ".numpy", ".detach", ".to", "torch.softmax", "torch.nn.functional.softmax", ".softmax"}


def _softmax_layer(call: Call) -> Call | None:
    """`nn.Softmax(dim=0)`, called on the scores of a batch, or at the end of a model that is."""
    if call.name != "()" or not isinstance(call.receiver, Call) or not call.args:
        return None
    parent = getattr(call.node, "parent", None)
    mixes = any(isinstance(one, Call) and _MIXES.fullmatch(one.name) for one in walk(call.args[0], 300))
    if call.within[-1:] == ("forward",) and (mixes or not isinstance(parent, ast.Return)):
        return None  # attention along time, and the like
    layers = sequence_of(call.receiver)
    layer = layers[-1] if layers else call.receiver
    of_batch = _is_batch_output(call.args[0]) if layer is call.receiver else _is_batch_output(call)
    axis = layer.argument(0, "dim") if layer.name in ("torch.nn.Softmax", "torch.nn.LogSoftmax") else None
    first = isinstance(axis, Literal) and axis.value == 0 and axis.value is not False
    return layer if first and of_batch and isinstance(layer.node, ast.Call) else None


def _is_batch_output(value: Value | None) -> bool:
    """It is what a layer gives for a whole batch of a loader, or the scores of a pretrained classifier."""
    match value:
        case Item(base=Call(name="()", receiver=model), index=Literal(value="logits"), attribute=True):
            return isinstance(model, Call) and bool(re.search(r"For(Sequence|Image)Classification\b", model.name))
    if not isinstance(value, Call) or value.name != "()" or not isinstance(value.receiver, Call):
        return False
    layer = value.receiver.name in ("torch.nn.Linear", "torch.nn.Sequential")
    layer |= bool(re.fullmatch(r"torchvision\.models\.[a-z]\w*", value.receiver.name))
    return layer and any(_is_batch(one) for one in walk(value, 300))


def _is_batch(value: Value) -> bool:
    if isinstance(value, Call) and value.name == ".unsqueeze" and value.args:
        return isinstance(value.args[0], Literal) and value.args[0].value == 0
    return isinstance(value, Element) and value.batched


@rule("P148", "rate-destroys-weights", Severity.WARNING)
def rate_destroys_weights(program: Program) -> Iterator[Finding]:
    """The learning rate of a PyTorch optimizer is far too high for the weights of a network.

    Why it matters:
        Adam changes every weight by about the learning rate in each step. Weights are around 0.1: with a rate of 1 the
        first steps destroy them. Plain gradient descent diverges with rates of 5 and more. The loss becomes constant or
        NaN.

    Example:
        `torch.optim.Adam(model.parameters(), lr=1.0)`

    Fix:
        Begin with `lr=0.001` for Adam, and with `lr=0.01` for SGD.
    """
    for made in optimizers(program.calls):
        short = made.name.rpartition(".")[2]
        rate, given = made.argument(1, "lr"), made.argument(0, "params")
        limit = _LARGEST.get(short)
        number = rate.value if isinstance(rate, Literal) and not rate.default else None
        network = isinstance(given, Call) and given.name == ".parameters" and not _is_linear(given.receiver)
        clipped = short == "SGD" and program.mentions("clip")  # then a step is no longer than the rate allows
        if limit is not None and network and not clipped and isinstance(number, int | float) and number >= limit:
            yield program.finding(
                rate_destroys_weights,
                made.expression,
                f"A learning rate of {number:g} is far too high for `{short}`: the first steps destroy the weights.",
            )


def _is_linear(model: Value | None) -> bool:
    """A single linear layer: nothing is lost if its weights become large."""
    layers = (sequence_of(model) if isinstance(model, Call) else None) or []
    only = layers[0] if len(layers) == 1 else model
    return isinstance(only, Call) and only.name == "torch.nn.Linear"


_LARGEST = {"Adam": 0.5, "AdamW": 0.5, "NAdam": 0.5, "RAdam": 0.5, "Adamax": 0.5, "RMSprop": 0.5, "SGD": 5.0}


SCHEDULE_RULES = [schedule_out_of_step, trained_on_validation_data, classes_along_the_batch, rate_destroys_weights]
