"""Rules on the labels of a PyTorch program: labels to ignore, padding, shifted labels, the number of outputs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Element,
    Group,
    Item,
    Literal,
    Slice,
    Table,
    Value,
)
from recordsmith.doctor.lint.libraries.control_flow import function_of, statement_of
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline
from recordsmith.doctor.lint.libraries.torch.modules import losses
from recordsmith.doctor.lint.libraries.torch.tensors import Layer, last_layer, sequence_of, tensor_shape
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.torch.splits import torch_loaders
from recordsmith.rules import Finding, Severity, rule

__all__ = ["LABEL_RULES"]

_LABELS = re.compile(r"label|target|(^|_)tgt|(^|_)y(_|$)|(^|_)gt(_|$)", re.IGNORECASE)
_IGNORED = -100  # by default, CrossEntropyLoss and NLLLoss leave out these labels


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
    found = [options for _, loss, _, _, options in losses(program.calls) if loss in _TAKES_CLASSES]
    if len(marked) != 1 or not found or program.mentions(r"(?<!self)\.loss\b"):
        return
    ignored = {_ignored(options) for options in found}
    if ignored == {_IGNORED} and -1 in marked and not program.mentions(r"[<>=] ?-1\b|>= ?0\b|< ?0\b"):
        yield program.finding(
            other_label_ignored,
            marked[-1],
            f"Labels that do not count are set to -1, but the loss ignores {_IGNORED}: -1 is not a class.",
            advice=f"Mark the labels with {_IGNORED}; or give `ignore_index=-1` to the loss.",
        )
        return
    if set(marked) != {_IGNORED} or program.mentions("from_pretrained"):
        return
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
    """The number that labels are set to: `labels[mask] = -1`, `labels.masked_fill(mask, -1)`, `labels.append(-1)`."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=filled, attr="append"),
            args=[ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as number))],
        ) if _LABELS.search(ast.unparse(filled)):
            yield -number
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
        if _labels_are_ids(node) and program.mentions(r"ForCausalLM|LMHeadModel") and _pads_to_length(node):
            yield program.finding(
                padding_is_learnt,
                node,
                "`labels` are a copy of the padded `input_ids`: the loss counts the padding as text to predict.",
            )
            return
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


def _labels_are_ids(node: ast.AST) -> bool:
    """`batch["labels"] = batch["input_ids"].copy()`."""
    match node:
        case ast.Assign(targets=[ast.Subscript(value=batch, slice=ast.Constant(value="labels"))], value=value):
            ids = rf"{re.escape(ast.unparse(batch))}\['input_ids'\](\.(copy|clone)\(\)|\[:\])?"
            return bool(re.fullmatch(ids, ast.unparse(value)))
    return False


def _pads_to_length(node: ast.AST) -> bool:
    """The tokenizer in the same function pads all texts to one length, so that the ids are rows with padding."""
    area = function_of(node)
    return area is not None and bool(re.search(r"padding='max_length'", ast.unparse(area)))


@rule("P140", "one-output-for-classes", Severity.ERROR)
def one_output_for_classes(program: Program) -> Iterator[Finding]:
    """`CrossEntropyLoss` is given a single output.

    Why it matters:
        The loss compares the outputs of several classes with each other. The softmax of a single one is always 1: the
        loss is 0 for class 0 whatever the model does, and nothing is learned.

    Example:
        `nn.CrossEntropyLoss()(nn.Linear(16, 1)(x), y)`

    Fix:
        Two outputs for two classes, or `nn.BCEWithLogitsLoss()` with one output and a target of the same shape.
    """
    for call, loss, prediction, _, _ in losses(program.calls):
        layer = last_layer(prediction)
        if layer and layer[0] == "softmax" and _of_one_unit(prediction, layer[1]):
            yield program.finding(
                one_output_for_classes,
                layer[1].expression,
                "This softmax is over a single output, where it is always 1: nothing is learned.",
                advice="Use a sigmoid for one output, or one output for each class.",
            )
            return
        if loss != "cross_entropy" or not layer or layer[0] or layer[1].name != "torch.nn.Linear":
            continue
        size = layer[1].argument(1, "out_features")
        direct = isinstance(prediction, Call) and prediction.name == "()"
        if direct and isinstance(size, Literal) and size.value == 1:
            yield program.finding(
                one_output_for_classes,
                call.expression,
                "The model has one output, and `cross_entropy` compares several: its softmax is always 1, and nothing "
                "is learned.",
                advice="Use `BCEWithLogitsLoss` for two classes, with targets of the same shape; or one output for "
                "each class.",
            )
            return


