"""PyTorch training loops: the steps that they take, in the order in which the program takes them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from recordsmith.doctor.lint.interpreter.loops import pipelines_in
from recordsmith.doctor.lint.interpreter.machine import Arguments, Machine
from recordsmith.doctor.lint.interpreter.scope import Scope
from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Element,
    Function,
    Literal,
    Object,
    ProgramClass,
    Symbol,
    Unknown,
    Value,
)
from recordsmith.doctor.lint.libraries.control_flow import enclosing, function_of, loops_around, root_of
from recordsmith.doctor.lint.libraries.remembered import once_per_program
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Use
from recordsmith.doctor.lint.libraries.torch.modules import is_optimizer, key_of

__all__ = ["Step", "has_no_gradients", "optimizers", "receiver_text", "trained_by_library", "training_steps"]

_OPTIMIZER = re.compile(r"optim|(^|[._])opt(_|$|[._])|^sgd|^adam", re.IGNORECASE)


# Libraries that run the loop: where the model and the loss are among their arguments.
_TRAINERS: dict[str, tuple[tuple[int | None, str], tuple[int | None, str]]] = {
    "ignite.engine.create_supervised_trainer": ((0, "model"), (2, "loss_fn")),
    "skorch.NeuralNetClassifier": ((0, "module"), (1, "criterion")),
    "skorch.NeuralNetRegressor": ((0, "module"), (1, "criterion")),
    "skorch.NeuralNet": ((0, "module"), (1, "criterion")),
    "fastai.learner.Learner": ((1, "model"), (2, "loss_func")),
    "fastai.vision.all.Learner": ((1, "model"), (2, "loss_func")),
    "poutyne.Model": ((0, "network"), (2, "loss_function")),
    "torchbearer.Trial": ((0, "model"), (2, "criterion")),
}


_LIGHTNING = re.compile(r"(lightning|pytorch_lightning)(\.pytorch)?\.(trainer\.)?Trainer")


def _lightning_steps(machine: Machine, call: Call) -> None:
    """Follow the steps of a LightningModule with what its loaders give, as `trainer.fit` does."""
    module, source = call.argument(0, "model"), call.argument(1, "train_dataloaders", "datamodule")
    if not isinstance(module, Object):
        return
    owner = source if isinstance(source, Object) else module  # a LightningDataModule, or the module has the loaders
    for hook in ("prepare_data", "setup"):
        _hook(machine, owner, hook)
    given = {"training_step": source, "validation_step": call.argument(2, "val_dataloaders")}
    for step, value in given.items():
        training = step == "training_step"
        if isinstance(value, Object) or value is None:
            value = _hook(machine, owner, "train_dataloader" if training else "val_dataloader")  # noqa: PLW2901 - the same
        for pipeline in pipelines_in(value):
            machine.uses.append(Use("training" if training else "validation", pipeline, call.expression))
            _hook(machine, module, step, pipeline.element, Unknown())


def _hook(machine: Machine, owner: Object, name: str, *arguments: Value) -> Value | None:
    """Follow a method that a library calls, if the class has it."""
    member = owner.program_class.members.get(name)
    if not isinstance(member, Function):
        return None
    exact = bool(arguments) or not member.definition.args.args[1:]
    return machine.follow(Function(member.definition, member.scope, owner=owner), Arguments(arguments, exact=exact))


def trained_by_library(machine: Machine, call: Call) -> None:
    """Give the output of the model to the loss, as a library will do in its training loop."""
    if call.name == ".fit" and isinstance(call.receiver, Call) and _LIGHTNING.fullmatch(call.receiver.name):
        _lightning_steps(machine, call)
        return
    places = _TRAINERS.get(call.name)
    if places is None or call.node is None:
        return
    model, loss = (call.argument(*place) for place in places)
    for value in (model, loss):
        if value is None or isinstance(value, Unknown):
            return
    made = [
        machine.apply(one, Arguments(), call.expression, Scope()) if isinstance(one, ProgramClass | Symbol) else one
        for one in (model, loss)
        if one is not None
    ]
    output = machine.apply(made[0], Arguments((Element(batched=True),)), call.expression, Scope())
    machine.apply(made[1], Arguments((output, Element(batched=True))), call.expression, Scope())


@dataclass(frozen=True, slots=True)
class Step:
    """One step of training.

    Attributes:
        kind: "backward", "step", "zero" (gradients are cleared), "eval", "train", or "mode" (either of them).
        call: the call.
        loops: the loops that it runs in, outermost first.
        key: what stands for the optimizer or the model, as `key_of` gives it.
        root: the function that it was reached from, or None for the module itself.
    """

    kind: str
    call: Call
    loops: tuple[ast.AST, ...]
    key: object
    root: ast.AST | None

    @property
    def loop(self) -> ast.AST | None:
        """The innermost loop."""
        return self.loops[-1] if self.loops else None


def receiver_text(call: Call) -> str:
    """Return the source of what a method is called on."""
    function = getattr(call.node, "func", None)
    return ast.unparse(function.value) if isinstance(function, ast.Attribute) else ""


def has_no_gradients(node: ast.AST) -> bool:
    """Tell whether a piece of source certainly runs without gradients: inside `with torch.no_grad():`, or decorated."""
    withs = [parent for parent, _ in enclosing(node) if isinstance(parent, ast.With)]
    texts = [ast.unparse(item.context_expr) for one in withs for item in one.items]
    texts += [ast.unparse(one) for one in getattr(function_of(node), "decorator_list", [])]
    return any(re.search(r"(^|\.)(no_grad|inference_mode)(\(\))?$|set_grad_enabled\(False\)", text) for text in texts)


def optimizers(calls: list[Call]) -> list[Call]:
    """Return the optimizers that a program makes."""
    return [call for call in calls if is_optimizer(call)]


@once_per_program
def training_steps(calls: list[Call]) -> Iterator[Step]:
    """Yield the steps in order."""
    for call in calls:
        kind = _kind(call)
        if kind:
            key = key_of(call)
            if kind == "step" and call.args and is_optimizer(call.args[0]):
                key = id(call.args[0])
            yield Step(kind, call, loops_around(call), key, root_of(call))


def _kind(call: Call) -> str:
    match call.name:
        case ".backward" | ".manual_backward":
            return "backward"
        case ".zero_grad":
            return "zero"
        case ".step" if is_optimizer(call.receiver) or _OPTIMIZER.search(receiver_text(call)):
            return "step"
        case ".step" if "scaler" in receiver_text(call) and call.args:
            return "step"
        case ".eval" if not call.args and not call.keywords:
            return "eval"
        case ".train" if len(call.args) + len(call.keywords) <= 1:
            return _mode(call.argument(0, "mode"))
    return ""


def _mode(value: Value | None) -> str:
    if value is None:
        return "train"
    if isinstance(value, Literal) and isinstance(value.value, bool):
        return "train" if value.value else "eval"
    return "mode"
