"""What is random: augmentation of elements, and shuffles of what a dataset is made of."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Choice,
    Group,
    Literal,
    Operation,
    Table,
    Value,
    options_of,
    walk,
)
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline

__all__ = [
    "drawn_argument",
    "drawn_in",
    "draws",
    "is_random_call",
    "is_shuffled",
    "noise_in",
    "random_changes",
    "shuffled_before",
    "shuffles_by_itself",
    "shuffles_values",
]

_RANDOM = re.compile(
    r"(tensorflow\.image\.(stateless_)?random_\w+|tensorflow\.image\.sample_distorted_bounding_box"
    r"|tensorflow\.random\.(uniform|normal|truncated_normal|stateless_\w+)|keras\.layers\.Random\w+"
    r"|keras_cv\.layers\.(Random|Mix|Cut|Aug|Grid)\w+|tensorflow_addons\.image\.random_\w+"
    r"|recordsmith\.augment\.\w+)"
)
_CHANGES_IMAGES = re.compile(r"tensorflow\.image\.|keras|\(\)|recordsmith\.augment\.")
_NOISE = re.compile(r"tensorflow\.random\.(normal|uniform|truncated_normal)")
_SHUFFLERS = re.compile(
    r"(random\.(shuffle|sample)|numpy\.random\.(shuffle|permutation|permuted|choice)|tensorflow\.random\.shuffle"
    r"|sklearn\.utils\.(shuffle|resample)|sklearn\.model_selection\.(train_test_split|\w*Shuffle\w*)|torch\.randperm"
    r"|tensorflow\.random\.experimental\.\w*shuffle\w*|random\.Random\.\w+)"
)
_SHUFFLING_METHODS = {".shuffle", ".permutation", ".permuted", ".sample", ".choice", ".split", ".next"}
_DRAWS = re.compile(
    r"tensorflow\.random\.(uniform|normal|truncated_normal|stateless_\w+|categorical)"
    r"|random\.(random|randint|uniform|randrange|choice|getrandbits|gauss|betavariate)"
    r"|numpy\.random\.(rand|randn|random|randint|uniform|normal|choice|binomial|random_sample|beta)"
    r"|torch\.(rand|randn|randint|bernoulli)"
)
_GENERATORS = re.compile(r"numpy\.random\.(default_rng|RandomState)|random\.Random|tensorflow\.random\.Generator\.\w+")
_DRAWING_METHODS = {".random", ".uniform", ".normal", ".integers", ".randint", ".choice", ".rand", ".binomial"}
# What changes an image by a number that it is given.
_BY_NUMBERS = re.compile(
    r"tensorflow\.image\.(rot90|adjust_\w+|crop_to_bounding_box|central_crop|crop_and_resize|pad_to_bounding_box)"
    r"|tensorflow\.(roll|slice)|tensorflow_addons\.image\.(rotate|translate|transform|shear_[xy])"
)
_MOST_VALUES = 2000
_IN_ORDER = {"tfrecord", "lines", "fixed", "slices", "recordsmith"}  # and torch, where it says so


def is_random_call(call: Call) -> bool:
    """Tell whether a call changes an element at random.

    >>> is_random_call(Call("tensorflow.image.random_flip_left_right", None))
    True
    """
    if _RANDOM.fullmatch(call.name):
        return not (call.name.startswith("tensorflow.random.") and not call.in_map)
    if call.name == "()" and call.receiver is not None:  # a layer, or a Sequential of layers, that is called
        training = call.argument(None, "training")
        if isinstance(training, Literal) and training.value is False:
            return False
        return any(_is_random_layer(one) for one in walk(call.receiver))
    return False


def drawn_in(value: Value | None) -> Call | None:
    """Return the call that draws a random number which a value depends on; None if there is none.

    >>> drawn_in(Call("tensorflow.random.uniform", None)).name
    'tensorflow.random.uniform'
    """
    for one in walk(value, limit=60):
        if isinstance(one, Call) and (
            _DRAWS.fullmatch(one.name)
            or (
                one.name in _DRAWING_METHODS
                and isinstance(one.receiver, Call)
                and _GENERATORS.fullmatch(one.receiver.name)
            )
        ):
            return one
    return None


def draws(value: Value | None) -> bool:
    """Tell whether a value depends on a random number that is drawn for it."""
    return drawn_in(value) is not None


def random_changes(value: Value, *, certain: bool = False) -> Iterator[Call]:
    """Yield the calls that change an element at random: those of images, and numbers that decide about a change.

    If they must be `certain`, those on one side of a branch do not count unless there are such on the other side too.
    """
    for one in _decided(value) if certain else walk(value):
        found = _changes_at_random(one)
        if found is not None:
            yield found


def noise_in(value: Value) -> Iterator[Call]:
    """Yield the calls in a map that draw noise which is added to or multiplied with an element."""
    for one in walk(value):
        for part in one.operands if isinstance(one, Operation) else ():
            found = next((inner for inner in walk(part, 12) if _is_noise(inner)), None)
            if isinstance(found, Call):
                yield found


def _is_noise(value: Value) -> bool:
    return isinstance(value, Call) and value.in_map and _NOISE.fullmatch(value.name) is not None


def _changes_at_random(value: Value) -> Call | None:
    """The call because of which a value is random by itself; what it was made of is not looked at."""
    if isinstance(value, Call) and _CHANGES_IMAGES.match(value.name) and is_random_call(value):
        return value
    decided = drawn_in(value.by) if isinstance(value, Choice) and value.by is not None else drawn_argument(value)
    return decided if decided is not None and decided.in_map else None


def drawn_argument(value: Value) -> Call | None:
    """Return the call that draws the number by which an image is changed, as in `rot90(image, k)`; else None."""
    if not isinstance(value, Call) or not _BY_NUMBERS.fullmatch(value.name):
        return None
    given = (*value.args[1:], *value.keywords.values())
    return next((found for one in given if (found := drawn_in(one)) is not None), None)


def _decided(value: Value, depth: int = 6) -> Iterator[Value]:
    """A value and all that it was made of, except what only one side of a branch has."""
    seen: set[int] = set()
    waiting = [value]
    while waiting and len(seen) < _MOST_VALUES:
        one = waiting.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        open_choice = isinstance(one, Choice) and not (one.by is not None and draws(one.by))
        if isinstance(one, Choice) and open_choice and not depth:
            continue
        if isinstance(one, Choice) and open_choice:
            random = [any(_changes_at_random(part) for part in _decided(side, depth - 1)) for _, side in one.options]
            waiting += [side for _, side in one.options] if all(random) else []
        else:
            waiting.extend(one.parts())


def _is_random_layer(value: Value) -> bool:
    return isinstance(value, Call) and bool(re.fullmatch(r"keras(_cv)?\.layers\.Random\w+", value.name))


def shuffles_by_itself(pipeline: Pipeline) -> bool | None:
    """Tell whether a dataset's source gives examples in another order each time; None if that is not known."""
    source = pipeline.source
    if source.shuffles:
        return True
    if source.kind == "torch" and not source.of:
        return source.shuffles
    if source.kind in ("directory", "csv") and source.shuffles is False:
        ordered = source.call is not None and "timeseries" in source.call.name
        return None if ordered else False
    if source.of:
        parts = [is_shuffled(one) for one in source.of]
        return True if True in parts else None if None in parts else False
    if source.kind not in _IN_ORDER or (source.shuffles is None and source.kind in ("directory", "files")):
        return None
    return False


