"""`keras.utils.Sequence` and `PyDataset`: the batches that the `__getitem__` of a program's class returns."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.machine import Arguments, Machine
from recordsmith.doctor.lint.interpreter.values import Call, Element, Function, Object, Value, options_of
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline, Source

__all__ = ["BATCHES", "sequence_batches"]

BATCHES = "[]"  # the field of an object that keeps them


def sequence_batches(machine: Machine, value: Value | None, use: Call) -> Iterator[Pipeline]:
    """Yield the batches of objects that a model is given, as datasets; `use` is the call that gets them."""
    for one in options_of(value):
        member = one.program_class.members.get("__getitem__") if isinstance(one, Object) else None
        if not isinstance(one, Object) or not isinstance(member, Function):
            continue
        made = one.fields.get(BATCHES)
        if not isinstance(made, Pipeline):
            method = Function(member.definition, member.scope, owner=one)
            before = len(machine.calls)
            element = machine.follow(method, Arguments((Element("index"),), exact=False), label="map:__getitem__")
            source = Source("sequence", use, batches=True, steps=tuple(machine.calls[before:]))
            made = Pipeline(source, element, names=list(_names_of(one)), node=one.node)
            one.fields[BATCHES] = made
            machine.pipelines.append(made)
        yield made


def _names_of(value: Object) -> Iterator[str]:
    """The names that the result of an expression is assigned to."""
    parent = getattr(value.node, "parent", None)
    for target in parent.targets if isinstance(parent, ast.Assign) else ():
        if isinstance(target, ast.Name):
            yield target.id
