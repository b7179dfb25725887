"""Rules on values: what the model would really see."""

from __future__ import annotations

from collections.abc import Iterator

from recordsmith.doctor.diagnose.observing.observations import ColumnFacts, Observations
from recordsmith.doctor.diagnose.rules.wording import are_pixels, at, begin
from recordsmith.errors import did_you_mean, list_names
from recordsmith.rules import Finding, Location, Severity, rule
from recordsmith.wording.numbers import count_text

__all__ = ["VALUE_RULES"]

_MAY_BE_CONSTANT = ("mask", "type", "segment", "position", "padding", "length", "weight", "state", "hidden")
_ENOUGH_ROWS = 8
_ENOUGH_IMAGES = 16


@rule("T020", "not-a-number", Severity.ERROR)
def not_a_number(observed: Observations) -> Iterator[Finding]:
    """An input or target holds NaN.

    Why it matters:
        One NaN makes the loss NaN, then every gradient, then every weight.

    Example:
        Dividing an image by its own maximum, which is 0 for a black one; a table's missing cells.

    Fix:
        Find the step that makes them: put `tf.debugging.check_numerics(x, "after augmentation")` after each one.
    """
    for column in observed.columns:
        if column.nan:
            stored = ""
            if observed.records is not None and observed.records.feature and column.role == "input":
                stored = " The records on disk are readable, so look at the steps between."
            yield not_a_number.finding(
                f"{begin(column)} holds NaN: {column.nan:,} of {column.values:,} values.{stored}",
                location=at(column),
                count=column.nan,
            )


@rule("T021", "infinite", Severity.ERROR)
def infinite(observed: Observations) -> Iterator[Finding]:
    """An input or target holds infinite values.

    Why it matters:
        The first layer turns them into NaN.

    Example:
        `tf.math.log(x)` of a zero; dividing by a deviation of 0.

    Fix:
        `tf.math.log1p(x)`, or divide by `deviation + 1e-7`.
    """
    for column in observed.columns:
        if column.infinite:
            yield infinite.finding(
                f"{begin(column)} holds {column.infinite:,} infinite values of {column.values:,}.",
                location=at(column),
                count=column.infinite,
            )


@rule("T022", "nothing-but-zeros", Severity.ERROR)
def nothing_but_zeros(observed: Observations) -> Iterator[Finding]:
    """An input is 0 in every row.

    Why it matters:
        There is nothing to learn from it. A feature that the records do not have silently becomes its default value.

    Example:
        `tf.io.FixedLenFeature([], tf.int64, default_value=0)` with a mistyped name; an augmentation that multiplies
        by 0; pixels cast to an integer after they were divided by 255.

    Fix:
        Compare the name with those that `recordsmith show data` lists, and look at what the steps do to one row.
    """
    for column in observed.inputs:
        if column.rows >= _ENOUGH_ROWS and column.values and column.zeros == column.values:
            if _may_be(column) or _is_mask(observed, column):
                continue
            alone = len(observed.inputs) == 1 or column.dtype.startswith("float") or column.image is not None
            yield nothing_but_zeros.finding(
                f"{begin(column)} is 0 in all {count_text(column.rows, 'sampled row')}.",
                location=at(column),
                advice=_name_advice(observed, column),
                severity=Severity.ERROR if alone else Severity.WARNING,
            )


@rule("T023", "constant-input", Severity.WARNING)
def constant_input(observed: Observations) -> Iterator[Finding]:
    """An input has the same value everywhere, in every row.

    Why it matters:
        A value that never changes says nothing about the target.

    Example:
        A default value for a feature that the records do not have; a step that clips everything to its limit.

    Fix:
        Leave it out, or find the step that makes it constant.
    """
    for column in observed.inputs:
        if column.rows < _ENOUGH_ROWS or _may_be(column) or _is_mask(observed, column):
            continue
        constant = column.numeric and column.values and column.distinct == 1 and not column.nan
        if constant and column.zeros != column.values:
            yield constant_input.finding(
                f"{begin(column)} is {column.min:g} everywhere, in all {count_text(column.rows, 'sampled row')}.",
                location=at(column),
                advice=_name_advice(observed, column),
            )
        elif column.dtype == "text" and column.distinct == 1 and column.rows >= 2 * _ENOUGH_ROWS:
            yield constant_input.finding(
                f"{begin(column)} is the same text in all {count_text(column.rows, 'sampled row')}.",
                location=at(column),
                advice=_name_advice(observed, column),
            )
        elif (
            column.image is None
            and column.constant_columns
            and column.shape
            and (column.shape[0] or 0) <= 64
            and column.rows >= 4 * _ENOUGH_ROWS
            and column.dtype.startswith("float")
        ):
            yield constant_input.finding(
                f"{column.constant_columns} of {column.shape[0]} columns of {column.shown} never change in "
                f"{count_text(column.rows, 'row')}.",
                location=at(column),
                severity=Severity.INFO,
            )


