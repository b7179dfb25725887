"""Rules on losses that the program writes or calls itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.edits import Edit
from recordsmith.doctor.lint.interpreter.values import Call, Literal, Operation, Parameter, Value, options_of
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["LOSS_RULES"]

_ONE_SIDED = re.compile(
    r"keras\.(backend|losses|metrics)\.(\w*crossentropy|\w*Crossentropy|kl_divergence|kullback_leibler_divergence"
    r"|KLDivergence|poisson|Poisson|mean_absolute_percentage_error|mean_squared_logarithmic_error|\w*hinge)"
)
_PREDICTED = re.compile(r"(^|_)(y_?pred|y_?hat|pred|preds|predicted|prediction|predictions|logits?|outputs?|scores?)$")
_TRUE = re.compile(r"(^|_)(y_?true|true|truth|gt|labels?|targets?|y|y_batch|batch_y)$")
_LOGARITHM = re.compile(r"keras\.(backend|ops)\.log|tensorflow\.(math\.|compat\.v1\.)?log")


@rule("P262", "loss-arguments-swapped", Severity.ERROR)
def loss_arguments_swapped(program: Program) -> Iterator[Finding]:
    """A loss is given the predictions first and the labels second.

    Why it matters:
        Losses of Keras take `(y_true, y_pred)`. A cross-entropy the other way round takes the logarithm of the labels:
        no error is raised, the loss is a large constant or NaN, and the gradients are wrong. (PyTorch has the other
        order.)

    Example:
        `K.categorical_crossentropy(y_pred, y_true)`, `loss_fn(model(x), y)`

    Fix:
        `K.categorical_crossentropy(y_true, y_pred)`, `loss_fn(y, model(x))`
    """
    for call in program.calls:
        name = call.receiver.name if call.name == "()" and isinstance(call.receiver, Call) else call.name
        if not _ONE_SIDED.fullmatch(name) or len(call.args) < 2 or not isinstance(call.node, ast.Call):
            continue
        nodes = call.node.args[:2]
        if len(nodes) == 2 and _is_predicted(call.args[0], nodes[0]) and _is_true(call.args[1], nodes[1]):
            source = getattr(call.node, "source", program.source)
            (begin, end), (second_begin, second_end) = (source.span(node) for node in nodes)
            yield program.finding(
                loss_arguments_swapped,
                call.node,
                "The loss gets the predictions first and the labels second: it takes the labels first.",
                edits=[
                    Edit(begin, end, program.text(nodes[1])),
                    Edit(second_begin, second_end, program.text(nodes[0])),
                ],
                certain=True,
            )


def _word(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _is_predicted(value: Value, node: ast.expr) -> bool:
    if isinstance(value, Call) and value.name == "()" and isinstance(value.receiver, Call):
        return value.receiver.name.startswith(("keras.Sequential", "keras.Model", "keras.models."))
    return bool(_PREDICTED.search(_word(node).lower()))


def _is_true(value: Value, node: ast.expr) -> bool:
    made = isinstance(value, Call) and value.name == "()"
    return not made and bool(_TRUE.search(_word(node).lower()))


@rule("P263", "logarithm-of-zero", Severity.WARNING)
def logarithm_of_zero(program: Program) -> Iterator[Finding]:
    """A loss takes the logarithm of a prediction that can be 0.

    Why it matters:
        A sigmoid or softmax becomes exactly 0 or 1 in float32 as soon as the model is sure. The logarithm of 0 is minus
        infinity, times 0 it is NaN: the loss becomes NaN in the middle of training, and so do all weights.

    Example:
        `-K.mean(y_true * K.log(y_pred) + (1 - y_true) * K.log(1 - y_pred))`

    Fix:
        Limit it first, `y_pred = K.clip(y_pred, K.epsilon(), 1 - K.epsilon())`, add a small number inside the
        logarithm, or use the loss of the library.
    """
    seen: set[int] = set()
    for call in program.calls:
        if not _LOGARITHM.fullmatch(call.name) or not call.args or call.expression.lineno in seen:
            continue
        if any(_is_probability(one) for one in options_of(call.args[0])):
            seen.add(call.expression.lineno)
            yield program.finding(
                logarithm_of_zero,
                call.expression,
                "The logarithm of a prediction that can be exactly 0: the loss becomes NaN when the model is sure.",
            )


def _is_probability(value: Value) -> bool:
    """It is `y_pred` of a loss, as it came, or 1 minus it."""
    if isinstance(value, Operation) and value.operator == "-" and isinstance(value.operands[0], Literal):
        return value.operands[0].value == 1 and _is_probability(value.operands[1])
    return isinstance(value, Parameter) and value.name.lower() in ("y_pred", "ypred", "y_hat")


LOSS_RULES = [loss_arguments_swapped, logarithm_of_zero]
