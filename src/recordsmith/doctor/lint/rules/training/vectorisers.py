"""Rules on layers that learn from the data before the model does: vocabularies, normalisation."""

from __future__ import annotations

from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["VECTORISER_RULES"]

_LEARNS = {".adapt", ".fit_on_texts"}


@rule("P012", "adapted-inside-map", Severity.ERROR)
def adapted_inside_map(program: Program) -> Iterator[Finding]:
    """A vectoriser or normalisation layer is adapted inside a function that `map` runs.

    Why it matters:
        `adapt` goes over a dataset to learn a vocabulary. Inside `map` it would do so for every single example, with
        only that example's words, so that equal words get different numbers; in practice TensorFlow hangs, or fails
        because the layer creates variables inside a graph.

    Example:
        `dataset.map(lambda text: make_and_adapt_vectoriser(text)(text))`

    Fix:
        Adapt once, before the pipeline, on all the text: `vectorizer.adapt(dataset.map(lambda text, label: text))`.
        Then map the finished layer: `dataset.map(lambda text, label: (vectorizer(text), label))`.
    """
    for call in program.calls:
        if call.name in _LEARNS and call.in_map:
            layer = call.receiver.name.rpartition(".")[2] if isinstance(call.receiver, Call) else "the layer"
            yield program.finding(
                adapted_inside_map,
                call.expression,
                f"`{call.name[1:]}` is called inside a function that `map` runs for every example: `{layer}` would "
                "learn anew from each single one, and TensorFlow hangs or fails.",
            )


VECTORISER_RULES = [adapted_inside_map]