@rule("T030", "reinterpreted-bytes", Severity.ERROR)
def reinterpreted_bytes(observed: Observations) -> Iterator[Finding]:
    """Bytes were read as another type than they were written as.

    Floats made from other bytes have exponents from the whole range of a float, or are smaller than any normal number.

    Why it matters:
        `decode_raw` with the wrong type raises no error. The values are noise between 1e-40 and 1e38, and NaN.

    Example:
        `tf.io.decode_raw(x, tf.float32)` of pixels that were written as uint8, or of a numpy array that was float64.

    Fix:
        Name the type that was written: `tf.io.decode_raw(x, tf.uint8)`. By default numpy makes arrays of float64 or
        int64.
    """
    for column in observed.inputs:
        if column.bits_of:
            bounds = (
                ""
                if column.min is None or column.max is None
                else f": values from {column.min:.3g} to {column.max:.3g}"
            )
            real = next((name for name in ("float64", "float32", "int64") if column.bits_of.startswith(name)), None)
            real = real or ("uint8" if column.bits_of.startswith("bytes") else "int64")
            yield reinterpreted_bytes.finding(
                f"{begin(column)} looks like {column.bits_of}{bounds}.",
                location=at(column),
                corrected=f"tf.io.decode_raw(x, tf.{real})",
                evidence={"nan": column.nan, "infinite": column.infinite},
            )


@rule("T031", "constant-target", Severity.ERROR)
def constant_target(observed: Observations) -> Iterator[Finding]:
    """Every row of a whole epoch has the same target.

    Why it matters:
        The model learns to predict that value for every input, with a perfect loss.

    Example:
        A default value for a label that the records do not have; `label == "dog"` for labels that end in a space.

    Fix:
        Look at the labels on disk: `recordsmith show data`.
    """
    target = observed.target
    if target is None or target.rows < 16 or not observed.epochs or not observed.epochs[0].whole:
        return
    labels = observed.labels
    one_class = labels is not None and labels.kind == "classes" and labels.classes == 1
    if one_class or (target.numeric and not target.shape and target.distinct == 1):
        value = next(iter(labels.counts)) if labels is not None and labels.counts else f"{target.min:g}"
        stored = observed.records.stored_classes if observed.records is not None else {}
        value = observed.named(value)
        detail = (
            f" The records have {count_text(len(stored), 'class', 'classes')} in {observed.records.label!r}."
            if len(stored) > 1 and observed.records
            else ""
        )
        yield constant_target.finding(
            f"All {count_text(observed.epochs[0].rows, 'row')} of the epoch have the target {value}.{detail}",
            location=at(target),
            advice=_name_advice(observed, target),
        )


@rule("T032", "empty-one-hot", Severity.WARNING)
def empty_one_hot(observed: Observations) -> Iterator[Finding]:
    """Some rows of a one-hot target have no 1.

    Why it matters:
        `tf.one_hot` silently gives zeros for a class outside its depth. Such a row has no loss, so that nothing is
        learnt from it.

    Example:
        `tf.one_hot(label, 10)` with labels from 1 to 10.

    Fix:
        `tf.one_hot(label - 1, 10)` for labels from 1, or a larger depth.
    """
    target, loss = observed.target, observed.model.loss if observed.model is not None else None
    if target is None or target.one_hot != "some-empty" or target.rows < 32:
        return
    if loss is not None and loss.kind != "categorical":
        return
    yield empty_one_hot.finding(
        f"{target.empty_rows} of {count_text(target.rows, 'row')} of the one-hot target have no 1.",
        location=at(target),
        count=target.empty_rows,
        severity=Severity.ERROR if loss is not None else Severity.WARNING,
    )


@rule("T101", "several-classes-at-once", Severity.ERROR)
def several_classes_at_once(observed: Observations) -> Iterator[Finding]:
    """Rows of the target have more than one 1, and the loss takes exactly one class for each row.

    Why it matters:
        A softmax gives parts of 1: it cannot say "yes" to two classes. `categorical_crossentropy` then pulls both to a
        half, and rows with three to a third.

    Example:
        Tags of an article as zeros and ones, with `Dense(n, activation="softmax")` and `categorical_crossentropy`.

    Fix:
        `Dense(n, activation="sigmoid")` with `binary_crossentropy`: each class is decided on its own.
    """
    target, loss = observed.target, observed.model.loss if observed.model is not None else None
    if target is None or target.one_hot or loss is None or loss.kind != "categorical":
        return
    if target.several_rows >= max(2, 0.02 * target.rows):
        yield several_classes_at_once.finding(
            f"{target.several_rows} of {count_text(target.rows, 'row')} have more than one 1 in the target, and "
            f"{loss.name} takes exactly one class for each.",
            location=at(target),
            count=target.several_rows,
        )


@rule("T033", "target-among-inputs", Severity.WARNING)
def target_among_inputs(observed: Observations) -> Iterator[Finding]:
    """An input is the target itself.

    Why it matters:
        The model is shown the answer. Training looks perfect, and it fails on data without labels.

    Example:
        All columns of a table are stacked into the inputs, including the label's.

    Fix:
        Take it out of the inputs.
    """
    for name in observed.leaks:
        yield target_among_inputs.finding(f"Input {name} equals the target in every row.")


