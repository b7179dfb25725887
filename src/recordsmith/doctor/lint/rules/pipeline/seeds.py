"""Rules on what is set too often, or never: constant seeds for each example, generators that are never fitted."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Group, Literal, Value
from recordsmith.doctor.lint.libraries.control_flow import function_of
from recordsmith.doctor.lint.libraries.image_generators import flow_of
from recordsmith.doctor.lint.libraries.randomness import drawn_in
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["SEED_RULES"]

_SEEDS = {"random.seed", "numpy.random.seed", "tensorflow.random.set_seed", "torch.manual_seed"}
_MAKES = {"numpy.random.RandomState", "numpy.random.default_rng", "random.Random"}
_STATELESS = re.compile(
    r"tensorflow\.(image\.stateless_random_\w+|random\.stateless_(uniform|normal|truncated_normal))"
)
_WHOLE_RUN = re.compile(
    r"seed|reprod|determin|train|fold|run|main|experiment|trial|fit|split|setup|init|evaluat|test|model"
)
_TRAINS = {".fit", ".compile", ".train_on_batch", ".backward", ".apply_gradients", ".evaluate"}


@rule("P282", "seed-set-for-each-example", Severity.WARNING)
def seed_set_for_each_example(program: Program) -> Iterator[Finding]:
    """A constant seed is set inside a function that runs for each example.

    Why it matters:
        After the same seed the same random numbers come: every example gets the same crop, the same angle, the same
        choice. What was meant as augmentation is the same change of everything, and code that draws next is affected
        too.

    Example:
        `def augment(image): random.seed(42); return rotate(image, random.randint(-90, 90))`

    Fix:
        Set the seed once, at the beginning of the program. To change an image and its mask alike, draw the numbers once
        and use them for both.
    """
    seen: set[int] = set()
    for call in program.calls:
        constant = _constant_seed(call)
        if constant is None or id(call.node) in seen or not _runs_for_each(call):
            continue
        inside = [one for one in program.calls if one.within[: len(call.within)] == call.within]
        if any(one.name in _TRAINS for one in inside) or _WHOLE_RUN.search(call.within[-1].rpartition(":")[2]):
            continue
        stateless = _STATELESS.fullmatch(call.name) is not None
        if not stateless and not any(drawn_in(one) is one for one in inside):
            continue
        seen.add(id(call.node))
        yield program.finding(
            seed_set_for_each_example,
            call.expression,
            f"The seed {constant} is the same for each example: every example gets the same random numbers.",
        )


def _constant_seed(call: Call) -> str | None:
    if call.name in _SEEDS or call.name in _MAKES:
        value = call.argument(0, "seed", "x", "a")
    elif _STATELESS.fullmatch(call.name):
        value = call.argument(None, "seed")
    else:
        return None
    return _written_down(value)


def _written_down(value: Value | None) -> str | None:
    if isinstance(value, Literal) and isinstance(value.value, int) and not isinstance(value.value, bool):
        return str(value.value)
    if isinstance(value, Group) and value.members and all(_written_down(one) is not None for one in value.members):
        return f"({', '.join(str(_written_down(one)) for one in value.members)})"
    return None


def _runs_for_each(call: Call) -> bool:
    """It is in the function of a `map`, in `__getitem__`, or in a function that a loop over examples calls."""
    if not call.within:
        return False
    if call.in_map or call.within[-1] == "__getitem__":
        return True
    signature = getattr(function_of(call.expression), "args", None)
    own = {one.arg for one in signature.args} if isinstance(signature, ast.arguments) else set()
    chosen = any(isinstance(one, ast.Name) and one.id in own for one in call.expression.args)  # as of made-up data
    repeated = bool(call.via) and _is_repeated(call.via[-1]) and bool(call.via[-1].args)
    return repeated and not chosen and call.name not in _MAKES


def _is_repeated(node: ast.AST) -> bool:
    one: ast.AST | None = node
    while one is not None and not isinstance(one, ast.FunctionDef | ast.Module):
        if isinstance(one, ast.For | ast.ListComp | ast.GeneratorExp):
            return True
        one = getattr(one, "parent", None)
    return False


@rule("P283", "generator-never-fitted", Severity.ERROR)
def generator_never_fitted(program: Program) -> Iterator[Finding]:
    """An ImageDataGenerator is to standardise images by the mean of the data, and is never given the data.

    Why it matters:
        `featurewise_center`, `featurewise_std_normalization` and `zca_whitening` need `datagen.fit(x_train)`. Without
        it, Keras prints a warning and feeds the images as they are.

    Example:
        `ImageDataGenerator(featurewise_center=True).flow(x_train, y_train)`

    Fix:
        `datagen.fit(x_train)` before the first `flow`, for each generator that has these options.
    """
    fitted = {id(one.receiver) for one in program.calls if one.name == ".fit"}
    set_by_hand = {id(one.receiver) for one in program.calls if one.name == ".__setattr__"}
    seen: set[int] = set()
    for call in program.calls:
        flow = flow_of(call)
        if flow is None or id(flow.generator) in fitted | set_by_hand | seen or not flow.learns:
            continue
        seen.add(id(flow.generator))
        yield program.finding(
            generator_never_fitted,
            flow.generator.expression,
            f"`{flow.learns[0]}` needs `fit` on the training images, which this generator never gets: the images are "
            "fed as they are.",
            advice="Call `fit(x_train)` on it before `flow`.",
        )


SEED_RULES = [seed_set_for_each_example, generator_never_fitted]
