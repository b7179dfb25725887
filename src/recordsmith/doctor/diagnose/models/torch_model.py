"""PyTorch modules: a deep copy is looked at and trained. Imported only where a module was given."""

from __future__ import annotations

import copy
import gc
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.doctor.diagnose.models.losses import loss_facts
from recordsmith.doctor.diagnose.models.probe import (
    LayerInputs,
    ModelProbe,
    Trainer,
    layer_facts,
    output_facts,
    short_reason,
)
from recordsmith.doctor.diagnose.observing.batch import Batch, Values
from recordsmith.doctor.diagnose.observing.model_facts import ModelFacts, OutputFacts

__all__ = ["TorchProbe", "TorchTrainer"]

_LOOKED_AT_ROWS = 64
_SMALL = 1_000_000  # weights
_ACTIVATIONS = {
    "Softmax": "softmax",
    "Sigmoid": "sigmoid",
    "LogSoftmax": "log_softmax",
    "Linear": "linear",
    "Tanh": "tanh",
    "ReLU": "relu",
}
_DIFFERENT_IN_TRAINING = ("Dropout", "Dropout1d", "Dropout2d", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d")


class TorchProbe(ModelProbe):
    """A copy of a module that is looked at."""

    def __init__(self, model: Any, loss: Any) -> None:
        self._model = model
        self._loss = loss
        self._known: dict[str, Any] = {}

    @classmethod
    def open(cls, model: Any, loss: Any) -> tuple[TorchProbe | None, str]:
        """Return the probe, or why there is none."""
        try:
            probe = cls(copy.deepcopy(model).eval(), loss)
        except Exception as error:  # noqa: BLE001 - a module may hold what cannot be copied
            return None, f"The model cannot be copied, so it was not tried: {short_reason(error)}"
        probe._known = optimizers_of(model)
        different = any(type(one).__name__ in _DIFFERENT_IN_TRAINING for one in model.modules())
        probe._known["evaluating"] = different and not model.training
        return probe, ""

    def facts(self, batch: Batch) -> ModelFacts:
        """Return what can be known of it, and what it answers to a batch."""
        import torch

        known: dict[str, Any] = {"loss": loss_facts(self._loss, torch=True), "activation": _activation(self._model)}
        weights = list(self._model.parameters())
        known |= {"weights": len(weights), "learnt": sum(one.requires_grad for one in weights)}
        known |= self._known
        known["pretrained"] = _pretrained(self._model)
        turned: list[str] = []
        norms: list[str] = []
        device = _device(self._model)
        seen: list[LayerInputs] = []
        handles = [
            module.register_forward_pre_hook(_watching(name, module, seen))
            for name, module in self._model.named_modules()
            if not list(module.children()) and list(module.parameters(recurse=False))
        ]
        rows = min(batch.rows, _LOOKED_AT_ROWS)
        handles += [
            module.register_forward_pre_hook(_watching_time(name, rows, turned))
            for name, module in self._model.named_modules()
            if _takes_time_first(module)
        ]
        handles += [
            module.register_forward_pre_hook(_watching_norm(name, norms))
            for name, module in self._model.named_modules()
            if type(module).__name__ == "BatchNorm1d"
        ]
        try:
            with torch.no_grad(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                answer = called(self._model, _tensors(batch.given[0], batch.inputs, _LOOKED_AT_ROWS, device))
        except Exception as error:  # noqa: BLE001 - what a model says to a batch is what is asked for
            return ModelFacts("torch", **known, **_from_layers(seen), refusal=short_reason(error))
        finally:
            for handle in handles:
                handle.remove()
        known |= _from_layers(seen)
        known |= {"time_first": turned[0] if turned else "", "batch_norm": norms[0] if norms else ""}
        if not hasattr(answer, "detach"):
            return ModelFacts("torch", **known)
        known["output"] = output_facts(answer.detach().cpu().float().numpy())
        known["activation"] = known["activation"] or self._squashes(batch, device, known["output"])
        if self._loss is not None and batch.target:
            target = _tensors(batch.given[1], batch.target, _LOOKED_AT_ROWS, device)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    self._loss(answer, target)
            except Exception as error:  # noqa: BLE001 - as above
                known["loss_refusal"] = short_reason(error)
            else:
                known["pairs_rows"] = _pairs_rows(self._loss, answer, target)
        return ModelFacts("torch", **known)

    def _squashes(self, batch: Batch, device: Any, output: OutputFacts) -> str:
        """Return "sigmoid" if outputs stay between 0 and 1 for inputs that are a hundred times larger, and differ more.

        The layer may be a function in `forward`, which no list of layers shows. Raw scores would grow with the inputs.
        """
        import torch

        inputs = _tensors(batch.given[0], batch.inputs, _LOOKED_AT_ROWS, device)
        if not 0 <= output.min <= output.max <= 1 or output.sums_to_one or not output.finite:
            return ""
        if not isinstance(inputs, torch.Tensor) or not inputs.is_floating_point():
            return ""
        try:
            with torch.no_grad():
                answers = torch.cat([called(self._model, inputs * times) for times in (100, -100)])
        except Exception:  # noqa: BLE001 - a model that refuses such inputs: nothing is known then
            return ""
        low, high = float(answers.min()), float(answers.max())
        return "sigmoid" if low >= 0 and high <= 1 and high - low > max(0.5, output.max - output.min) else ""

    def trainer(self) -> Trainer | None:
        """Return what trains the copy."""
        learnt = any(one.requires_grad for one in self._model.parameters())
        return TorchTrainer(self._model, self._loss) if self._loss is not None and learnt else None


def _pairs_rows(loss: Any, answer: Any, target: Any) -> bool:
    """Whether a loss changes if targets change places: one that compares all with all does not.

    It is tried on outputs that are the targets. Where all targets are above all outputs, the mean absolute error of the
    real ones does not change either.
    """
    import torch

    try:
        numbers = torch.arange(target.numel(), device=answer.device)
        outputs, targets = numbers.reshape(answer.shape).to(answer), numbers.reshape(target.shape).to(target)
        paired, moved = float(loss(outputs, targets)), float(loss(outputs, targets.roll(1, 0)))
    except Exception:  # noqa: BLE001 - several targets, or a loss for other shapes: nothing is known then
        return False
    return not abs(paired - moved) <= 1e-4 * max(abs(paired), abs(moved))


class TorchTrainer(Trainer):
    """Trains a copy of a module, by Adam."""

    def __init__(self, model: Any, loss: Any) -> None:
        import torch

        self._torch = torch
        self._first = model
        self._loss = loss
        self._threads = torch.get_num_threads()
        if sum(one.numel() for one in model.parameters()) < _SMALL:
            torch.set_num_threads(1)  # threads that wait for each other cost a small model more than they save
        self.reset()

    def close(self) -> None:
        """Give PyTorch its threads back."""
        self._torch.set_num_threads(self._threads)

    def reset(self) -> None:
        """Begin again."""
        self._model = copy.deepcopy(self._first).eval()
        self._learnt = [one for one in self._model.parameters() if one.requires_grad]
        self._optimizer = self._torch.optim.Adam(self._learnt)

    def prepared(self, batch: Batch, rows: npt.NDArray[np.int64] | None = None, order: Any = None) -> Any:
        """Return inputs and targets as tensors."""
        device = _device(self._model)
        inputs = _tensors(batch.given[0], batch.inputs, None, device)
        target = _tensors(batch.given[1], batch.target, None, device)
        return _taken(inputs, rows), _taken(target, rows if order is None else order)

    def gradients(self, batch: Any) -> tuple[float, list[npt.NDArray[Any] | None]]:
        """Return the loss, and the gradients."""
        loss = self._mean(self._loss(called(self._model, batch[0]), batch[1]))
        found = self._torch.autograd.grad(loss, self._learnt, allow_unused=True)
        return float(loss.detach()), [None if one is None else one.detach().cpu().numpy() for one in found]

    def step(self, batch: Any, rate: float) -> float:
        """Take one step."""
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        self._optimizer.zero_grad()
        loss = self._mean(self._loss(called(self._model, batch[0]), batch[1]))
        loss.backward()
        self._optimizer.step()
        return float(loss.detach())

    def row_losses(self, batch: Any) -> npt.NDArray[np.float64]:
        """Return the loss of groups of 8 rows."""
        with self._torch.no_grad():
            answer = called(self._model, batch[0])
            parts = range(0, len(answer), 8)
            losses = [float(self._mean(self._loss(answer[i : i + 8], batch[1][i : i + 8]))) for i in parts]
        return np.array(losses, np.float64)

    def _mean(self, loss: Any) -> Any:
        return loss.mean()


def called(model: Any, inputs: Any) -> Any:
    """Call a module as its inputs suggest: a dict by names, a list by position.

    >>> called(lambda x: x + 1, 1), called(lambda a, b: a + b, [1, 2]), called(lambda a, b: a - b, {"b": 1, "a": 3})
    (2, 3, 2)
    """
    if isinstance(inputs, dict):
        try:
            return model(**inputs)
        except TypeError:
            return model(inputs)
    if isinstance(inputs, (list, tuple)):
        return model(*inputs)
    return model(inputs)


def _device(model: Any) -> Any:
    first = next(iter(model.parameters()), None)
    return "cpu" if first is None else first.device


def _tensors(given: Any, columns: dict[str, Values], limit: int | None, device: Any) -> Any:
    import torch

    def one(value: Any) -> Any:
        if not hasattr(value, "detach"):
            array = np.asarray(value)
            if array.dtype.kind in "OSU":
                return value
            value = torch.as_tensor(np.ascontiguousarray(array).copy())
        return value.to(device) if limit is None or value.ndim == 0 else value[:limit].to(device)

    if isinstance(given, dict):
        return {name: one(value) for name, value in given.items()}
    if isinstance(given, (tuple, list)) and len(columns) > 1:
        return [one(value) for value in given]
    column = columns.get("")
    return one(given if hasattr(given, "detach") or not isinstance(column, np.ndarray) else column)


def _taken(value: Any, rows: Any) -> Any:
    if rows is None:
        return value
    if isinstance(value, dict):
        return {name: _taken(one, rows) for name, one in value.items()}
    if isinstance(value, (tuple, list)):
        return [_taken(one, rows) for one in value]
    return value[np.asarray(rows)]


def _activation(model: Any) -> str:
    """Return what the last module of a Sequential is; of other modules the order of calls is not known."""
    if type(model).__name__ != "Sequential" or not len(model):
        return ""
    last = model[-1]
    if type(last).__name__ == "Sequential":
        return _activation(last)
    return _ACTIVATIONS.get(type(last).__name__, "")


def _watching(name: str, module: Any, seen: list[LayerInputs]) -> Any:
    kind = type(module).__name__
    role = "embedding" if kind in ("Embedding", "EmbeddingBag") else "normalising" if "Norm" in kind else "linear"
    entries = int(module.num_embeddings) if role == "embedding" else None

    def watched(_module: Any, inputs: tuple[Any, ...]) -> None:
        first: Any = inputs[0] if inputs else None
        if hasattr(first, "detach"):
            seen.append(LayerInputs(name or kind, role, first.detach().cpu().float().numpy(), entries))

    return watched


def _takes_time_first(module: Any) -> bool:
    """Whether a layer of sequences takes the time first, as those of PyTorch do unless they are told otherwise."""
    if type(module).__name__ in ("RNN", "LSTM", "GRU", "MultiheadAttention"):
        return not module.batch_first
    return hasattr(module, "self_attn") and getattr(module.self_attn, "batch_first", True) is False


def _watching_time(name: str, rows: int, turned: list[str]) -> Any:
    def watched(module: Any, inputs: tuple[Any, ...]) -> None:
        shape = tuple(getattr(inputs[0], "shape", ())) if inputs else ()
        if len(shape) == 3 and shape[0] == rows and shape[1] != rows:
            turned.append(f"{name or 'the model'} ({type(module).__name__})")

    return watched


def _watching_norm(name: str, found: list[str]) -> Any:
    """Note layers that cannot be trained on a single row: of (1, values), each statistic is over one value."""

    def watched(_module: Any, inputs: tuple[Any, ...]) -> None:
        if inputs and getattr(inputs[0], "ndim", 0) == 2:
            found.append(name)

    return watched


def _pretrained(model: Any) -> str:
    """Return the class of a torchvision model with trained weights: its statistics are no longer the initial ones."""
    for module in model.modules():
        if type(module).__module__.startswith("torchvision.models"):
            known = [one for one in module.modules() if getattr(one, "running_mean", None) is not None]
            return type(module).__name__ if any(bool(one.running_mean.any()) for one in known) else ""
    return ""


def optimizers_of(model: Any) -> dict[str, Any]:
    """Return what is known of the optimizers of the program, found among all its objects."""
    import torch

    kinds = (torch.optim.Optimizer, torch.nn.Module)
    objects = [one for one in gc.get_objects() if issubclass(type(one), kinds)]
    found = {id(one): _weights_of(one) for one in objects if isinstance(one, kinds[0])}
    mine = {id(weight) for weight in model.parameters()}
    having = [one for one in objects if id(one) in found and mine & {id(weight) for weight in found[id(one)]}]
    if len(having) == 1:
        return {"optimizer": type(having[0]).__name__, "learning_rate": float(having[0].param_groups[0]["lr"])}
    # A twin of the model that is gone, of which only the optimizer is left.
    shapes = sorted(tuple(weight.shape) for weight in model.parameters())
    twins = [weights for weights in found.values() if sorted(tuple(one.shape) for one in weights) == shapes]
    modules = [one for one in objects if isinstance(one, kinds[1])]
    owned = {id(weight) for module in modules for weight in module._parameters.values()}  # noqa: SLF001 - no copies
    gone = bool(twins) and not any(id(weight) in owned for weights in twins for weight in weights)
    return {"other_optimizer": gone and not having}


def _weights_of(optimizer: Any) -> list[Any]:
    return [weight for group in optimizer.param_groups for weight in group["params"]]


def _from_layers(seen: list[LayerInputs]) -> dict[str, Any]:
    described = [layer_facts(one) for one in seen if one.values.size]
    return {
        "first_layer": described[0] if described else None,
        "embeddings": tuple(one for one in described if one.kind == "embedding"),
        "normalises": any(one.kind == "normalising" for one in seen),
    }
