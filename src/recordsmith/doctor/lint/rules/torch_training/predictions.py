"""How the predictions of a PyTorch model are counted: the threshold of raw scores, and labels of another shape."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from recordsmith.doctor.lint.interpreter.values import Call, Element, Item, Literal, Operation, Value, walk
from recordsmith.doctor.lint.libraries.torch.modules import losses
from recordsmith.doctor.lint.libraries.torch.tensors import last_layer, tensor_shape
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Rule

__all__ = ["compared_by_broadcast_in_torch", "scores_taken_for_probabilities"]

_KEEPS = {".squeeze", ".view", ".reshape", ".flatten", ".cpu", ".detach", ".numpy", ".float", ".to", ".ravel"}


def scores_taken_for_probabilities(program: Program, found_by: Rule[Any]) -> Iterator[Finding]:
    """Find outputs of a model trained with `BCEWithLogitsLoss` that are compared with 0.5, or rounded."""
    with_logits = {
        model
        for _, loss, prediction, _, _ in losses(program.calls)
        if loss == "binary_cross_entropy_with_logits" and (model := _model_of(prediction)) is not None
    }
    found: list[tuple[Value | None, ast.AST | None, str]] = [
        (one.operands[0], one.node, "0.5")
        for one in program.operations
        if isinstance(one, Operation) and one.operator == "compare" and _is_half(one.operands[1])
    ]
    for call in program.calls if with_logits else ():
        if call.name in (".gt", ".ge") and call.args and _is_half(call.args[0]):
            found.append((call.receiver, call.node, "0.5"))
        elif call.name in ("torch.round", ".round") and not call.keywords:
            found.append((call.receiver or call.argument(0), call.node, "rounded"))
    for scores, node, how in found:
        if node is not None and _model_of(scores) in with_logits:
            what = "rounded as if they were" if how == "rounded" else "compared with 0.5 like"
            yield program.finding(
                found_by,
                node,
                f"The model gives raw scores, as `BCEWithLogitsLoss` takes them, and they are {what} probabilities: "
                "for scores, 0 is the middle, and those between 0 and 0.5 are counted as class 0.",
                advice="Compare `torch.sigmoid(scores)` with 0.5, or the scores with 0.",
            )
            return


def _is_half(value: Value) -> bool:
    return isinstance(value, Literal) and value.value == 0.5


def _model_of(scores: Value | None) -> object:
    """What stands for the model whose raw scores a value is; None if it is none, or went through an activation."""
    while isinstance(scores, Call | Item | Element):
        if isinstance(scores, Element):
            return None
        if isinstance(scores, Item):
            scores = None if scores.attribute else scores.base
        elif scores.name in _KEEPS:
            scores = scores.receiver
        elif scores.name == "()":
            layer = last_layer(scores)
            if layer is not None:
                return id(layer[1].node) if layer[0] == "" else None
            unknown = not isinstance(scores.receiver, Call) and isinstance(scores.node, ast.Call)
            return ast.unparse(scores.expression.func) if unknown else None
        else:
            layer = last_layer(scores)
            return id(layer[1].node) if layer is not None and layer[0] == "" else None
    return None


def compared_by_broadcast_in_torch(program: Program, found_by: Rule[Any]) -> Iterator[Finding]:
    """Find predictions of shape (N, 1) that are compared with labels of shape (N,)."""
    pairs: list[tuple[Value, Value, ast.AST | None]] = [
        (one.operands[0], one.operands[1], one.node)
        for one in program.operations
        if isinstance(one, Operation) and one.operator == "compare" and _is_equality(one.node)
    ]
    pairs += [
        (one.receiver, one.args[0], one.node)
        for one in program.calls
        if one.name == ".eq" and one.receiver is not None and one.args
    ]
    for first, second, node in pairs:
        shapes = {id(one): tensor_shape(one) for one in (first, second)}
        columns = [one for one in (first, second) if _is_column(shapes[id(one)])]
        rows = [one for one in (first, second) if len(shapes[id(one)] or ()) == 1]
        if node is None or len(columns) != 1 or len(rows) != 1:
            continue
        if _is_output(columns[0]) != _is_output(rows[0]):
            yield program.finding(
                found_by,
                node,
                "One side has the shape (N, 1) and the other (N,): every prediction is compared with every label, and "
                "the result has N x N values.",
                advice="Give both the same shape: `predictions.squeeze(1)`, or `labels.unsqueeze(1)`.",
            )
            return


def _is_equality(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq)


def _is_column(shape: tuple[int | None, ...] | None) -> bool:
    return shape is not None and len(shape) == 2 and shape[1] == 1


def _is_output(value: Value) -> bool:
    """It comes from a model."""
    return any(isinstance(one, Call) and one.name == "()" and last_layer(one) is not None for one in walk(value, 60))
