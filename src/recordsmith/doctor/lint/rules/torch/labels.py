"""Rules on the labels of a PyTorch program: weights of classes, labels to ignore, padding, the number of outputs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Item, Literal, Operation, Value
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline
from recordsmith.doctor.lint.libraries.torch.modules import losses
from recordsmith.doctor.lint.libraries.torch.tensors import last_layer, sequence_of, tensor_shape
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.torch.splits import torch_loaders
from recordsmith.rules import Finding, Severity, rule

__all__ = ["LABEL_RULES"]

_LABELS = re.compile(r"label|target|(^|_)tgt|(^|_)y(_|$)|(^|_)gt(_|$)", re.IGNORECASE)
_IGNORED = -100  # by default, CrossEntropyLoss and NLLLoss leave out these labels


@rule("P136", "sampler-weights-of-classes", Severity.ERROR)
def sampler_weights_of_classes(program: Program) -> Iterator[Finding]:
    """`WeightedRandomSampler` is given one weight per class, where it takes one per example.

    Why it matters:
        The sampler draws a number below the length of the weights, and the number is that of an example. With weights
        for 10 classes, training sees the first 10 examples of the dataset, and no others.

    Example:
        `WeightedRandomSampler(1 / torch.bincount(labels), len(labels))`

    Fix:
        Take the weight of each example's class: `WeightedRandomSampler(class_weights[labels], len(labels))`.
    """
    drawn = [pipeline.source.call.argument(3, "sampler") for pipeline in torch_loaders(program) if pipeline.source.call]
    for sampler in drawn:
        if not isinstance(sampler, Call) or not sampler.name.endswith("WeightedRandomSampler") or sampler.node is None:
            continue
        if _is_per_class(sampler.argument(0, "weights")):
            yield program.finding(
                sampler_weights_of_classes,
                sampler.expression,
                "The weights are those of the classes, but the sampler takes one weight per example: it draws the "
                "first examples only, as many as there are classes.",
            )


_SAME_LENGTH = {
    ".float", ".double", ".to", ".numpy", ".tolist", ".cpu", ".values", ".astype", "torch.tensor", "torch.as_tensor",
    "torch.from_numpy", "torch.FloatTensor", "torch.DoubleTensor", "torch.Tensor", "numpy.array", "numpy.asarray",
    "builtins.list", "torch.sqrt", "numpy.sqrt", "torch.reciprocal", ".reciprocal",
}  # fmt: skip
_COUNTS = {"torch.bincount", "numpy.bincount", ".bincount", "sklearn.utils.class_weight.compute_class_weight"}


def _is_per_class(value: Value | None, depth: int = 12) -> bool:
    """It has one number for each class for certain: counts of classes, and what is computed from them."""
    if depth == 0:
        return False
    match value:
        case Call(name=name) if name in _COUNTS:
            return True
        case Call(name=name) if name in _SAME_LENGTH:
            return _is_per_class(value.receiver if name.startswith(".") else value.argument(0), depth - 1)
        case Operation(operator="+" | "-" | "*" | "/" | "**", operands=operands):
            parts = [one for one in operands if not isinstance(one, Literal)]
            scalars = [one for one in parts if isinstance(one, Call) and one.name in (".sum", ".max", "builtins.len")]
            rest = [one for one in parts if all(one is not scalar for scalar in scalars)]
            return bool(rest) and all(_is_per_class(one, depth - 1) for one in rest)
        case Item(base=Call(name="numpy.unique") as counted, index=Literal(value=1), attribute=False):
            return counted.argument(None, "return_counts") is not None and len(counted.keywords) == 1
    return False


@rule("P137", "other-label-ignored", Severity.WARNING)
def other_label_ignored(program: Program) -> Iterator[Finding]:
    """Labels that the loss must leave out are marked with another number than the loss ignores.

    Why it matters:
        `CrossEntropyLoss` leaves out labels that are equal to its `ignore_index`, which is -100 unless it is given.
        Any other negative label stops with an index error, or, on a GPU, with a failed assertion that names no line.

    Example:
        `labels[~masked] = -100`, and `nn.CrossEntropyLoss(ignore_index=-1)`.

    Fix:
        Use one number for both; without `ignore_index`, it is -100.
    """
    marked = {number: node for node in program.source.nodes for number in _marks(node)}
    found = [(call, options) for call, loss, _, _, options in losses(program.calls) if loss in _TAKES_CLASSES]
    if set(marked) != {_IGNORED} or not found or program.mentions(r"from_pretrained|\.loss\b"):
        return
    ignored = {_ignored(options) for _, options in found}
    if len(ignored) == 1 and None not in ignored and _IGNORED not in ignored:
        other = next(iter(ignored))
        yield program.finding(
            other_label_ignored,
            marked[_IGNORED],
            f"Labels that do not count are set to {_IGNORED}, but the loss ignores {other}: {_IGNORED} is not a class.",
            advice=f"Leave out `ignore_index`, which is {_IGNORED} then; or mark the labels with {other}.",
        )


_TAKES_CLASSES = ("cross_entropy", "nll_loss")


def _ignored(options: Call) -> int | None:
    """The label that a loss ignores; None if that is not known."""
    given = options.argument(None, "ignore_index")
    if given is None:
        return _IGNORED
    return given.value if isinstance(given, Literal) and isinstance(given.value, int) else None


def _marks(node: ast.AST) -> Iterator[int]:
    """The number that labels are set to, in `labels[mask] = -100` and `labels = labels.masked_fill(mask, -100)`."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return
    target, value = node.targets[0], node.value
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "masked_fill":
        value = value.args[-1] if value.args else value
    elif not isinstance(target, ast.Subscript):
        return
    name = ast.unparse(target.value if isinstance(target, ast.Subscript) else target).rpartition(".")[2]
    match value:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as number)) if _LABELS.search(name):
            yield -number