def is_shuffled(pipeline: Pipeline) -> bool | None:
    """Tell whether anything shuffles a dataset, its files, or what it is made from; None if that is not known."""
    for origin in pipeline.origins():
        if any(stage.name in ("shuffle", "random_shuffle", "rejection_resample") for stage in origin.stages):
            return True
    verdicts = [shuffles_by_itself(origin) for origin in pipeline.origins()]
    if True in verdicts:
        return True
    return None if None in verdicts else False


def shuffled_before(pipeline: Pipeline, calls: list[Call]) -> bool:
    """Tell whether what a dataset is made from was shuffled by other means: random.shuffle(files), train_test_split."""
    return any(shuffles_values(origin.source.call, calls) for origin in pipeline.origins())


def shuffles_values(made: Value | None, calls: list[Call]) -> bool:
    """Tell whether a value, or something that it was made from, was shuffled, in place or not."""
    made_of: set[int] = set()
    for value in walk(made):
        made_of.add(id(value))
        if isinstance(value, Call) and _shuffles(value):
            return True
    shuffling = [call for call in calls if _shuffles(call)]
    return any(id(value) in made_of for call in shuffling for argument in call.args for value in walk(argument))


def _shuffles(call: Call) -> bool:
    return bool(_SHUFFLERS.fullmatch(call.name)) or call.name in _SHUFFLING_METHODS


def leaves_of(element: Value) -> Iterator[Value]:
    """The tensors that an element is made of: the members of tuples and dicts."""
    for one in options_of(element):
        if isinstance(one, Group | Table):
            for part in one.parts():
                yield from leaves_of(part)
        else:
            yield one
