"""How labels are encoded: as class numbers or as one-hot rows, and in which range."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Element,
    Group,
    Item,
    Literal,
    Many,
    Operation,
    Slice,
    Table,
    Value,
)
from recordsmith.doctor.lint.libraries.fitting import split_part
from recordsmith.doctor.lint.libraries.image_generators import flow_of
from recordsmith.doctor.lint.libraries.models import CompiledModel
from recordsmith.doctor.lint.libraries.rows import PERMUTES, bound_key
from recordsmith.doctor.lint.libraries.tensorflow.parse_specs import parsed_feature_of
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline

__all__ = ["Labels", "labels_of", "plain_labels", "stored_column", "targets_of"]

_ONE_HOT = (
    "tensorflow.one_hot",
    "keras.utils.to_categorical",
    "keras.ops.one_hot",
)
_KEEPS = (
    "tensorflow.cast",
    "tensorflow.identity",
    "tensorflow.squeeze",
    "numpy.array",
    "numpy.asarray",
    ".astype",
    ".copy",
    ".to_numpy",
    ".ravel",
    ".flatten",
)
_SELECTS_ROWS = {".dropna", ".copy", ".sample", ".sort_values", ".reset_index", ".head", ".tail", ".sort_index"}
# What transformers of scikit-learn make of labels.
_MAKERS = {
    "sklearn.preprocessing.LabelEncoder": "numbers",
    "sklearn.preprocessing.OrdinalEncoder": "numbers",
    "sklearn.preprocessing.LabelBinarizer": "one-hot",
    "sklearn.preprocessing.OneHotEncoder": "one-hot",
    "sklearn.preprocessing.MultiLabelBinarizer": "several",
    "sklearn.preprocessing.MinMaxScaler": "measured",
    "sklearn.preprocessing.StandardScaler": "measured",
}
# The highest class number of the sets that Keras downloads.
_CLASSES = {"mnist": 9, "fashion_mnist": 9, "cifar10": 9, "cifar100": 99, "imdb": 1, "reuters": 45}
# What the loaders of folders yield for each `label_mode` or `class_mode`.
_MODES = {"int": "numbers", "sparse": "numbers", "categorical": "one-hot", "binary": "binary"}


@dataclass(frozen=True, slots=True)
class Labels:
    """What the source says about labels.

    Attributes:
        kind: "numbers", "one-hot", "binary" (0 or 1), "several" (rows with any number of ones) or "measured" (not
            classes at all); "" if only the range is known.
        made_by: what made them so, for a message.
        depth: the length of one-hot rows, where that is known.
        lowest, highest: their range, where that is known.
    """

    kind: str
    made_by: str
    depth: int | None = None
    lowest: int | None = None
    highest: int | None = None


def targets_of(model: CompiledModel) -> Iterator[tuple[Value, Labels | None]]:
    """Yield the labels that a model is trained on, and what is known about them."""
    for pipeline in model.trained_on:
        element = pipeline.element
        if isinstance(element, Element) and element.of is not None:
            element = element.of
        if isinstance(element, Group) and len(element.members) in (2, 3):
            target = plain_labels(element.members[1])
            yield target, _of_loader(pipeline, target) or labels_of(target)
    for fit in model.fits:
        flow = flow_of(fit.argument(0, "x", "generator"))
        target_given = fit.argument(1, "y")
        if flow is not None and flow.directory is not None:
            mode = flow.constant("class_mode", "categorical")
            kind = _MODES.get(str(mode))
            classes = flow.option("classes")
            highest = len(classes.members) - 1 if isinstance(classes, Group) and not classes.grown else None
            if kind is not None:
                lowest = None if highest is None else 0
                yield flow.call, Labels(kind, f"`class_mode={mode!r}`", lowest=lowest, highest=highest)
        elif isinstance(given := fit.argument(0, "x", "generator"), Many) and isinstance(given.member, Group):
            pair = given.member.members  # of a generator of the program
            if len(pair) in (2, 3) and not given.member.is_list:
                target = plain_labels(pair[1])
                yield target, labels_of(target)
        elif target_given is not None:
            target = plain_labels(target_given)
            yield target, labels_of(target)


def _of_loader(pipeline: Pipeline, target: Value) -> Labels | None:
    """The labels of a folder or of TensorFlow Datasets, as they come from the loader."""
    untouched = isinstance(target, Element) and target.of is None and not target.kind
    call = pipeline.source.call
    if untouched and pipeline.source.kind == "tfds" and call is not None:
        supervised = call.argument(None, "as_supervised")
        known = isinstance(supervised, Literal) and supervised.value is True
        return Labels("numbers", "`tfds.load`") if known else None
    if not untouched or pipeline.source.kind != "directory" or call is None or "timeseries" in call.name:
        return None
    labels, mode = call.argument(1, "labels"), call.argument(2, "label_mode")
    inferred = labels is None or (isinstance(labels, Literal) and labels.value == "inferred")
    if not inferred or (mode is not None and not isinstance(mode, Literal)) or not call.exact:
        return None
    name = "int" if mode is None else str(mode.value) if isinstance(mode, Literal) else ""
    kind = _MODES.get(name)
    classes = call.argument(3, "class_names")
    highest = len(classes.members) - 1 if isinstance(classes, Group) and not classes.grown else None
    lowest = None if highest is None else 0
    made_by = f"`label_mode={name!r}`{', the default' if mode is None else ''}"
    return None if kind is None else Labels(kind, made_by, lowest=lowest, highest=highest)


def plain_labels(value: Value) -> Value:
    """What labels are apart from their dtype, and from which part of them is taken."""
    for _ in range(40):
        part = split_part(value)
        if part is not None:
            value = part.whole
        elif isinstance(value, Element) and value.of is not None:
            value = value.of
        elif (stored := stored_column(value)) is not None:
            value = stored
        elif isinstance(value, Item) and value.attribute and bound_key(value.index) == "values":
            value = value.base
        elif isinstance(value, Call) and value.name in _KEEPS and (value.receiver or value.args):
            inner = value.receiver if value.name.startswith(".") else value.args[0]
            value = inner if inner is not None else value
        elif isinstance(value, Item) and not value.attribute and _selects_rows(value.index):
            value = value.base
        else:
            break
    return value


def stored_column(value: Value) -> Value | None:
    """Return what the program stored in the column of a table that a value is; of a part of the rows, too.

    >>> table = Call("pandas.read_csv", None, columns={"age": Literal(1)})
    >>> stored_column(Item(table, Literal("age"))).value
    1
    """
    if isinstance(value, Item):
        table = _all_columns(value.base)
        value = value if table is value.base else Item(table, value.index)
    match value:
        case Item(base=Call(columns=columns), index=Literal(value=str() as name)):
            return columns.get(name)
        case Call(name=".pop" | ".get", receiver=Call(columns=columns), args=(Literal(value=str() as name), *_)):
            return columns.get(name)
    return None


def _all_columns(table: Value) -> Value:
    """What a table was before some of its rows were taken, or put into another order."""
    for _ in range(20):
        match table:
            case Call(name=name, columns=columns, receiver=Value() as inner) if name in _SELECTS_ROWS and not columns:
                table = inner
            case Item(base=Item(base=inner, attribute=True, index=Literal(value="iloc" | "loc")), index=Slice()):
                table = inner
            case Item(base=inner, index=Slice(), attribute=False):
                table = inner
            case _:
                break
    return table


def _selects_rows(index: Value) -> bool:
    return isinstance(index, Slice) or (isinstance(index, Call) and index.name in PERMUTES)


def labels_of(value: Value) -> Labels | None:  # noqa: PLR0911 - one for each way to make labels
    """Return what the source says about labels; None if it says nothing."""
    feature = parsed_feature_of(value, of_batches=True)
    if feature is not None and feature.form == "fixed" and feature.shape == () and feature.dtype == "int64":
        return Labels("numbers", f"the feature {feature.name!r}")
    if isinstance(value, Item):
        return _of_item(value)
    if isinstance(value, Group) and value.is_list:
        inner = labels_of(plain_labels(value.members[0])) if len(value.members) == 1 and value.grown else None
        return inner or (_between(value.members, "a list") if value.members else None)
    if isinstance(value, Many):
        return labels_of(plain_labels(value.member))
    if isinstance(value, Operation) and value.operator in ("+", "-"):
        return _shifted(value)
    if not isinstance(value, Call):
        return Labels("several", "a comparison of several columns") if _are_marks(value) else None
    if value.name in _ONE_HOT:
        depth = value.argument(1, "depth", "num_classes")
        size = depth.value if isinstance(depth, Literal) and isinstance(depth.value, int) else None
        given = value.argument(0, "indices", "x")
        numbers = labels_of(plain_labels(given)) if given is not None else None
        lowest, highest = (numbers.lowest, numbers.highest) if numbers is not None else (None, None)
        made_by = f"`{value.name.rpartition('.')[2]}`"
        return Labels("one-hot", made_by, depth=size, lowest=lowest, highest=highest)
    if value.name == "pandas.get_dummies":
        return Labels("one-hot", "`get_dummies`")
    if value.name in (".fit_transform", ".transform") and isinstance(value.receiver, Call):
        maker = value.receiver.name
        name = f"`{maker.rpartition('.')[2]}`"
        return Labels(_MAKERS[maker], name) if maker in _MAKERS else None
    if value.name == "numpy.where" and len(value.args) == 3:
        return _between(value.args[1:], "`np.where`")
    if value.name in ("numpy.random.randint", ".integers", ".randint"):
        ends = [one for one in (value.argument(0, "low"), value.argument(1, "high")) if one is not None]
        bounds = [one.value for one in ends if isinstance(one, Literal) and isinstance(one.value, int)]
        bounds = [0, *bounds] if len(ends) == 1 else bounds
        if len(bounds) == 2 and value.exact:
            return Labels("numbers", f"`{value.name.rpartition('.')[2]}`", lowest=bounds[0], highest=bounds[1] - 1)
    return None


def _of_item(value: Item) -> Labels | None:
    """Labels of a set that Keras loads, a row of the unit matrix, or a number out of a dict."""
    if _is_loaded_label(value):
        loader = value.base.base.name if isinstance(value.base, Item) and isinstance(value.base.base, Call) else ""
        highest = _CLASSES.get(loader.split(".")[-2])
        return Labels("numbers", "`load_data`", lowest=None if highest is None else 0, highest=highest)
    if isinstance(value.base, Call) and value.base.name == "numpy.eye":
        size = value.base.argument(0, "N")
        by_number = value.base.exact and not isinstance(value.index, Literal | Slice | Group)
        depth = size.value if isinstance(size, Literal) and isinstance(size.value, int) else None
        return Labels("one-hot", "`np.eye`", depth=depth) if by_number else None
    if isinstance(value.base, Table) and not isinstance(value.index, Literal):
        known = value.base.complete and value.base.entries
        return _between(tuple(value.base.entries.values()), "a dict") if known else None
    return Labels("several", "a comparison of several columns") if _are_marks(value) else None


def _shifted(value: Operation) -> Labels | None:
    """Labels to which a number is added, or from which one is subtracted."""
    match value.operands:
        case (inner, Literal(value=int() as number)):
            found = labels_of(plain_labels(inner))
            if found is None or found.kind != "numbers" or found.lowest is None or found.highest is None:
                return found if found is not None and found.kind == "numbers" else None
            shift = number if value.operator == "+" else -number
            return replace(found, lowest=found.lowest + shift, highest=found.highest + shift)
    return None


def _are_marks(value: Value | None) -> bool:
    """Several columns of a table of numbers, each compared with a number: any number of them may hold."""
    compared = isinstance(value, Operation) and value.operator == "compare" and isinstance(value.operands[0], Item)
    index = value.operands[0].index if compared and isinstance(value, Operation) else None  # type: ignore[attr-defined]
    return isinstance(index, Group) and len(index.members) == 2 and all(isinstance(one, Slice) for one in index.members)


def _between(values: tuple[Value, ...], made_by: str) -> Labels | None:
    known = [one.value for one in values if isinstance(one, Literal) and isinstance(one.value, int | float)]
    if len(known) != len(values) or any(one != int(one) for one in known):
        return None
    return Labels("numbers", made_by, lowest=int(min(known)), highest=int(max(known)))


def _is_loaded_label(value: Item) -> bool:
    """`(x, y), (x_test, y_test) = keras.datasets.mnist.load_data()`."""
    base = value.base
    known = isinstance(value.index, Literal) and value.index.value == 1 and isinstance(base, Item)
    if not known or not isinstance(base, Item) or not isinstance(base.base, Call):
        return False
    return base.base.name.startswith("keras.datasets.") and base.base.name.endswith(".load_data")
