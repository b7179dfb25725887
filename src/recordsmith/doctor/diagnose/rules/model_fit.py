"""Rules on how batches fit the model: shapes, names, encodings, the output and the loss."""

from __future__ import annotations

from collections.abc import Iterator

from recordsmith.doctor.diagnose.observing.model_facts import InputSpec
from recordsmith.doctor.diagnose.observing.observations import ColumnFacts, Observations
from recordsmith.doctor.diagnose.rules.wording import at, begin, shape_text
from recordsmith.errors import did_you_mean, list_names
from recordsmith.rules import Finding, Severity, rule

__all__ = ["MODEL_FIT_RULES"]

_NEARLY = 1e-6


@rule("T007", "input-shape", Severity.ERROR)
def input_shape(observed: Observations) -> Iterator[Finding]:
    """An input has another shape than the model declares.

    Why it matters:
        The model rejects the batch, or broadcasts it into something else.

    Example:
        Images of (28, 28) for a model with `Input((28, 28, 1))`; channels first for a model that has them last.

    Fix:
        Change the pipeline to the model's shape, or the model's `Input` to that of the data.
    """
    for column, spec in _inputs_of_model(observed):
        if column.ragged or not column.batched:
            continue
        wanted = spec.shape[1:]
        if _fits(column.shape, wanted) or _fits((*column.shape, 1), wanted) or _squeezed(column, wanted):
            # Keras itself adds or takes a last dimension of 1 where that makes a batch fit.
            continue
        yield input_shape.finding(
            f"{begin(column)} has rows of shape {shape_text(column.shape)}, and the model takes {shape_text(wanted)}.",
            location=at(column),
            advice=_shape_advice(column.shape, wanted),
            evidence={"found": list(column.shape), "expected": list(wanted)},
        )


@rule("T008", "input-names", Severity.ERROR)
def input_names(observed: Observations) -> Iterator[Finding]:
    """The model asks for inputs by names that the batches do not have.

    Why it matters:
        Keras refuses the batch, or pairs inputs by their order, which may be another one.

    Example:
        A model with `Input(name="image")`, fed `{"img": ...}`.

    Fix:
        Give both the same names.
    """
    model = observed.model
    if model is None or len(model.inputs) < 2 or len(observed.inputs) < 2:
        return
    names = [column.name for column in observed.inputs]
    if all(name.isdigit() for name in names):
        return
    for spec in model.inputs:
        if spec.name not in names:
            yield input_names.finding(
                f"The model has an input {spec.name!r}, and the batches have {list_names(names)}."
                f"{did_you_mean(spec.name, names)}"
            )


@rule("T009", "text-to-numbers", Severity.ERROR)
def text_to_numbers(observed: Observations) -> Iterator[Finding]:
    """A text, or bytes that were not decoded, arrives where the model takes numbers.

    Why it matters:
        The model refuses strings.

    Example:
        `parse_single_example` gives `image` as the encoded bytes, and nothing decodes them.

    Fix:
        Decode images (`tf.io.decode_jpeg`, or `.images()`), turn text into numbers (`TextVectorization`, or
        `.vectorize()`).
    """
    for column, spec in _inputs_of_model(observed):
        if column.dtype == "text" and spec.dtype != "string":
            yield text_to_numbers.finding(
                f"{begin(column)} holds text or encoded bytes, and the model takes {spec.dtype}.", location=at(column)
            )