def _of_one_unit(prediction: Value, softmax: Call) -> bool:
    """What a softmax is given comes from a layer with one output."""
    module = prediction.receiver if isinstance(prediction, Call) and prediction.name == "()" else None
    layers = sequence_of(module)
    before: Layer | None = None
    if layers and len(layers) > 1 and layers[-1] is softmax:
        before = ("", layers[-2])
    elif softmax is module and isinstance(prediction, Call):
        before = last_layer(prediction.argument(0))
    elif softmax is prediction:
        before = last_layer(softmax.receiver if softmax.name.startswith(".") else softmax.argument(0))
    size = before[1].argument(1, "out_features") if before and before[1].name == "torch.nn.Linear" else None
    return isinstance(size, Literal) and size.value == 1


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


@rule("P155", "embedding-row-missing", Severity.ERROR)
def embedding_row_missing(program: Program) -> Iterator[Finding]:
    """An embedding has as many rows as there are words, and the words are numbered from 1.

    Why it matters:
        The numbers go from 1 to the number of words, and the rows from 0 to one less: the last word has none. Looking
        it up stops with an index error, as soon as it comes.

    Example:
        `stoi = {word: i + 1 for i, word in enumerate(words)}` and `nn.Embedding(len(stoi), 64)`.

    Fix:
        `nn.Embedding(len(stoi) + 1, 64)`: row 0 is for padding.
    """
    for call in program.calls:
        size = call.argument(0, "num_embeddings") if call.name == "torch.nn.Embedding" else None
        table = size.args[0] if isinstance(size, Call) and size.name == "builtins.len" and size.args else None
        node = table.node if table is not None else None
        if not isinstance(node, ast.DictComp) or not _counts_from_one(node):
            continue
        target = getattr(getattr(node, "parent", None), "targets", [None])[0]
        name = ast.unparse(target) if target is not None else ""
        if name.isidentifier() and not program.mentions(rf"\b{name}(\[[^\]]*\] *=[^=]|\.(update|setdefault))"):
            yield program.finding(
                embedding_row_missing,
                call.expression,
                f"The words in `{name}` are numbered from 1, and the rows of the embedding from 0, one for each: the "
                "last word has no row.",
            )


def _counts_from_one(node: ast.DictComp) -> bool:
    over = node.generators[0].iter
    if not isinstance(over, ast.Call) or ast.unparse(over.func) != "enumerate" or len(node.generators) != 1:
        return False
    start = (
        over.args[1] if len(over.args) > 1 else next((one.value for one in over.keywords if one.arg == "start"), None)
    )
    plain = isinstance(node.value, ast.Name)
    shifted = isinstance(node.value, ast.BinOp) and bool(re.fullmatch(r"\w+ \+ 1|1 \+ \w+", ast.unparse(node.value)))
    return (plain and isinstance(start, ast.Constant) and start.value == 1) or (shifted and start is None)


@rule("P156", "padding-is-a-class", Severity.WARNING)
def padding_is_a_class(program: Program) -> Iterator[Finding]:
    """Labels of sequences are padded with 0, and the loss counts the padding as class 0.

    Why it matters:
        `CrossEntropyLoss` leaves out labels of -100 unless `ignore_index` says otherwise. With padding of 0, every
        padded position teaches the model class 0, and the score counts it as correct.

    Example:
        `pad_sequence(labels, batch_first=True)` and `nn.CrossEntropyLoss()`.

    Fix:
        `pad_sequence(labels, batch_first=True, padding_value=-100)`, or `ignore_index=0` if 0 is no class.
    """
    found = [options for _, loss, _, _, options in losses(program.calls) if loss == "cross_entropy"]
    if not found or any(options.argument(None, "ignore_index", "reduction", "weight") for options in found):
        return
    if program.mentions(r"ignore_index|mask|pack_padded|lengths?\b|!= ?0|pad_idx|PAD"):
        return
    for node in program.source.nodes:
        filled = _zeros_for_labels(node)
        if filled:
            yield program.finding(
                padding_is_a_class,
                node,
                f"`{filled}` is 0 where a sequence is shorter than the longest, and the loss ignores nothing: padded "
                "positions count as class 0.",
            )
            return
    for call in program.calls:
        if call.name != "torch.nn.utils.rnn.pad_sequence" or not isinstance(call.node, ast.Call) or not call.exact:
            continue
        value = call.argument(2, "padding_value")
        statement = statement_of(call.expression)
        target = ast.unparse(statement.targets[0]) if isinstance(statement, ast.Assign) else ""
        named = _SEQUENCE_LABELS.search(target)
        if named and (value is None or (isinstance(value, Literal) and value.value == 0)):
            yield program.finding(
                padding_is_a_class,
                call.expression,
                f"`{target}` is padded with 0, and the loss ignores nothing: padded positions count as class 0.",
            )
            return


