"""Rules on names and numbers: class names in another order than their numbers, batches that ignore their number."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Group, Item, Literal, Value, walk
from recordsmith.doctor.lint.libraries.fitting import model_uses
from recordsmith.doctor.lint.libraries.image_generators import flow_of
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["NAME_RULES"]

_ARGMAX = {"numpy.argmax", "tensorflow.argmax", "tensorflow.math.argmax", ".argmax", "keras.ops.argmax"}
_PREDICTS = {".predict", ".predict_on_batch", ".predict_generator"}
_SEQUENCE = re.compile(r"keras\.utils\.(Sequence|PyDataset)|torch\.utils\.data\.Dataset")
_DRAWS = re.compile(r"rand|choice|shuffle|next|pop|get|sample|queue", re.IGNORECASE)


@rule("P292", "names-in-another-order", Severity.WARNING)
def names_in_another_order(program: Program) -> Iterator[Finding]:
    """Predictions are read from a list of class names that is in another order than the numbers of the classes.

    Why it matters:
        `LabelEncoder`, `flow_from_directory` and `image_dataset_from_directory` number classes in alphabetical order. A
        list of names in another order gives every class the name of another one: the model is right, and what is shown
        is wrong.

    Example:
        `["positive", "negative"][np.argmax(model.predict(x))]` after `LabelEncoder().fit_transform(labels)`

    Fix:
        Take the names from where the numbers come from: `encoder.classes_`, `generator.class_indices`,
        `dataset.class_names`.
    """
    uses = list(model_uses(program.calls))
    for item in program.items:
        names = item.base if isinstance(item, Item) and not item.attribute else None
        if not isinstance(item, Item) or not isinstance(names, Group) or names.grown or item.node is None:
            continue
        texts = [one.value for one in names.members if isinstance(one, Literal) and isinstance(one.value, str)]
        if len(set(texts)) < 2 or len(set(texts)) != len(names.members) or texts == sorted(texts):
            continue
        predicted = _predicted(item.index)
        trained = [use for use in uses if predicted is not None and use.role == "training" and use.model is predicted]
        makers = [maker for use in trained if (maker := _numbered_by(use.inputs, use.targets)) is not None]
        if makers:
            yield program.finding(
                names_in_another_order,
                item.node,
                f"{makers[0]} numbers the classes in the alphabetical order of their names, and this list has another "
                "order: if these are their names, predictions get the names of other classes.",
            )


def _predicted(index: Value) -> Value | None:
    """The model of whose prediction an index is the largest one."""
    chosen = next((one for one in walk(index, 12) if isinstance(one, Call) and one.name in _ARGMAX), None)
    given = None if chosen is None else chosen.receiver or chosen.argument(0)
    found = (one for one in walk(given, 30) if isinstance(one, Call) and one.name in _PREDICTS)
    call = next(found, None)
    return None if call is None else call.receiver


def _numbered_by(inputs: Value, targets: Value | None) -> str | None:
    flow = flow_of(inputs)
    if flow is not None and flow.call.name == ".flow_from_directory" and flow.option("classes") is None:
        return "`flow_from_directory`"
    for one in walk(inputs, 40):
        source = one.source.call if isinstance(one, Pipeline) else None
        if source is not None and source.name.endswith("image_dataset_from_directory"):
            return None if source.argument(None, "class_names") is not None else "`image_dataset_from_directory`"
    for one in walk(targets, 60):
        encoder = one.receiver if isinstance(one, Call) and one.name in (".fit_transform", ".transform") else None
        if isinstance(encoder, Call) and encoder.name == "sklearn.preprocessing.LabelEncoder":
            return "`LabelEncoder`"
    return None


@rule("P293", "index-not-used", Severity.ERROR)
def index_not_used(program: Program) -> Iterator[Finding]:
    """`__getitem__` of a dataset ignores its index, and gives the same for each, or any row.

    Why it matters:
        Every batch holds the same rows: the model is trained on a few examples, again and again. With a row that is
        drawn at random, an epoch has some rows several times and leaves out about a third of them.

    Example:
        `def __getitem__(self, index): return self.x[:self.batch_size], self.y[:self.batch_size]`

    Fix:
        Use the index: `begin = index * self.batch_size`, `self.x[begin:begin + self.batch_size]`.
    """
    for made in program.classes:
        bases = [getattr(one, "path", "") for one in made.bases]
        if not any(_SEQUENCE.fullmatch(base) for base in bases):
            continue
        for method in made.definition.body:
            if not isinstance(method, ast.FunctionDef) or method.name != "__getitem__" or len(method.args.args) != 2:
                continue
            name = method.args.args[1].arg
            drawn = _drawn_instead(made.definition, method, name)
            if drawn is not None:
                yield program.finding(
                    index_not_used,
                    drawn,
                    f"`{name}` is replaced by a random number: a pass over the data has some rows several times, and "
                    "leaves out about a third of them. Without shuffling, the order is random, too.",
                    severity=Severity.WARNING,
                )
            used = any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(method))
            called = [ast.unparse(one.func) for one in ast.walk(method) if isinstance(one, ast.Call)]
            own = any(text.startswith("self.") for text in called)
            stored = any(isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store) for one in ast.walk(method))
            raises = any(isinstance(one, ast.Raise) for one in ast.walk(method))
            if used or own or stored or raises or any(_DRAWS.search(text) for text in called):
                continue
            if any(isinstance(one, ast.Subscript) for one in ast.walk(method)):
                yield program.finding(
                    index_not_used,
                    method.args.args[1],
                    f"`__getitem__` never uses `{name}`: it gives the same for each, and training sees the same rows "
                    "again and again.",
                )


def _drawn_instead(made: ast.ClassDef, method: ast.FunctionDef, index: str) -> ast.stmt | None:
    """`index = random.randrange(len(self.rows))` before anything else, where there is one number for each row."""
    lengths = [one for one in made.body if isinstance(one, ast.FunctionDef) and one.name == "__len__"]
    length = lengths[0].body[-1] if lengths else None
    if not isinstance(length, ast.Return) or not isinstance(length.value, ast.Call):
        return None
    rows = re.escape(ast.unparse(length.value))
    draws = rf"(np\.|numpy\.)?random\.(randint|randrange)\((0, )?({rows}|len\(self\))( - 1)?\)"
    for statement in method.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name == index:
                return statement if re.fullmatch(draws, ast.unparse(value)) else None
        if any(isinstance(one, ast.Name) and one.id == index for one in ast.walk(statement)):
            return None
    return None


NAME_RULES = [names_in_another_order, index_not_used]