@rule("T010", "target-encoding", Severity.ERROR)
def target_encoding(observed: Observations) -> Iterator[Finding]:
    """The target is a class number and the loss takes one-hot rows, or the other way round.

    Why it matters:
        The loss fails on shapes, or silently computes something else.

    Example:
        `categorical_crossentropy` with labels 0, 1, 2; `sparse_categorical_crossentropy` with `tf.one_hot(label, 3)`.

    Fix:
        `sparse_categorical_crossentropy` for class numbers, `categorical_crossentropy` for one-hot rows.
    """
    model, target = observed.model, observed.target
    if model is None or model.loss is None or target is None or not target.numeric:
        return
    units, kind, loss = model.units, model.loss.kind, model.loss.name
    if units is not None and units < 2:
        return
    rank = 1 if model.output is None else len(model.output.shape) - 1
    width = target.shape[-1] if target.shape else 1
    torch = model.framework == "torch"
    if kind == "categorical" and len(target.shape) <= rank - 1 + (1 if width == 1 else 0) and width == 1:
        yield target_encoding.finding(
            f"The target is a class number ({_range(target)}), and {loss} takes one-hot rows of {units}.",
            location=at(target),
            corrected='model.compile(..., loss="sparse_categorical_crossentropy")',
        )
    elif kind == "sparse-categorical" and target.one_hot and width == units and len(target.shape) == rank and not torch:
        yield target_encoding.finding(
            f"The target is one-hot (rows of {width}), and {loss} takes class numbers.",
            location=at(target),
            corrected='model.compile(..., loss="categorical_crossentropy")',
        )
    elif kind == "sparse-categorical" and torch and target.one_hot == "one" and target.integral and _whole_type(target):
        yield target_encoding.finding(
            f"The target is one-hot (rows of {width}) as {target.dtype}, and {loss} takes class numbers, or one-hot "
            "rows as float.",
            location=at(target),
            corrected="loss = criterion(output, target.argmax(dim=1))",
        )
    elif kind == "sparse-categorical" and not target.integral and not target.one_hot and target.rows:
        yield target_encoding.finding(
            f"The target has fractions ({_range(target)}), and {loss} takes class numbers.",
            location=at(target),
            advice="For a number to be estimated use a regression loss such as mean_squared_error; for classes, feed "
            "their numbers.",
        )


@rule("T011", "label-range", Severity.ERROR)
def label_range(observed: Observations) -> Iterator[Finding]:
    """Class numbers are outside those that the model's output has, or outside 0 and 1 for a binary loss.

    Why it matters:
        The loss fails, or on a GPU with TensorFlow becomes NaN.

    Example:
        Classes 1 to 10 for an output of 10 units, which means 0 to 9; labels -1 and 1 with binary_crossentropy.

    Fix:
        Shift or map the labels to 0 … units - 1, or give the output one unit more.
    """
    model, target = observed.model, observed.target
    if model is None or model.loss is None or target is None or target.min is None or target.max is None:
        return
    units, low, high = model.units, target.min, target.max
    if low < 0 and low == model.loss.ignored:
        low = 0  # these are left out
    if model.loss.kind == "sparse-categorical" and units and units > 1 and not target.one_hot and target.integral:
        if low < 0 or high >= units:
            shift = low == 1 and high == units
            yield label_range.finding(
                f"Labels go from {int(low)} to {int(high)}, and the output of {units} units means the classes 0 "
                f"to {units - 1}.",
                location=at(target),
                advice="" if shift else f"The output needs {int(high) + 1} units, if the labels are right.",
                corrected="label = label - 1" if shift else None,
                evidence={"least": int(low), "greatest": int(high), "units": units},
            )
        elif observed.labels is not None and observed.labels.whole and low >= 2 and low >= units / 4:
            yield label_range.finding(
                f"Labels go from {int(low)} to {int(high)}: none of the first {int(low)} of {units} outputs has "
                "examples.",
                location=at(target),
                advice="Classes are numbered from 0. If an offset is added to labels of several datasets, the first "
                "one has none.",
                severity=Severity.WARNING,
            )
    elif model.loss.kind == "binary" and (low < 0 or high > 1):
        yield label_range.finding(
            f"Labels go from {low:g} to {high:g}, and {model.loss.name} takes 0 and 1.",
            location=at(target),
            advice="Map them: label = (label + 1) / 2." if low == -1 and high == 1 else "",
        )


