"""What was understood of a program, and what was not."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.loops import pipelines_in
from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Group,
    Item,
    Many,
    Operation,
    Parameter,
    Value,
    options_of,
    walk,
)
from recordsmith.doctor.lint.libraries.fitting import model_uses
from recordsmith.doctor.lint.libraries.image_generators import flow_of
from recordsmith.doctor.lint.libraries.torch.modules import is_module
from recordsmith.doctor.lint.program import Program
from recordsmith.report.followed_file import FollowedFile

__all__ = ["first_unknown", "trains_or_reads", "understood"]

_TRAINS = {".fit", ".fit_generator", ".train", ".train_on_batch"}
_GIVES_DATA = re.compile(r"(load|data|input|reader|pipeline|generator|split|batch)", re.IGNORECASE)
# What calls of these mean is known, or is no data.
_KNOWN = sys.stdlib_module_names | {
    "builtins", "tensorflow", "keras", "torch", "numpy", "scipy", "matplotlib", "seaborn", "plotly", "absl", "click",
    "tqdm", "IPython", "recordsmith", "pytest", "six", "gin", "wandb", "yaml", "omegaconf", "hydra", "ml_collections",
    "tensorflow_datasets", "PIL", "cv2", "optax", "rich", "psutil", "joblib", "google", "cloudpickle", "attr",
    "sklearn", "pandas", "imblearn", "torchvision", "skimage", "imageio",
}  # fmt: skip
_LIBRARIES = {
    "tensorflow", "keras", "tf_keras", "torch", "torchvision", "jax", "flax", "tensorflow_datasets", "lightning",
    "pytorch_lightning", "transformers", "datasets", "keras_cv", "keras_hub", "keras_nlp", "tfrecord", "webdataset",
}  # fmt: skip
_ARRAYS = (Call, Group, Item, Many, Operation)
_TOO_LARGE = "not followed to its end: the program is too large"
_TOO_DEEP = "not followed to its end: it is nested too deeply"


def understood(program: Program) -> FollowedFile:
    """Count what was followed, and name what was not."""
    sources = {id(one.source): one for one in program.pipelines if not one.source.of}
    trained = {id(one.source) for use in program.uses if use.role == "training" for one in use.pipeline.origins()}
    places = {id(use.node) for use in program.uses if use.role == "training"}
    models = {
        id(one.receiver) for one in program.calls if one.name in (".compile", ".fit") and one.receiver is not None
    }
    uses = (one.model for one in model_uses(program.calls))
    models |= {id(one) for one in uses if isinstance(one, Call) and one.name.startswith("keras.")}
    flows = {id(one.node) for one in program.calls if flow_of(one) is not None}
    trainings = [use for use in model_uses(program.calls) if use.role == "training"]
    fed = {id(use.inputs.node) for use in trainings if flow_of(use.inputs) is not None}
    arrays = [use for use in trainings if isinstance(use.inputs, _ARRAYS) and not pipelines_in(use.inputs)]
    models |= {id(one.program_class.definition) for one in program.instances if is_module(one)}  # of PyTorch
    return FollowedFile(
        program.source.path,
        datasets=len({id(one.source.call.node) if one.source.call else key for key, one in sources.items()} | flows),
        trained_on=(len({one for one in trained if one in sources}) or min(len(places), len(sources))) + len(fed),
        arrays=len(
            {id(use.call.node) for use in arrays if id(use.inputs.node) not in flows and id(use.model) in models}
        ),
        models=len(models),
        readers=len({id(one.call.node) for one in program.parse_specs}),
        writers=len({id(one.call.node) for one in program.examples} | _filled(program)),
        splits=len({id(one.node) for one in program.calls if one.name.endswith("train_test_split")}),
        not_understood=tuple(dict.fromkeys(name for name, _ in _unknown(program))),
        stopped=_TOO_LARGE if program.too_large else _TOO_DEEP if program.cut_short else "",
    )


def _filled(program: Program) -> set[int]:
    """The places that make an Example whose lists are filled afterwards."""
    made = [
        one for one in program.calls if one.name == "tensorflow.train.Example" and not one.args and not one.keywords
    ]
    return {id(one.node) for one in made}


def trains_or_reads(program: Program) -> bool:
    """Tell whether a program uses a library for training or for data at all."""
    for node in program.source.nodes:
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
        if any(name.partition(".")[0] in _LIBRARIES for name in names):
            return True
    return False


def first_unknown(program: Program) -> ast.AST | None:
    """Return the first place that could not be followed; without one, the first statement."""
    body = program.source.tree.body
    return next((node for _, node in _unknown(program)), body[0] if body else None)


def _unknown(program: Program) -> Iterator[tuple[str, ast.AST]]:
    """What could not be followed, and where."""
    for call in program.calls:
        if call.name in _TRAINS and call.args:
            for value in options_of(call.args[0]):
                names = _named(value) if not pipelines_in(value) else ()
                yield from ((name, call.expression) for name in names)
        elif _is_foreign(call) and _GIVES_DATA.search(call.name.rpartition(".")[2]):
            yield _called(call), call.expression


def _named(value: Value) -> Iterator[str]:
    """What is trained on, where it is not a dataset that was followed: who gives it."""
    if isinstance(value, Parameter):
        yield f"`{value.name}`, which is given by a caller"
        return
    for one in walk(value, limit=200):
        if isinstance(one, Call) and _is_foreign(one):
            yield _called(one)
            return


def _is_foreign(call: Call) -> bool:
    return not call.name.startswith((".", "(")) and call.name.partition(".")[0] not in _KNOWN and "." in call.name


def _called(call: Call) -> str:
    module, _, name = call.name.rpartition(".")
    return f"`{name}()` from `{module}`"