_SEQUENCE_LABELS = re.compile(r"(^|_)(labels?|tags?|targets?|tgts?|ys?)(_|$)")


def _zeros_for_labels(node: ast.AST) -> str:
    """The name of labels that are made of zeros, and filled up to the length of each sequence: `tags[i, :n] = row`."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=made)) if _SEQUENCE_LABELS.search(name):
            area = function_of(node)
            if area is None or not re.fullmatch(r"(torch|np|numpy)\.zeros", ast.unparse(made)):
                return ""
        case _:
            return ""
    rows = rf"{name}\[\w+, :(?!\])[^\]]+\] = |{name}\[\w+\]\[:(?!\])[^\]]+\] = "
    return name if re.search(rows, ast.unparse(area)) else ""


@rule("P157", "shifted-twice", Severity.WARNING)
def shifted_twice(program: Program) -> Iterator[Finding]:
    """The labels of a language model are shifted by the dataset, and shifted again where the loss is computed.

    Why it matters:
        The model learns to predict the token after the next one. The loss goes down, and generated text makes no sense.

    Example:
        A dataset that returns `x[:-1], x[1:]`, and a loss of `logits[..., :-1, :]` and `labels[..., 1:]`.

    Fix:
        Shift in one place: return `x, x` from the dataset, or compare `logits` and `labels` as they are.
    """
    functions = [node for node in program.source.nodes if isinstance(node, ast.FunctionDef)]
    given = [one for one in functions if one.name in ("__getitem__", "get_batch") and _shifts_rows(one)]
    again = [
        node
        for one in functions
        if one.name not in ("__getitem__", "get_batch")
        for node in ast.walk(one)
        if isinstance(node, ast.Subscript) and re.fullmatch(r"\w*(labels|targets)\[(\.\.\.|:), 1:\]", ast.unparse(node))
    ]
    if given and again and re.search(r"logits\[(\.\.\.|:), :-1", program.source.text):
        yield program.finding(
            shifted_twice,
            again[0],
            f"`{ast.unparse(again[0])}` shifts the labels by one, and `{given[0].name}` has shifted them already: the "
            "model learns to predict the token after the next one.",
        )
    yield from _shifted_for_transformers(program)


def _shifted_for_transformers(program: Program) -> Iterator[Finding]:
    """`{"input_ids": x[:-1], "labels": x[1:]}` for a causal language model of transformers, which shifts the labels."""
    causal = any(re.search(r"(LMHeadModel|ForCausalLM)\.from_pretrained$", call.name) for call in program.calls)
    given = [
        (one.element.entries.get("input_ids"), one.element.entries.get("labels"))
        for one in torch_loaders(program)
        if isinstance(one.element, Table)
    ]
    given += [(call.argument(None, "input_ids"), call.argument(None, "labels")) for call in program.calls]
    for ids, labels in given if causal else ():
        one, other = (value.of if isinstance(value, Element) else value for value in (ids, labels))
        if not isinstance(one, Item) or not isinstance(other, Item) or one.base is not other.base:
            continue
        if _bounds(one.index) == (None, -1) and _bounds(other.index) == (1, None) and other.node is not None:
            yield program.finding(
                shifted_twice,
                other.node,
                f"`{program.text(other.node)}` shifts the labels by one, and the model of transformers shifts them "
                "again: it learns to predict the token after the next one.",
                advice="Give the same tokens as `input_ids` and as `labels`.",
            )
            return


def _bounds(index: Value) -> tuple[object, object] | None:
    """The two ends of a slice of the last axis: (None, -1) for `x[:-1]` and `x[:, :-1]`."""
    last = index.members[-1] if isinstance(index, Group) and index.members else index
    if not isinstance(last, Slice):
        return None
    low, high = (
        one.value if isinstance(one, Literal) else None if one is None else "?" for one in (last.lower, last.upper)
    )
    return low, high


def _shifts_rows(function: ast.FunctionDef) -> bool:
    cuts = {ast.unparse(node.slice) for node in ast.walk(function) if isinstance(node, ast.Subscript)}
    return {":-1", "1:"} <= cuts


LABEL_RULES = [
    other_label_ignored,
    padding_is_learnt,
    one_output_for_classes,
    last_batch_of_one,
    embedding_row_missing,
    padding_is_a_class,
    shifted_twice,
]