@rule("T012", "output-units", Severity.ERROR)
def output_units(observed: Observations) -> Iterator[Finding]:
    """The output has a number of units that cannot express the labels.

    Why it matters:
        Softmax over one unit is always 1: its gradient is zero, and nothing is learned. One unit cannot distinguish
        three classes apart.

    Example:
        `Dense(1, activation="softmax")`; `Dense(1)` with sparse_categorical_crossentropy.

    Fix:
        `Dense(1, activation="sigmoid")` with binary_crossentropy for two classes, otherwise one unit per class.
    """
    model, target = observed.model, observed.target
    if model is None or model.units is None:
        return
    units, kind = model.units, model.loss.kind if model.loss is not None else ""
    output = model.output
    always_one = output is not None and not output.varies and abs(output.min - 1) + abs(output.max - 1) < _NEARLY
    if units == 1 and (model.activation == "softmax" or always_one):
        yield output_units.finding(
            "The output is a softmax over one unit, which is always 1.",
            corrected='keras.layers.Dense(1, activation="sigmoid")' if model.framework == "keras" else "nn.Sigmoid()",
        )
    elif units == 1 and kind in ("sparse-categorical", "categorical"):
        classes = observed.labels.classes if observed.labels is not None and observed.labels.kind == "classes" else 2
        yield output_units.finding(
            f"The output has one unit, and {model.loss.name if model.loss else 'the loss'} needs one per class.",
            advice=f"Give it {max(classes, 2)} units; or for two classes sigmoid and binary_crossentropy.",
        )
    elif kind == "categorical" and target is not None and target.one_hot and target.shape and target.shape[-1] != units:
        yield output_units.finding(
            f"The output has {units} units, and the one-hot target {target.shape[-1]}.", location=at(target)
        )
    elif kind == "binary" and units == 1 and target is not None and target.integral and not target.one_hot:
        classes = observed.labels.classes if observed.labels is not None else 0
        if classes > 2:
            yield output_units.finding(
                f"{classes} classes arrive, and an output of one unit can distinguish only two.",
                location=at(target),
                advice=f"Use {classes} units, softmax and sparse_categorical_crossentropy.",
            )


@rule("T013", "logits-or-probabilities", Severity.ERROR)
def logits_or_probabilities(observed: Observations) -> Iterator[Finding]:
    """The loss takes probabilities and the model gives raw scores, or the other way round.

    Why it matters:
        Scores that are treated as probabilities are clipped to 0 and 1, and training stalls or gives NaN. Probabilities
        that are treated as scores are squeezed twice: training is slow, and the loss never gets small.

    Example:
        `Dense(10)` with `loss="sparse_categorical_crossentropy"`; `nn.Softmax` before `nn.CrossEntropyLoss`.

    Fix:
        `Dense(10)` with `SparseCategoricalCrossentropy(from_logits=True)`, or `Dense(10, activation="softmax")` with
        `from_logits=False`. In PyTorch no activation before CrossEntropyLoss and BCEWithLogitsLoss.
    """
    model = observed.model
    if model is None or model.loss is None or model.output is None or model.loss.kind == "regression":
        return
    loss, output = model.loss, model.output
    if not output.finite:
        return  # what the model makes of NaN says nothing about its last layer
    scores = output.min < -1e-6 or output.max > 1 + 1e-6
    if loss.takes_logarithms:
        if not output.logarithms and output.units > 1:
            yield logits_or_probabilities.finding(
                f"{loss.name} takes logarithms of probabilities, and the model gives "
                f"{'probabilities' if output.sums_to_one else 'raw scores'} ({output.min:.3g} to {output.max:.3g}).",
                corrected="criterion = nn.CrossEntropyLoss()  # with the model's raw scores",
            )
        return
    if loss.from_logits is False and scores and loss.kind in ("sparse-categorical", "categorical", "binary"):
        keras = model.framework == "keras"
        yield logits_or_probabilities.finding(
            f"{loss.name} takes probabilities, and the model gives raw scores ({output.min:.3g} to {output.max:.3g}).",
            corrected=f"loss={_class_name(loss.name)}(from_logits=True)"
            if keras
            else "criterion = nn.BCEWithLogitsLoss()",
        )
    elif (
        loss.from_logits is False
        and loss.kind in ("sparse-categorical", "categorical")
        and output.units > 1
        and not output.sums_to_one
    ):
        squeezed = f" ({model.activation})" if model.activation else ""
        yield logits_or_probabilities.finding(
            f"{loss.name} takes the probabilities of classes, which add up to 1, and the model's output{squeezed} does "
            "not.",
            corrected='activation="softmax"',
            severity=Severity.WARNING,
        )
    elif loss.from_logits is True and _is_probabilities(observed):
        yield logits_or_probabilities.finding(
            f"{loss.name} takes raw scores, and the model gives probabilities: they are squeezed twice.",
            advice="Remove the softmax or sigmoid from the model (keep it for predicting), or "
            + ("set from_logits=False." if model.framework == "keras" else "use NLLLoss with LogSoftmax, or BCELoss."),
            severity=Severity.WARNING,
        )


