"""Rules on random augmentation: where it must not be."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.edits import move_stage
from recordsmith.doctor.lint.interpreter.values import Call, Element, Group, Item, Literal, Value, walk
from recordsmith.doctor.lint.libraries.fitting import model_uses
from recordsmith.doctor.lint.libraries.image_generators import Flow, flow_of
from recordsmith.doctor.lint.libraries.randomness import noise_in, random_changes
from recordsmith.doctor.lint.libraries.rows import bound_key
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.torch.augmented import augmented_in_torch, hugging_face_transforms
from recordsmith.doctor.lint.rules.training.ranges import is_whole_numbers, scaled_by
from recordsmith.rules import Finding, Severity, rule

__all__ = ["AUGMENTATION_RULES"]

_DRAW = re.compile(r"\brandom\b|\brandn?\(|\brandint\(|\.uniform\(")
_MOVES_ROWS = (".__setitem__", "numpy.fliplr", "numpy.flipud", "numpy.flip", "numpy.rot90", "numpy.roll", "cv2.flip")


def _called(call: Call) -> str:
    if call.name == ".__setitem__":
        return "a random number"
    if call.name != "()":
        return call.name.rpartition(".")[2]
    layers = [one.name.rpartition(".")[2] for one in walk(call.receiver) if isinstance(one, Call)]
    return next((name for name in layers if name.startswith("Random")), "a random layer")


@rule("P011", "cache-after-augmentation", Severity.WARNING)
def cache_after_augmentation(program: Program) -> Iterator[Finding]:
    """The cache comes after random augmentation.

    Why it matters:
        `cache` keeps what it sees in the first epoch: one random version of each example. Every later epoch shows
        exactly that version again, so there is no augmentation after the first epoch.

    Example:
        `dataset.map(random_flip).cache()`

    Fix:
        Cache before the augmentation: `dataset.map(decode).cache().map(random_flip)`.
    """
    for pipeline in program.finished:
        stages = pipeline.stages
        for cache in stages:
            before = pipeline.before(cache)
            if cache.name != "cache" or before is None or program.is_for_testing(pipeline):
                continue
            found = list(random_changes(before.element)) or list(noise_in(before.element))
            sure = all(_is_random(one) or any(noise_in(one.element)) for one in program.variants(before))
            if not found or any(stage.name == "take" for stage in stages):
                continue
            last = before.stage
            edits = None
            if last is not None and last.name == "map" and before.parent is not None:
                earlier = list(random_changes(before.parent.element))
                edits = move_stage(program.source_of(cache), [last, cache]) if not earlier else None
            yield program.finding(
                cache_after_augmentation,
                cache.expression,
                f"{program.name_of(pipeline)} is cached after `{_called(found[0])}`: the first random version of each "
                "example is kept, and every epoch shows it again.",
                edits=edits,
                certain=edits is not None,
                severity=None if sure else Severity.INFO,
            )


@rule("P019", "augmented-validation", Severity.WARNING)
def augmented_validation(program: Program) -> Iterator[Finding]:
    """Validation or test data is changed at random.

    Why it matters:
        The score is then measured on different data in every run, and on data that the model will never see in use: it
        varies by chance.

    Example:
        `val = val.map(augment).batch(32)` with `augment` flipping at random.

    Fix:
        Augment the training data only; for validation only decode, resize and scale.
    """
    for pipeline in program.finished:
        if not program.is_for_testing(pipeline) or program.roles(pipeline) == {"prediction"}:
            continue
        if any("tta" in name.lower() for name in pipeline.all_names) or _are_views(pipeline.element):
            continue
        found = list(random_changes(pipeline.element, certain=True)) or _changed_by_chance(pipeline)
        if found and all(_is_random(one) for one in program.variants(pipeline)):
            call = found[0]
            stage = _stage_of(pipeline, call)
            yield program.finding(
                augmented_validation,
                stage if stage is not None else call.expression,
                f"{program.name_of(pipeline)} is for validation or testing, and `{_called(call)}` changes it at "
                "random: the score differs from run to run for no reason.",
                evidence={"call": _called(call), "line": call.expression.lineno},
            )
    yield from _augmenting_generators(program)
    for call, name in hugging_face_transforms(program):
        yield program.finding(
            augmented_validation,
            call.expression,
            f"This is for validation or testing, and `{name}` changes it at random: the score differs from run to run "
            "for no reason.",
        )
    for call, pipeline, name, is_split in augmented_in_torch(program):
        yield program.finding(
            augmented_validation,
            call.expression,
            f"{program.name_of(pipeline)} is for validation or testing, and `{name}` changes it at random"
            + (", because the split has the transform of the whole dataset" if is_split else "")
            + ": the score differs from run to run for no reason.",
            advice="Make two datasets, one with the random transforms and one without, and take the training examples "
            "from the first and the others from the second, by the same indices."
            if is_split
            else "",
        )


def _are_views(element: Value) -> bool:
    """Two random versions of one image, which a model learns to tell from those of others."""
    members = element.members if isinstance(element, Group) else ()
    if len(members) < 2 or not all(any(random_changes(one, certain=True)) for one in members[:2]):
        return False
    leaves = [{id(one) for one in walk(member) if isinstance(one, Element)} for member in members[:2]]
    items = [{bound_key(one.index) for one in walk(member) if isinstance(one, Item)} for member in members[:2]]
    return bool(leaves[0]) and leaves[0] == leaves[1] and items[0] == items[1]


def _is_random(pipeline: Pipeline) -> bool:
    return any(random_changes(pipeline.element, certain=True)) or bool(_changed_by_chance(pipeline))


def _changed_by_chance(pipeline: Pipeline) -> list[Call]:
    """What a `Sequence` stores in its batch only if a random number says so: `if np.random.rand() < 0.5`."""
    steps = pipeline.source.steps if pipeline.source.kind == "sequence" else ()
    return [
        call
        for call in steps
        if call.name in _MOVES_ROWS and any(_DRAW.search(ast.unparse(one.test)) for one in call.undecided)
    ]


def _augmenting_generators(program: Program) -> Iterator[Finding]:
    """Validation or test data from an ImageDataGenerator that augments."""
    flows = [flow for call in program.calls if (flow := flow_of(call)) is not None]
    uses = list(model_uses(program.calls))
    trained = {id(use.inputs) for use in uses if use.role == "training"}  # P202 is about those
    tested = {id(use.inputs) for use in uses if use.role == "validation"} - trained
    for flow in flows:
        split = flow.constant("subset") == "validation"
        if (split or id(flow.call) in tested) and flow.augments_by:
            why = ", because both subsets come from the augmenting generator" if split else ""
            yield program.finding(
                augmented_validation,
                flow.call.expression,
                f"This is for validation or testing, and `{flow.augments_by[0]}` changes it at random{why}: the score "
                "differs from run to run for no reason.",
                advice="Make a second ImageDataGenerator without augmentation, with the same `rescale` and "
                "`validation_split`, and take the validation data from that.",
            )


def _stage_of(pipeline: Pipeline, call: Call) -> ast.Call | None:
    for one in pipeline.ancestors():
        parent = one.parent
        inside = any(value is call for value in walk(one.element))
        if inside and one.stage is not None and not (parent and any(value is call for value in walk(parent.element))):
            return one.stage.expression
    return None


@rule("P271", "augmentation-not-used", Severity.WARNING)
def augmentation_not_used(program: Program) -> Iterator[Finding]:
    """Augmentation is set up, and the model is trained on the data without it.

    Why it matters:
        The generator changes nothing by itself: only what its `flow` yields is augmented. `datagen.fit(x)` computes
        statistics for `featurewise_center` and similar options, and augments nothing.

    Example:
        `datagen = ImageDataGenerator(rotation_range=15)`, `datagen.fit(x_train)`, then `model.fit(x_train, y_train)`.

    Fix:
        `model.fit(datagen.flow(x_train, y_train, batch_size=32))`
    """
    yield from _augmented_datasets_not_used(program)
    trained = [use for use in model_uses(program.calls) if use.role == "training" and use.targets is not None]
    if not trained or program.mentions(r"\.(flow\w*|random_transform|apply_transform|get_random_transform)\("):
        return
    for call in program.calls:
        if call.name.endswith(".ImageDataGenerator") and Flow(call, call).augments_by:
            yield program.finding(
                augmentation_not_used,
                call.expression,
                "This generator would augment images, but nothing calls its `flow`: the model is trained on the images "
                "as they are.",
            )


def _augmented_datasets_not_used(program: Program) -> Iterator[Finding]:
    """A dataset that is augmented under a name that nothing uses, beside a training on the one before."""
    used = {id(part) for use in program.uses for origin in use.pipeline.origins() for part in origin.ancestors()}
    trained = {
        id(part) for _, pipelines in program.trained_on() for pipeline in pipelines for part in pipeline.ancestors()
    }
    for pipeline in program.pipelines:
        parent, stage = pipeline.parent, pipeline.stage
        if parent is None or stage is None or stage.name != "map" or not pipeline.names or pipeline.extended:
            continue
        if id(pipeline) in used or pipeline.looked_at or id(parent) not in trained or _is_random(parent):
            continue
        name = pipeline.names[-1]
        if not _is_random(pipeline) or _read_again(program, stage.expression, name):
            continue
        yield program.finding(
            augmentation_not_used,
            stage.expression,
            f"`{name}` is augmented, but nothing uses it: the model is trained on {program.name_of(parent)}, which is "
            "not augmented.",
            advice=f"Train on `{name}`.",
        )


def _read_again(program: Program, node: ast.AST, name: str) -> bool:
    """Something reads a name; what made it is one statement that assigns it."""
    source = getattr(node, "source", program.source)
    return any(
        isinstance(one, ast.Name | ast.Attribute)
        and isinstance(one.ctx, ast.Load)
        and (one.id if isinstance(one, ast.Name) else one.attr) == name
        for one in source.nodes
    )


@rule("P027", "brightness-beyond-range", Severity.WARNING)
def brightness_beyond_range(program: Program) -> Iterator[Finding]:
    """Brightness is changed by far more than the range of the values.

    Why it matters:
        `tf.image.random_brightness(image, max_delta)` adds up to `max_delta` to values between 0 and 1 (integers are
        scaled to that range first). A delta of 1 or more makes most images black or white.

    Example:
        `tf.image.random_brightness(image, 32)`, where `32 / 255` was meant.

    Fix:
        Use a delta well below 1, such as 0.1 or `32 / 255`, and clip afterwards: `tf.clip_by_value(image, 0, 1)`.
    """
    for call in program.calls:
        if call.name not in ("tensorflow.image.random_brightness", "tensorflow.image.adjust_brightness"):
            continue
        delta = call.argument(1, "max_delta", "delta")
        if not isinstance(delta, Literal) or not isinstance(delta.value, int | float) or abs(delta.value) < 1:
            continue
        image = call.argument(0, "image")
        if is_whole_numbers(image) or scaled_by(image) is not None:
            yield program.finding(
                brightness_beyond_range,
                call.expression,
                f"The brightness changes by up to {delta.value:g}, but values between 0 and 1 are expected: most "
                "images become all black or all white.",
            )


AUGMENTATION_RULES = [cache_after_augmentation, augmented_validation, augmentation_not_used, brightness_beyond_range]