@rule("T065", "same-inputs", Severity.WARNING)
def same_inputs(observed: Observations) -> Iterator[Finding]:
    """Two inputs are the same in every row.

    Why it matters:
        One of them is a copy by mistake: what it should hold never reaches the model.

    Example:
        `token_type_ids` filled from the column of `input_ids` in a collate function.

    Fix:
        Look at the line that makes the second one.
    """
    for one, other in observed.same_inputs:
        yield same_inputs.finding(
            f"Inputs {one!r} and {other!r} are identical in every row: one of them is a copy of the other.",
            location=Location(feature=other),
        )


@rule("T086", "mostly-padding", Severity.INFO)
def mostly_padding(observed: Observations) -> Iterator[Finding]:
    """Rows of ids are nearly all padding.

    That is: 90 % or more of the values are zeros at the ends of the rows.

    Why it matters:
        Where padding is not masked, means and last states are those of the padding. And ten times the work is done.

    Example:
        Texts of ten words, padded to a length of 512.

    Fix:
        Pad each batch to its longest row (`padded_batch`, `DataCollatorWithPadding`), or choose a shorter length.
    """
    for column in observed.inputs:
        if column.padding >= 0.9 and not _may_be(column) and column.distinct > 4:
            yield mostly_padding.finding(
                f"{column.padding:.0%} of {column.shown} is padding: zeros at the ends of rows of {column.shape[0]}.",
                location=at(column),
            )


@rule("T034", "scales-far-apart", Severity.WARNING)
def scales_far_apart(observed: Observations) -> Iterator[Finding]:
    """Large numbers reach the first layer as they are.

    Why it matters:
        A column with values in the thousands outweighs others around 1, and makes steps that are too long.

    Example:
        An income of 50,000 beside an age of 40, without a `Normalization` layer.

    Fix:
        `keras.layers.Normalization()` adapted to the training data, or (x - mean) / deviation in the pipeline.
    """
    model = observed.model
    layer = model.first_layer if model is not None else None
    if model is None or layer is None or layer.kind != "linear" or model.normalises or layer.largest_spread < 1000:
        return
    if any(are_pixels(column) or column.bits_of for column in observed.inputs):
        return
    yield scales_far_apart.finding(
        f"Values up to {max(abs(layer.min), abs(layer.max)):,.6g} reach the layer {layer.name!r}, in a column "
        f"of values around {layer.largest_spread:,.4g}."
    )


@rule("T037", "rows-without-tokens", Severity.WARNING)
def rows_without_tokens(observed: Observations) -> Iterator[Finding]:
    """Some rows of ids hold nothing but padding, or no value at all.

    It is an error if the model's output for such rows is NaN, otherwise an info.

    Why it matters:
        Where padding is masked, nothing is left of such a row: a mean over no tokens, or a softmax over none, is NaN.
        One such row makes the loss NaN, and then every weight.

    Example:
        Empty texts that are tokenized and fed to `Embedding(..., mask_zero=True)` and `GlobalAveragePooling1D`; an
        attention mask of zeros.

    Fix:
        Leave such rows out (`.filter(...)`), or give each at least one token, such as one for "unknown".
    """
    model, signal = observed.model, observed.signal
    no_number = (model is not None and model.output is not None and not model.output.finite) or (
        signal is not None and signal.bad_step is not None
    )
    for column in observed.inputs:
        if not column.without_tokens:
            continue
        if no_number:
            severity, what = Severity.ERROR, " The model's answer or its loss is NaN: masked means of nothing are."
        else:
            severity = Severity.WARNING if model is None else Severity.INFO
            what = " Where padding is masked, the loss becomes NaN." if model is None else ""
        yield rows_without_tokens.finding(
            f"{column.without_tokens} of {column.rows} rows of {column.shown} hold no token.{what}",
            location=at(column),
            count=column.without_tokens,
            severity=severity,
        )


def _may_be(column: ColumnFacts) -> bool:
    """Whether an input may well be constant, by its name: masks of equal lengths, types of one kind."""
    return any(word in column.name.lower() for word in _MAY_BE_CONSTANT)


def _is_mask(observed: Observations, column: ColumnFacts) -> bool:
    """Whether an input may be a mask by its form: whole numbers, one for each of another input's."""
    whole = column.dtype.startswith(("int", "uint", "bool"))
    return (
        whole
        and bool(column.shape)
        and any(other.shape == column.shape for other in observed.inputs if other != column)
    )


def _name_advice(observed: Observations, column: ColumnFacts) -> str:
    names = observed.records.names if observed.records is not None else ()
    if not names or not column.name or column.name in names:
        return ""
    near = did_you_mean(column.name, names)
    return f"The records have no feature {column.name!r}: they have {list_names(names)}.{near}"


VALUE_RULES = (
    not_a_number,
    infinite,
    nothing_but_zeros,
    constant_input,
    reinterpreted_bytes,
    constant_target,
    empty_one_hot,
    several_classes_at_once,
    target_among_inputs,
    scales_far_apart,
    same_inputs,
    mostly_padding,
    rows_without_tokens,
)