@rule("T014", "target-shape", Severity.ERROR)
def target_shape(observed: Observations) -> Iterator[Finding]:
    """The loss broadcasts the target over the output, because one has a dimension more than the other.

    Why it matters:
        (32, 1) against (32,) becomes a table of 32×32 differences: every output is compared with every target, and the
        model learns the mean.

    Example:
        `nn.MSELoss()(model(x), y)` with an output of (32, 1) and targets of (32,). In Keras,
        `LSTM(8, return_sequences=True)` before the last layer, with one target for each row.

    Fix:
        `model(x).squeeze(1)`, or `y.unsqueeze(1)`.
    """
    model, target = observed.model, observed.target
    if model is None or model.loss is None or model.output is None or target is None:
        return
    output, flat = model.output.shape, target.shape
    steps = len(output) == 3 and output[1] > 1 and flat in ((), (output[2],)) and output[2] == 1
    if steps and model.framework == "keras" and model.loss.kind in ("regression", "binary"):
        yield target_shape.finding(
            f"The output has a value for each of {output[1]} time steps, and the target one for each row: "
            f"{model.loss.name} compares every step with it.",
            location=at(target),
            advice="The last recurrent layer returns all steps: leave out return_sequences=True.",
            corrected="keras.layers.LSTM(units)",
        )
    if model.framework != "torch" or model.pairs_rows:
        return
    column = len(output) == 2 and output[1] == 1 and not flat
    if model.loss.kind != "regression" or not (column or (len(output) == 1 and flat == (1,))):
        return
    yield target_shape.finding(
        f"The output is {'(rows, 1) and the target (rows,)' if column else '(rows,) and the target (rows, 1)'}: "
        f"{model.loss.name} compares every output with every target.",
        location=at(target),
        corrected="loss = criterion(model(x).squeeze(1), y)" if column else "loss = criterion(model(x), y.squeeze(1))",
    )


@rule("T015", "embedding-range", Severity.ERROR)
def embedding_range(observed: Observations) -> Iterator[Finding]:
    """Ids are outside an embedding's table.

    Why it matters:
        Training stops with an error; on a GPU, TensorFlow silently looks up zeros instead.

    Example:
        A vocabulary of 10,000 words and 2 reserved ids, with `Embedding(10_000, 64)`.

    Fix:
        `Embedding(vocabulary_size, ...)` with the size that the vocabulary itself reports, which includes reserved ids.
    """
    for layer in observed.model.embeddings if observed.model is not None else ():
        if layer.entries is not None and (layer.max >= layer.entries or layer.min < 0):
            yield embedding_range.finding(
                f"Ids go from {int(layer.min)} to {int(layer.max)}, and the embedding {layer.name!r} has "
                f"{layer.entries} rows (0 to {layer.entries - 1}).",
                corrected=f"Embedding({int(layer.max) + 1}, ...)" if layer.min >= 0 else None,
            )


@rule("T018", "nothing-to-learn", Severity.ERROR)
def nothing_to_learn(observed: Observations) -> Iterator[Finding]:
    """All weights of the model are frozen.

    Why it matters:
        `fit` runs, and nothing changes.

    Example:
        `model.trainable = False` where only the base was to be frozen; `requires_grad_(False)` on everything.

    Fix:
        Freeze only the layers that should not change: `base.trainable = False`.
    """
    model = observed.model
    if model is not None and model.weights and not model.learnt and model.loss is not None and not model.own_training:
        yield nothing_to_learn.finding(f"None of the model's {model.weights} weights is trainable: all are frozen.")