@rule("P138", "padding-is-learnt", Severity.WARNING)
def padding_is_learnt(program: Program) -> Iterator[Finding]:
    """A language model gets its padded `input_ids` as labels, so that the loss counts the padding.

    Why it matters:
        The models of transformers leave out labels of -100, and nothing else. With short texts and
        `padding="max_length"`, most of the loss is about predicting padding: it becomes tiny at once, and the text
        itself is hardly learnt. Where padding is the end token, the model learns to stop, or never to stop.

    Example:
        `model(input_ids=ids, attention_mask=mask, labels=ids)` with `tokenizer(texts, padding="max_length")`.

    Fix:
        `labels = ids.masked_fill(mask == 0, -100)`; or `DataCollatorForLanguageModeling(tokenizer, mlm=False)`.
    """
    if not program.mentions(r"\bpadding=(?!False)") or program.mentions(
        r"-100\b|DataCollator|ignore_index|group_texts|block_size"
    ):
        return
    for node in program.source.nodes:
        if not isinstance(node, ast.Call) or program.source.cells:
            continue
        given = {one.arg: ast.unparse(one.value) for one in node.keywords}
        labels = given.get("labels")
        same = labels is not None and re.search(r"input_ids", labels)
        passed = given.get("input_ids", ast.unparse(node.args[0]) if node.args else "")
        if same and re.fullmatch(r"(\w+\.)*\w*(model|lm|net)\w*", ast.unparse(node.func)) and passed == labels:
            yield program.finding(
                padding_is_learnt,
                node,
                f"`labels` are the padded `{labels}`: the loss counts the padding as text to predict.",
            )
            return


@rule("P140", "one-output-for-classes", Severity.ERROR)
def one_output_for_classes(program: Program) -> Iterator[Finding]:
    """`CrossEntropyLoss` is given a single output.

    Why it matters:
        The loss compares the outputs of several classes with each other. The softmax of a single one is always 1: the
        loss is 0 for class 0 whatever the model does, and nothing is learnt.

    Example:
        `nn.CrossEntropyLoss()(nn.Linear(16, 1)(x), y)`

    Fix:
        Two outputs for two classes, or `nn.BCEWithLogitsLoss()` with one output and a target of the same shape.
    """
    for call, loss, prediction, _, _ in losses(program.calls):
        layer = last_layer(prediction)
        if loss != "cross_entropy" or not layer or layer[0] or layer[1].name != "torch.nn.Linear":
            continue
        size = layer[1].argument(1, "out_features")
        direct = isinstance(prediction, Call) and prediction.name == "()"
        if direct and isinstance(size, Literal) and size.value == 1:
            yield program.finding(
                one_output_for_classes,
                call.expression,
                "The model has one output, and `cross_entropy` compares several: its softmax is always 1, and nothing "
                "is learnt.",
                advice="Use `BCEWithLogitsLoss` for two classes, with targets of the same shape; or one output for "
                "each class.",
            )
            return


@rule("P133", "last-batch-of-one", Severity.WARNING)
def last_batch_of_one(program: Program) -> Iterator[Finding]:
    """The last training batch has a single example, and the model normalises over the batch.

    Why it matters:
        The deviation of a single value is 0: `BatchNorm1d` stops with "Expected more than 1 value per channel when
        training", at the end of the first epoch.

    Example:
        129 examples in batches of 32, and a `BatchNorm1d`.

    Fix:
        `DataLoader(..., drop_last=True)` for training, or another batch size.
    """
    normalised = any(
        layer.name == "torch.nn.BatchNorm1d" for call in program.calls for layer in (sequence_of(call) or (call,))
    )
    for pipeline in torch_loaders(program) if normalised else ():
        call = pipeline.source.call
        size = call.argument(1, "batch_size") if call is not None else None
        rows = _rows(pipeline)
        whole = call is not None and all(call.argument(None, one) is None for one in ("drop_last", "batch_sampler"))
        if call is None or not whole or not call.exact or program.is_for_testing(pipeline):
            continue
        number = size.value if isinstance(size, Literal) else None
        if isinstance(number, int) and rows is not None and number > 1 and rows % number == 1:
            yield program.finding(
                last_batch_of_one,
                call.expression,
                f"{rows:,} examples in batches of {number} leave one for the last batch, and `BatchNorm1d` cannot "
                "normalise over a single example: it stops with an error.",
            )


def _rows(pipeline: Pipeline) -> int | None:
    """How many examples there are, where the source says it."""
    dataset = pipeline.source.call.argument(0, "dataset") if pipeline.source.call is not None else None
    drawn = pipeline.source.call is not None and pipeline.source.call.argument(3, "sampler") is not None
    if drawn or not isinstance(dataset, Call) or dataset.name != "torch.utils.data.TensorDataset" or not dataset.args:
        return None
    shape = tensor_shape(dataset.args[0])
    return shape[0] if shape else None


LABEL_RULES = [
    sampler_weights_of_classes,
    other_label_ignored,
    padding_is_learnt,
    one_output_for_classes,
    last_batch_of_one,
]
