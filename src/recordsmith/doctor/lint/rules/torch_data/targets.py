"""Rules on what a PyTorch loss is compared with."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Element, Literal, Operation, Value, walk
from recordsmith.doctor.lint.libraries.control_flow import function_of
from recordsmith.doctor.lint.libraries.torch.modules import is_module, losses
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["TARGET_RULES"]

_NOISE = re.compile(
    r"torch\.(randn|rand|randn_like|rand_like|normal|bernoulli)|numpy\.random\.\w+|torch\.nn\.functional\.dropout"
)
_TARGET = re.compile(r"^(labels?|targets?|y|gt|masks?|y_true|truth|clean|hr)(_\w+)?$")


@rule("P166", "target-not-used", Severity.WARNING)
def target_not_used(program: Program) -> Iterator[Finding]:
    """A loss compares the output with the noisy input, or the labels of the batch are never used.

    Why it matters:
        The model learns to copy its input, noise included, or learns nothing about the labels. The loss goes down all
        the same.

    Example:
        `noisy = clean + torch.randn_like(clean)`, then `loss = mse(model(noisy), noisy)`.

    Fix:
        Compare with the target: `mse(model(noisy), clean)`.
    """
    for call, _, prediction, target, _ in losses(program.calls):
        inputs = [one.args[0] for one in walk(prediction, 200) if _is_run(one) and isinstance(one, Call) and one.args]
        noisy = [one for one in inputs if one is target and _adds_noise(one)]
        if noisy and call.node is not None:
            yield program.finding(
                target_not_used,
                call.expression,
                "The loss compares the output with the noisy input itself, not with what it was made from: the model "
                "learns to keep the noise.",
            )
            return
    yield from _labels_left(program)


def _is_run(value: Value) -> bool:
    return isinstance(value, Call) and value.name == "()" and is_module(value.receiver)


def _adds_noise(value: Value) -> bool:
    parts = list(walk(value, 60))
    noise = any(isinstance(one, Call) and _NOISE.fullmatch(one.name) for one in parts)
    mixed = any(isinstance(one, Operation) and one.operator in ("+", "*") for one in parts)
    return noise and mixed and any(isinstance(one, Element) for one in parts)


def _labels_left(program: Program) -> Iterator[Finding]:
    """A loop that trains takes labels from the loader and never uses them."""
    for use in program.uses:
        loop, target = use.node, use.target
        if use.role != "training" or not isinstance(loop, ast.For) or use.pipeline.source.kind != "torch":
            continue
        names = [one.id for one in ast.walk(target) if isinstance(one, ast.Name)] if target is not None else []
        given = [name for name in names if _TARGET.match(name)]
        area = function_of(loop) or loop
        read = {one.id for one in ast.walk(area) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
        computed = any(
            call.node is not None and any(one is call.node for one in ast.walk(loop))
            for call, *_ in losses(program.calls)
        )
        if len(names) > 1 and len(given) == 1 and given[0] not in read and computed:
            yield program.finding(
                target_not_used,
                loop,
                f"`{given[0]}` is taken from the loader and never used: the loss compares the output with something "
                "else.",
                severity=Severity.INFO,
            )
            return


@rule("P177", "collator-of-another-task", Severity.ERROR)
def collator_of_another_task(program: Program) -> Iterator[Finding]:
    """A collator that masks words feeds a model that predicts the next word, or the other way round.

    Why it matters:
        `DataCollatorForLanguageModeling` masks words unless it is told `mlm=False`. A causal model then learns to
        predict the original word at random places from `[MASK]`, and generates nonsense.

    Example:
        `AutoModelForCausalLM` with `DataCollatorForLanguageModeling(tokenizer)`.

    Fix:
        `DataCollatorForLanguageModeling(tokenizer, mlm=False)` for a causal model.
    """
    models = [one.name for one in program.calls if one.name.endswith((".from_pretrained", ".from_config"))]
    causal = any(re.search(r"ForCausalLM|LMHeadModel", name) for name in models)
    masked = any("ForMaskedLM" in name for name in models)
    for call in program.calls:
        if not call.name.endswith("DataCollatorForLanguageModeling") or causal == masked or not call.exact:
            continue
        given = call.argument(1, "mlm")
        masks = given is None or (isinstance(given, Literal) and given.value is True)
        plain = isinstance(given, Literal) and given.value is False
        if (causal and masks) or (masked and plain):
            yield program.finding(
                collator_of_another_task,
                call.expression,
                "The collator masks words (`mlm=True` is its default), and the model predicts the next word: use "
                "`mlm=False`."
                if causal
                else "The collator masks nothing (`mlm=False`), and the model predicts masked words.",
            )
            return


@rule("P178", "target-inside-input-window", Severity.ERROR)
def target_inside_input_window(program: Program) -> Iterator[Finding]:
    """The target window of a PyTorch dataset ends where the input window ends.

    Why it matters:
        The values to predict are the last values of the input. The model copies them, the loss goes to 0, and it
        forecasts nothing.

    Example:
        `x = self.data[i : i + 32]` and `y = self.data[i + 24 : i + 32]`.

    Fix:
        Begin the target where the input ends: `y = self.data[i + 32 : i + 40]`.
    """
    for function in program.source.nodes:
        if not isinstance(function, ast.FunctionDef) or function.name not in ("__getitem__", *_WINDOWS):
            continue
        names = {
            one.targets[0].id: one.value
            for one in ast.walk(function)
            if isinstance(one, ast.Assign) and len(one.targets) == 1 and isinstance(one.targets[0], ast.Name)
        }
        cuts = [(one, _window(one, names)) for one in ast.walk(function) if isinstance(one, ast.Subscript)]
        known = [(node, found) for node, found in cuts if found is not None]
        for (other, first), (node, second) in ((one, two) for one in known for two in known if one is not two):
            same = first[0] == second[0] and first[2] == second[2]
            later = _minus(second[1], first[1])
            begins_later = bool(later) and any(number > 0 for number in later.values())
            if same and begins_later and (node.lineno, node.col_offset) > (other.lineno, other.col_offset):
                yield program.finding(
                    target_inside_input_window,
                    node,
                    f"`{ast.unparse(node)}` ends where the input window ends: the target is a part of the input.",
                )
                return


_WINDOWS = (
    "create_sequences",
    "create_dataset",
    "make_windows",
    "create_inout_sequences",
    "sliding_window",
    "split_sequence",
)


def _window(node: ast.Subscript, names: dict[str, ast.expr]) -> tuple[str, Linear, Linear] | None:
    """What is cut, from where and to where, as sums of names."""
    index = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
    if not isinstance(index, ast.Slice) or index.lower is None or index.upper is None or index.step is not None:
        return None
    lower, upper = _linear(index.lower, names), _linear(index.upper, names)
    return None if lower is None or upper is None else (ast.unparse(node.value), lower, upper)


Linear = dict[str, int]


def _linear(node: ast.expr, names: dict[str, ast.expr], depth: int = 8) -> Linear | None:
    """A sum of names and numbers: `i + self.steps - 1` is {"i": 1, "self.steps": 1, "": -1}.

    >>> _linear(ast.parse("i + 3 - n", mode="eval").body, {})
    {'i': 1, '': 3, 'n': -1}
    """
    match node:
        case ast.Constant(value=int() as number):
            return {"": number} if number else {}
        case ast.Name(id=name) if name in names and depth:
            return _linear(names[name], {key: one for key, one in names.items() if key != name}, depth - 1)
        case ast.Name() | ast.Attribute():
            return {ast.unparse(node): 1}
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as operator, right=right):
            first, second = _linear(left, names, depth), _linear(right, names, depth)
            if first is None or second is None:
                return None
            return _minus(first, second) if isinstance(operator, ast.Sub) else _minus(first, _minus({}, second))
    return None


def _minus(first: Linear, second: Linear) -> Linear:
    total = {key: first.get(key, 0) - second.get(key, 0) for key in {**first, **second}}
    return {key: number for key, number in total.items() if number}


@rule("P184", "word-labels-not-aligned", Severity.WARNING)
def word_labels_not_aligned(program: Program) -> Iterator[Finding]:
    """A tokenizer splits words into tokens, and the labels of the words are used for the tokens as they are.

    Why it matters:
        The tokenizer adds a token at the beginning and splits rare words. From there on, every token has the label of
        another word, and the model learns shifted labels.

    Example:
        `tokenizer(words, is_split_into_words=True)`, and `labels = tags + [-100] * rest`.

    Fix:
        Take the label of the word that each token belongs to: `[tags[w] if w is not None else -100 for w in
        encoding.word_ids()]`.
    """
    if not program.mentions("TokenClassification") or program.mentions(r"word_ids|offset|char_to_token|word_to_tokens"):
        return
    for call in program.calls:
        given = call.argument(None, "is_split_into_words", "is_pretokenized")
        if isinstance(given, Literal) and given.value is True and call.node is not None:
            yield program.finding(
                word_labels_not_aligned,
                call.expression,
                "The tokenizer splits these words into more tokens than there are labels, and nothing aligns them "
                "(`word_ids()`): tokens get the labels of other words.",
            )
            return


@rule("P185", "sound-read-differently", Severity.WARNING)
def sound_read_differently(program: Program) -> Iterator[Finding]:
    """Sound is read at one rate, or with one spectrogram, for training, and with another for prediction.

    Why it matters:
        At another sampling rate, or with other windows, the same sound gives other frequencies. The model
        gets inputs that it has never seen, and every prediction is wrong.

    Example:
        `librosa.load(path, sr=16000)` in the dataset, and `librosa.load(path, sr=None)` in `predict`.

    Fix:
        Put the reading into one function, and use it in both places.
    """
    options = {"librosa.load": ("sr",), "librosa.feature.mfcc": ("n_mfcc",), "librosa.feature.melspectrogram": _WINDOW}
    for name, keys in options.items():
        calls = [one for one in program.calls if one.name == name and one.exact and one.node is not None]
        trained, other = [one for one in calls if one.in_map], [one for one in calls if not one.in_map]
        for first, second in ((one, two) for one in trained for two in other if one.node is not two.node):
            for key in keys:
                place = 1 if name == "librosa.load" else None
                given = [one.argument(place, key) for one in (first, second)]
                known = [_written(one, name, key) for one in given]
                if None not in known and known[0] != known[1]:
                    yield program.finding(
                        sound_read_differently,
                        second.expression,
                        f"The dataset uses `{key}={known[0]}` here, and this uses `{key}={known[1]}`: the model gets "
                        "another kind of input than in training.",
                    )
                    return


_WINDOW = ("n_fft", "hop_length", "n_mels")


def _written(value: Value | None, name: str, key: str) -> str | None:
    """An option as it is written, or its default; None if it is not known."""
    if value is None:
        return (
            {"sr": "22050", "n_fft": "2048", "hop_length": "512", "n_mels": "128", "n_mfcc": "20"}[key]
            if name
            else None
        )
    return str(value.value) if isinstance(value, Literal) else None


TARGET_RULES = [
    word_labels_not_aligned,
    sound_read_differently,
    target_not_used,
    collator_of_another_task,
    target_inside_input_window,
]
