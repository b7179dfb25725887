"""PyTorch modules, optimizers and losses: what they are, and what keeps their identity."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Group, Item, Object, ProgramClass, Symbol, Value
from recordsmith.doctor.lint.libraries.remembered import once_per_program

__all__ = ["WRAPS_MODULE", "derives_from", "is_module", "is_optimizer", "key_of", "loss_of", "same_object"]

# What these return behaves like the module that they are given.
WRAPS_MODULE = {
    "torch.nn.DataParallel",
    "torch.nn.parallel.DataParallel",
    "torch.nn.parallel.DistributedDataParallel",
    "torch.nn.SyncBatchNorm.convert_sync_batchnorm",
    "torch.compile",
    "torch.jit.script",
}
_RETURNS_SELF = {".to", ".cuda", ".cpu", ".float", ".half", ".double", ".train", ".eval", ".requires_grad_", ".apply"}
_MODELS = re.compile(
    r"torch\.nn\.[A-Z]\w*|torchvision\.models\.[\w.]+|timm\.create_model|segmentation_models_pytorch\.\w+"
    r"|(transformers\.(\w+\.)*\w*(Model|For[A-Z]\w*))?\.from_pretrained"
)
_LOSSES = {
    "CrossEntropyLoss": "cross_entropy",
    "NLLLoss": "nll_loss",
    "BCELoss": "binary_cross_entropy",
    "BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
    "MSELoss": "mse_loss",
    "L1Loss": "l1_loss",
    "SmoothL1Loss": "smooth_l1_loss",
    "HuberLoss": "huber_loss",
}


def derives_from(program_class: ProgramClass, names: str, depth: int = 8) -> bool:
    """Tell whether a class of the program has a base whose name matches a pattern, directly or not."""
    for base in program_class.bases:
        if isinstance(base, Symbol) and re.fullmatch(names, base.path):
            return True
        if isinstance(base, ProgramClass) and depth and derives_from(base, names, depth - 1):
            return True
    return False


def is_module(value: Value | None) -> bool:
    """Tell whether a value is a PyTorch module.

    >>> is_module(Call("torch.nn.Linear", None))
    True
    """
    if isinstance(value, Object):
        return "forward" in value.program_class.members
    if not isinstance(value, Call):
        return False
    return bool(_MODELS.fullmatch(value.name))


def is_optimizer(value: Value | None) -> bool:
    """Tell whether a value is one of PyTorch's optimizers."""
    if isinstance(value, Item) and isinstance(value.base, Call) and value.base.name == ".optimizers":
        value = value.base  # `first, second = self.optimizers()` of Lightning
    return isinstance(value, Call) and bool(re.fullmatch(r"torch\.optim\.[A-Z]\w*|\.optimizers", value.name))


def same_object(call: Call) -> Value | None:
    """Return what a method gives back: the module itself for `to` or `eval`, what Accelerate was given to prepare."""
    if call.name in _RETURNS_SELF and is_module(call.receiver):
        return call.receiver
    if call.name == ".prepare" and isinstance(call.receiver, Call) and call.receiver.name.endswith("Accelerator"):
        return call.args[0] if len(call.args) == 1 else Group(call.args)
    return None


def key_of(call: Call) -> object:
    """Return what stands for the receiver of a method: its identity where it is known, else its source."""
    if isinstance(call.receiver, Object | Call):
        return id(call.receiver)
    function = getattr(call.node, "func", None)
    return ast.unparse(function.value) if isinstance(function, ast.Attribute) else id(call)


def loss_of(call: Call) -> tuple[str, Value, Value, Call] | None:
    """Return the loss that a call computes: its functional name, the prediction, the target, and what has its options.

    >>> loss_of(Call("torch.nn.functional.mse_loss", None, (Symbol("x"), Symbol("y"))))[0]
    'mse_loss'
    """
    name, options = "", call
    if call.name == "()" and isinstance(call.receiver, Call) and call.receiver.name.startswith("torch.nn."):
        name, options = _LOSSES.get(call.receiver.name.rpartition(".")[2], ""), call.receiver
    elif call.name.startswith("torch.nn.functional.") and call.name.rpartition(".")[2] in _LOSSES.values():
        name = call.name.rpartition(".")[2]
    prediction, target = call.argument(0, "input"), call.argument(1, "target")
    return (name, prediction, target, options) if name and prediction is not None and target is not None else None


@once_per_program
def losses(calls: list[Call]) -> Iterator[tuple[Call, str, Value, Value, Call]]:
    """Yield each loss that is computed, as `loss_of` gives it, with its call."""
    for call in calls:
        found = loss_of(call)
        if found is not None:
            yield (call, *found)
