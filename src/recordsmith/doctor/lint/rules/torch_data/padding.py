"""Rules on padded sequences: masks that let padding through, padding numbers that differ."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Item, Literal, Operation, Value, walk
from recordsmith.doctor.lint.libraries.control_flow import statement_of
from recordsmith.doctor.lint.libraries.torch.modules import is_module
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["PADDING_RULES"]

_MASK = re.compile(r"mask|attn|attention", re.IGNORECASE)
_PAD = "torch.nn.utils.rnn.pad_sequence"
_ONES = {"torch.ones", "torch.ones_like", "numpy.ones", "numpy.ones_like"}
_SAME = {".long", ".to", ".cuda", ".int", ".float", ".bool", ".clone", ".unsqueeze", ".type", "torch.tensor"}


@rule("P163", "padding-attended", Severity.WARNING)
def padding_attended(program: Program) -> Iterator[Finding]:
    """A model attends to padding: its mask has ones there, compares with another number, or is not given.

    Why it matters:
        The attention of a transformer takes every position that the mask does not leave out for a word. With padding
        among them, the same text gives another result in every batch, and short texts are mostly noise.

    Example:
        `mask = torch.ones_like(ids)` for padded `ids`; `ids.ne(0)` where `pad_sequence(..., padding_value=2)` pads.

    Fix:
        `mask = (ids != pad).long()`, with the number that pads; or the `attention_mask` of the tokenizer.
    """
    yield from _another_number(program)
    yield from _ones_for_padding(program)
    yield from _mask_not_given(program)
    yield from _another_row(program)


def _plain(value: Value | None) -> Value | None:
    while isinstance(value, Call) and value.name in _SAME:
        value = value.receiver if value.name.startswith(".") else value.argument(0)
    return value


def _number(value: Value | None) -> object:
    return value.value if isinstance(value, Literal) and isinstance(value.value, int | float) else None


def _another_number(program: Program) -> Iterator[Finding]:
    """`ids != 0` where `ids` are padded with another number."""
    compared: list[tuple[Value, object, ast.AST]] = [
        (call.receiver, _number(call.args[0]), call.expression)
        for call in program.calls
        if call.name in (".ne", ".eq") and call.receiver is not None and call.args and call.node is not None
    ]
    compared += [
        (one.operands[0], _number(one.operands[1]), one.node)
        for one in program.operations
        if isinstance(one, Operation) and one.operator == "compare" and len(one.operands) == 2 and one.node is not None
    ]
    for value, number, node in compared:
        padded = _plain(value)
        if not isinstance(padded, Call) or padded.name != _PAD or not padded.exact or number is None:
            continue
        statement = statement_of(node)
        used = _number(padded.argument(2, "padding_value") or Literal(0))
        if used is None or used == number or not _MASK.search(ast.unparse(statement or node)):
            continue
        if any(other == used and _plain(values) is padded and _is_mask(place) for values, other, place in compared):
            continue
        yield program.finding(
            padding_attended,
            node,
            f"The mask looks for {number}, but the sequences are padded with {used}: the mask leaves no padding out.",
        )
        return


def _is_mask(node: ast.AST) -> bool:
    return bool(_MASK.search(ast.unparse(statement_of(node) or node).partition("=")[0]))


def _ones_for_padding(program: Program) -> Iterator[Finding]:
    """A mask of ones for ids that are padded."""
    for call in program.calls:
        mask = _plain(call.argument(None, "attention_mask"))
        ids = call.argument(None, "input_ids") or call.argument(0)
        if not isinstance(mask, Call) or mask.name not in _ONES or call.node is None or ids is None:
            continue
        if any(_pads(one) for one in walk(ids, 80)):
            yield program.finding(
                padding_attended,
                mask.expression,
                "The attention mask is 1 everywhere, also for the padding of these ids.",
            )
            return
    for function in program.source.nodes:
        if isinstance(function, ast.FunctionDef):
            node = _full_mask(function)
            if node is not None:
                yield program.finding(
                    padding_attended,
                    node,
                    f"`{ast.unparse(node)}` is 1 for every position up to the longest, also for the padding of shorter "
                    "sequences.",
                )
                return


def _full_mask(function: ast.FunctionDef) -> ast.AST | None:
    """`[1] * longest` for a mask, beside `ids + [0] * (longest - len(ids))`."""
    lengths: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.BinOp(
                left=ast.List(elts=[_]), op=ast.Mult(), right=ast.BinOp(left=longest, op=ast.Sub(), right=ast.Call())
            ):
                lengths.add(ast.unparse(longest))
    for node in ast.walk(function):
        match node:
            case ast.BinOp(left=ast.List(elts=[ast.Constant(value=1)]), op=ast.Mult(), right=right):
                statement = statement_of(node)
                whole = not isinstance(getattr(node, "parent", None), ast.BinOp)
                if ast.unparse(right) in lengths and whole and _MASK.search(ast.unparse(statement or node)):
                    return node
    return None


def _pads(value: Value) -> bool:
    if not isinstance(value, Call):
        return False
    given = value.argument(None, "padding", "pad_to_max_length")
    on = given is not None and not (isinstance(given, Literal) and given.value in (False, "do_not_pad"))
    return value.name == _PAD or (on and value.argument(None, "return_tensors", "max_length", "truncation") is not None)


def _mask_not_given(program: Program) -> Iterator[Finding]:
    """`model(batch["input_ids"])`, where the tokenizer has padded the batch."""
    for call in program.calls:
        model = call.receiver
        if call.name != "()" or not isinstance(model, Call) or not call.exact or not is_module(model):
            continue
        ids = call.argument(0, "input_ids", "inputs_embeds")
        if not model.name.endswith(".from_pretrained"):
            continue
        if ids is None or call.argument(1, "attention_mask") is not None or not isinstance(ids, Item):
            continue
        several = isinstance(ids.base, Call) and bool(ids.base.args) and not isinstance(ids.base.args[0], Literal)
        if _pads(ids.base) and several:
            yield program.finding(
                padding_attended,
                call.expression,
                "The tokenizer pads these texts, and the model is not given their `attention_mask`: it attends to the "
                "padding.",
            )
            return


def _another_row(program: Program) -> Iterator[Finding]:
    """`nn.Embedding(padding_idx=0)`, where the sequences are padded with another number."""
    pads = [_number(one.argument(2, "padding_value") or Literal(0)) for one in program.calls if one.name == _PAD]
    for call in program.calls:
        row = _number(call.argument(2, "padding_idx")) if call.name == "torch.nn.Embedding" else None
        if row is None or not pads or None in pads or call.node is None:
            continue
        if all(one != row for one in pads) and len(set(pads)) == 1 and pads[0] != -100:
            yield program.finding(
                padding_attended,
                call.expression,
                f"`padding_idx={row}` keeps row {row} at zero, but the sequences are padded with {pads[0]}: padding is "
                "a word like any other.",
            )
            return


PADDING_RULES = [padding_attended]
