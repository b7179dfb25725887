"""Images that are normalised by a transform, and once more by the model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recordsmith.doctor.lint.interpreter.values import Call
from recordsmith.doctor.lint.libraries.torch.transforms import applied_transforms, normalisation, transform_steps
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Rule

__all__ = ["normalised_twice"]


def normalised_twice(program: Program, found_by: Rule[Any]) -> Iterator[Finding]:
    """Find a `Normalize` whose input went through the same `Normalize` already."""
    for call in program.calls:
        given = call.argument(0) if call.name == "()" and isinstance(call.receiver, Call) else None
        mine = normalisation(transform_steps(call.receiver)[0]) if given is not None else None
        if mine is None or call.node is None:
            continue
        before = [normalisation(steps) for _, steps, _ in applied_transforms(given)]
        if mine in before:
            yield program.finding(
                found_by,
                call.node,
                "This normalises images that `Normalize` has normalised already: what is left is far from what the "
                "model expects.",
                advice="Normalise once: in the transform, or in the model.",
            )
            return