@rule("T016", "model-refuses", Severity.ERROR)
def model_refuses(observed: Observations) -> Iterator[Finding]:
    """The model, or its loss, refused the first batch.

    Why it matters:
        Training stops at the first step.

    Example:
        A PyTorch model with float32 weights is given uint8 images: "expected scalar type Byte but found Float".

    Fix:
        The message is the framework's own. Compare the shapes and dtypes in this report with what the first layer
        takes.
    """
    model = observed.model
    if model is None:
        return
    shapes = ", ".join(
        f"{column.shown} is {column.dtype} {shape_text(column.shape)}" for column in observed.columns[:4]
    )
    if model.refusal:
        advice = ""
        if "scalar type" in model.refusal or "dtype" in model.refusal or "must be the same" in model.refusal:
            advice = "Convert the inputs: x.float(), images x.float() / 255."
        yield model_refuses.finding(f"The model rejects the batch ({shapes}): {model.refusal}", advice=advice)
    elif model.loss_refusal:
        output = "" if model.output is None else f"the output is {shape_text(model.output.shape)}, "
        yield model_refuses.finding(f"The loss rejects the batch ({output}{shapes}): {model.loss_refusal}")


def _inputs_of_model(observed: Observations) -> list[tuple[ColumnFacts, InputSpec]]:
    """Return each input with what the model declares for it, as far as that is known."""
    model = observed.model
    if model is None or not model.inputs or (observed.form == "inputs" and len(observed.inputs) > 1):
        return []
    if len(model.inputs) == 1 and len(observed.inputs) == 1:
        return [(observed.inputs[0], model.inputs[0])]
    by_name = {spec.name: spec for spec in model.inputs}
    named = [(column, by_name[column.name]) for column in observed.inputs if column.name in by_name]
    if not named and len(model.inputs) == len(observed.inputs) and all(one.name.isdigit() for one in observed.inputs):
        return list(zip(observed.inputs, model.inputs, strict=True))
    return named


def _fits(shape: tuple[int | None, ...], wanted: tuple[int | None, ...]) -> bool:
    if len(shape) != len(wanted):
        return False
    return all(want is None or side == want or side is None for side, want in zip(shape, wanted, strict=True))


def _squeezed(column: ColumnFacts, wanted: tuple[int | None, ...]) -> bool:
    return bool(column.shape) and column.shape[-1] == 1 and _fits(column.shape[:-1], wanted)


def _shape_advice(shape: tuple[int | None, ...], wanted: tuple[int | None, ...]) -> str:
    if len(shape) == 3 == len(wanted):
        if (shape[1], shape[2], shape[0]) == wanted:
            return "Channels come first here and last in the model: tf.transpose(image, (1, 2, 0))."
        if (shape[2], shape[0], shape[1]) == wanted:
            return "Channels come last here and first in the model: image.permute(2, 0, 1)."
        if shape[2] == wanted[2]:
            return (
                f"Resize the images: tf.image.resize(image, ({wanted[0]}, {wanted[1]})), or change the model's Input."
            )
        if shape[:2] == wanted[:2]:
            return f"Decode to {wanted[2]} channels: tf.io.decode_image(data, channels={wanted[2]})."
    sizes = [side for side in shape if side], [side for side in wanted if side]
    if _product(sizes[0]) == _product(sizes[1]) and len(sizes[0]) == len(shape) and len(sizes[1]) == len(wanted):
        return f"It is the same number of values: tf.reshape(x, {shape_text(wanted)}), or a Flatten layer in the model."
    return ""


def _product(sizes: list[int]) -> int:
    result = 1
    for size in sizes:
        result *= size
    return result


def _is_probabilities(observed: Observations) -> bool:
    model = observed.model
    if model is None or model.output is None:
        return False
    if model.output.sums_to_one and model.output.units > 1:
        return True
    return model.activation in ("softmax", "sigmoid")


def _class_name(name: str) -> str:
    known = {"sparse_categorical_crossentropy": "SparseCategoricalCrossentropy"}
    known |= {"categorical_crossentropy": "CategoricalCrossentropy", "binary_crossentropy": "BinaryCrossentropy"}
    return f"keras.losses.{known.get(name, name)}"


def _whole_type(column: ColumnFacts) -> bool:
    return column.dtype.startswith(("int", "uint", "bool"))


def _range(column: ColumnFacts) -> str:
    if column.min is None or column.max is None:
        return "no values"
    return f"{column.min:g} to {column.max:g}"


MODEL_FIT_RULES = (
    input_shape,
    input_names,
    text_to_numbers,
    target_encoding,
    label_range,
    output_units,
    logits_or_probabilities,
    target_shape,
    embedding_range,
    model_refuses,
    nothing_to_learn,
)
