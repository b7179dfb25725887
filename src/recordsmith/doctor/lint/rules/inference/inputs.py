"""Rules on inputs that differ between training and the rest: their scale, their colours, their shape."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Group, Item, Literal, Operation, Parameter, Value, walk
from recordsmith.doctor.lint.libraries.fitting import ModelUse, model_uses, split_part
from recordsmith.doctor.lint.libraries.image_generators import flow_of
from recordsmith.doctor.lint.libraries.scaling import Scaling, scaling_of
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["INPUT_RULES"]

_WORDS = {"validation": "validation or test data", "prediction": "what it predicts"}
_ONE_IMAGE = re.compile(
    r"cv2\.(imread|cvtColor|resize|flip|GaussianBlur)|PIL\.Image\.open|keras\.(preprocessing\.image|utils)\."
    r"(load_img|img_to_array)|\.(astype|convert|resize)|numpy\.(array|asarray)"
)
_PRETRAINED = re.compile(r"keras\.applications\.(\w+\.)?[A-Z]\w+")
_PREPROCESSES = re.compile(r"keras\.applications\.\w+\.preprocess_input")
_KEEPS_NUMBERS = re.compile(
    r"numpy\.(array|asarray|expand_dims|reshape|float32)|\.(reshape|astype)|tensorflow\.constant"
)


def _compared(program: Program) -> Iterator[tuple[Scaling, ModelUse, Scaling]]:
    """Pairs of what a model is trained on and what else it gets, where the source says all about both."""
    uses = list(model_uses(program.calls))
    models = {id(use.model): use.model for use in uses}
    for model in models.values():
        trained = [scaling_of(use.inputs) for use in uses if use.model is model and use.role == "training"]
        first = trained[0] if trained else None
        if first is None or any(one is None or one != first for one in trained):
            continue
        for use in uses:
            if use.model is not model or use.role == "training":
                continue
            other = scaling_of(use.inputs)
            if other is None and use.role == "prediction" and first.steps and _is_written_down(use.inputs):
                other = Scaling(first.root)
            divided = math.isclose(first.factor, 1 / 255, rel_tol=0.02)  # so they are pixels, wherever they were read
            if other is not None and (other.root == first.root or (divided and other.root == "image")):
                yield first, use, other


def _is_written_down(value: Value) -> bool:
    """An array of numbers that stand in the source: one example, to try the model."""
    while isinstance(value, Call) and _KEEPS_NUMBERS.fullmatch(value.name):
        inner = value.receiver if value.name.startswith(".") else value.argument(0)
        if inner is None:
            return False
        value = inner
    while isinstance(value, Group) and value.members and not value.grown:
        if all(isinstance(one, Literal) and isinstance(one.value, int | float) for one in value.members):
            return len(value.members) > 1
        value = value.members[0]
    return False


@rule("P210", "scaled-differently", Severity.ERROR)
def scaled_differently(program: Program) -> Iterator[Finding]:
    """Validation, test or new data is scaled otherwise than the training data.

    Why it matters:
        A model knows only the range of values that it was trained on. With values of another range, such as 0 to 255
        instead of 0 to 1, its predictions are meaningless, and the validation score says nothing.

    Example:
        `model.fit(x_train / 255, y_train)`, then `model.evaluate(x_test, y_test)`.

    Fix:
        Put the preprocessing into one function, or into the model (`Rescaling(1 / 255)`), and use it everywhere.
    """
    for trained, use, other in _compared(program):
        if not trained.scales_like(other):
            yield program.finding(
                scaled_differently,
                use.call.expression,
                f"Training data and {_WORDS[use.role]} are scaled differently: training data is {trained.words}, and "
                f"this is {other.words}.",
                evidence={"training": trained.words, use.role: other.words},
            )
    yield from _standardised_differently(program)


def _standardised_differently(program: Program) -> Iterator[Finding]:
    """Images that a fitted ImageDataGenerator standardises in training, and that come as they are afterwards."""
    fitted = {id(one.receiver) for one in program.calls if one.name == ".fit"}
    uses = list(model_uses(program.calls))
    for use in uses:
        flows = [flow_of(one.inputs) for one in uses if one.role == "training" and one.model is use.model]
        trained = flows[0] if flows else None
        if use.role == "training" or trained is None or not trained.learns or id(trained.generator) not in fitted:
            continue
        flow = flow_of(use.inputs)
        plain = flow is None and not any(
            isinstance(one, Call) and one.name == ".standardize" for one in walk(use.inputs, 60)
        )
        known = plain and isinstance(use.inputs, Item | Operation | Call) and scaling_of(use.inputs) is not None
        if known or (flow is not None and flow.generator.exact and not flow.learns):
            yield program.finding(
                scaled_differently,
                use.call.expression,
                f"Training data and {_WORDS[use.role]} are scaled differently: the generator of the training data has "
                f"`{trained.learns[0]}`, and this data is not standardised.",
                advice="Give the other generator the same options, and fit it on the training images too.",
            )


@rule("P211", "channels-in-another-order", Severity.ERROR)
def channels_in_another_order(program: Program) -> Iterator[Finding]:
    """Images are read as RGB for training and as BGR afterwards, or the other way round.

    Why it matters:
        OpenCV reads images as blue, green, red; Keras, TensorFlow and Pillow as red, green, blue. With the channels
        swapped no error is raised, but the colours are wrong and predictions get worse.

    Example:
        Training with `flow_from_directory`, and `model.predict(cv2.imread("x.jpg")[None])`.

    Fix:
        Convert what OpenCV reads: `cv2.cvtColor(image, cv2.COLOR_BGR2RGB)`.
    """
    for trained, use, other in _compared(program):
        if {trained.channels, other.channels} == {"RGB", "BGR"}:
            yield program.finding(
                channels_in_another_order,
                use.call.expression,
                f"Training data is {trained.channels}, and {_WORDS[use.role]} is {other.channels}: red and blue are "
                "swapped.",
            )
    yield from _blue_first_for_pretrained(program)


def _blue_first_for_pretrained(program: Program) -> Iterator[Finding]:
    """What OpenCV reads, for weights of ImageNet that were trained on RGB: `preprocess_input` swaps by itself."""
    weights = [call.argument(0, "weights") for call in program.calls if _PRETRAINED.fullmatch(call.name)]
    if not weights or any(isinstance(one, Literal) and one.value != "imagenet" for one in weights):
        return
    for call in program.calls:
        if not _PREPROCESSES.fullmatch(call.name):
            continue
        found = scaling_of(call.argument(0, "x"))
        if found is not None and found.channels == "BGR":
            yield program.finding(
                channels_in_another_order,
                call.expression,
                "OpenCV reads images as BGR, and the network was trained on RGB, which `preprocess_input` expects: red "
                "and blue are swapped.",
                severity=Severity.WARNING,
            )


@rule("P274", "labels-as-inputs", Severity.ERROR)
def labels_as_inputs(program: Program) -> Iterator[Finding]:
    """Labels are given to `predict` instead of the inputs.

    Why it matters:
        Where the shapes happen to fit, the model predicts from the answers, and the score is meaningless.

    Example:
        `model.fit(x_train, y_train)`, then `model.predict(y_test)`.

    Fix:
        `model.predict(x_test)`
    """
    uses = list(model_uses(program.calls))
    for use in uses:
        trained = [one for one in uses if one.role == "training" and one.model is use.model and one.targets is not None]
        part = split_part(use.inputs)
        for one in trained if use.role == "prediction" else ():
            labels = split_part(one.targets)
            of_labels = part is not None and labels is not None and part.whole is labels.whole
            inputs = split_part(one.inputs)
            if of_labels and inputs is not None and labels is not None and inputs.whole is not labels.whole:
                yield program.finding(
                    labels_as_inputs,
                    use.call.expression,
                    "The model was trained on other data, but is given the labels here as its inputs.",
                )
                break


@rule("P269", "padded-differently", Severity.ERROR)
def padded_differently(program: Program) -> Iterator[Finding]:
    """Sequences are padded or cut on another side than those of the training data.

    Why it matters:
        `pad_sequences` pads and cuts at the beginning unless told otherwise. A model that was trained on sequences
        padded at the end meets its words at other positions: predictions are wrong, and no error is raised.

    Example:
        `pad_sequences(train, maxlen=200, padding="post")`, then `model.predict(pad_sequences(new, maxlen=200))`.

    Fix:
        Use the same `padding` and `truncating` everywhere, best in one function.
    """
    uses = list(model_uses(program.calls))
    for use in uses:
        paddings = [_padding(one.inputs) for one in uses if one.model is use.model and one.role == "training"]
        trained, other = next((one for one in paddings if one is not None), None), _padding(use.inputs)
        if use.role == "training" or trained is None or other is None:
            continue
        for name, position in (("padding", 3), ("truncating", 4)):
            sides = [call.argument(position, name) or Literal("pre") for call in (trained, other)]
            known = [one.value for one in sides if isinstance(one, Literal)]
            if len(known) == 2 and known[0] != known[1] and trained.exact and other.exact:
                yield program.finding(
                    padded_differently,
                    other.expression,
                    f"The training data has `{name}={known[0]!r}`, and this has `{name}={known[1]!r}`: words are at "
                    "other positions than in training.",
                    severity=Severity.INFO if name != "padding" else None,  # short texts are not cut
                )
                break


def _padding(value: Value) -> Call | None:
    for one in walk(value, 40):
        if isinstance(one, Call) and one.name.endswith(".pad_sequences"):
            return one
    return None


@rule("P276", "undone-by-another-scaler", Severity.ERROR)
def undone_by_another_scaler(program: Program) -> Iterator[Finding]:
    """Predictions are scaled back with another scaler than the one that scaled the targets.

    Why it matters:
        `inverse_transform` of the scaler of the inputs knows nothing of the targets: the predictions come out in the
        wrong units, and every error computed from them is wrong.

    Example:
        `y = scaler_y.fit_transform(y)`, then `scaler_x.inverse_transform(model.predict(x))`.

    Fix:
        `scaler_y.inverse_transform(model.predict(x))`
    """
    uses = list(model_uses(program.calls))
    for call in program.calls:
        predicted = call.args[0] if call.name == ".inverse_transform" and call.args else None
        model = next((use.model for use in uses if use.call is predicted), None)
        trained = [use for use in uses if use.model is model and use.role == "training" and use.targets is not None]
        if model is None or not trained or call.receiver is None:
            continue
        makers = [_scalers(use.targets) for use in trained]
        inputs = [_scalers(use.inputs) for use in trained]
        if (
            all(makers)
            and all(call.receiver not in one for one in makers)
            and any(call.receiver in one for one in inputs)
        ):
            yield program.finding(
                undone_by_another_scaler,
                call.expression,
                "The predictions are scaled back by the scaler of the inputs, and the targets were scaled by another "
                "one: the numbers are in the wrong units.",
            )


def _scalers(value: Value | None) -> list[Value]:
    """The scalers that an array went through."""
    calls = [one for one in walk(value, 60) if isinstance(one, Call) and one.name in (".transform", ".fit_transform")]
    return [maker for one in calls if isinstance(maker := one.receiver, Call) and maker.name.startswith("sklearn.")]


@rule("P238", "image-without-batch", Severity.ERROR)
def image_without_batch(program: Program) -> Iterator[Finding]:
    """A single image is given to `predict`, which takes a batch.

    Why it matters:
        Keras takes the first dimension for the batch: an image of 224 × 224 × 3 becomes 224 inputs of 224 × 3. Most
        models raise an error about shapes; some give one prediction per row.

    Example:
        `model.predict(cv2.resize(cv2.imread("x.jpg"), (224, 224)))`

    Fix:
        Add the dimension: `model.predict(image[None])`, or `np.expand_dims(image, 0)`.
    """
    for use in model_uses(program.calls):
        if use.role == "prediction" and use.call.name == ".predict" and _is_model(use) and _is_one_image(use.inputs):
            yield program.finding(
                image_without_batch,
                use.call.expression,
                "`predict` takes a batch and is given a single image: its rows are treated as the examples.",
            )


def _is_model(use: ModelUse) -> bool:
    """It is a model of Keras, or something that is called one: a class of the program may take single images."""
    if isinstance(use.model, Call) and use.model.name.startswith(("keras.", "tensorflow.")):
        return True
    node = use.call.expression.func
    name = ast.unparse(node.value).rpartition(".")[2] if isinstance(node, ast.Attribute) else ""
    return isinstance(use.model, Parameter) and "model" in name.lower()


def _is_one_image(value: Value | None) -> bool:
    """Every step from a file to here is known, and none adds a dimension for the batch."""
    array = False
    while isinstance(value, Call) or _is_arithmetic(value):
        if isinstance(value, Call):
            if not _ONE_IMAGE.fullmatch(value.name):
                return False
            array |= value.name.startswith(("cv2.", "numpy.")) or value.name.endswith("img_to_array")
            if value.name in ("cv2.imread", "PIL.Image.open") or value.name.endswith("load_img"):
                return array
            value = value.receiver if value.name.startswith(".") else value.argument(0)
        else:
            value = value.operands[0] if isinstance(value, Operation) else None
    return False


def _is_arithmetic(value: Value | None) -> bool:
    if not isinstance(value, Operation) or len(value.operands) != 2:
        return False
    return value.operator in ("/", "*", "-", "+") and isinstance(value.operands[1], Literal)


@rule("P255", "argmax-of-one-unit", Severity.ERROR)
def argmax_of_one_unit(program: Program) -> Iterator[Finding]:
    """The class is taken by `argmax` from a model with a single output.

    Why it matters:
        `argmax` over one number is always 0: every example is assigned to the first class.

    Example:
        `np.argmax(model.predict(x), axis=1)`, where the model ends with `Dense(1, activation="sigmoid")`.

    Fix:
        Compare with a threshold: `(model.predict(x) > 0.5).astype(int)`.
    """
    units = {id(model.compile.receiver): model.units for model in program.models}
    for call in program.calls:
        if call.name in ("numpy.argmax", "tensorflow.argmax", "tensorflow.math.argmax", "keras.ops.argmax"):
            given, axis = call.argument(0), call.argument(1, "axis")
        elif call.name == ".argmax":
            given, axis = call.receiver, call.argument(0, "axis")
        else:
            continue
        predicted = isinstance(given, Call) and given.name in (".predict", ".predict_on_batch")
        over_units = isinstance(axis, Literal) and axis.value in (1, -1)
        sure = not call.undecided  # a branch may choose by the number of outputs
        if predicted and over_units and sure and isinstance(given, Call) and units.get(id(given.receiver)) == 1:
            yield program.finding(
                argmax_of_one_unit,
                call.expression,
                "The model has one output, and `argmax` over one number is always 0: every example gets class 0.",
            )


INPUT_RULES = [
    scaled_differently,
    channels_in_another_order,
    labels_as_inputs,
    padded_differently,
    undone_by_another_scaler,
    image_without_batch,
    argmax_of_one_unit,
]
