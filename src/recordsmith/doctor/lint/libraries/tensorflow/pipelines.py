"""Datasets as the program builds them: a source, and the stages after it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from recordsmith.doctor.lint.interpreter.values import Call, Element, Group, Literal, Table, Unknown, Value

__all__ = ["Pipeline", "Source", "Stage", "Use", "batched"]

_BATCHES = ("batch", "padded_batch", "ragged_batch", "bucket_by_sequence_length", "dense_to_ragged_batch")


@dataclass(eq=False, slots=True)
class Source:
    """Where a pipeline begins.

    Attributes:
        kind: "tfrecord", "slices", "tensors", "lines", "fixed", "files" (list_files), "generator", "range", "zip",
            "mixed" (sample or choose from datasets), "tfds", "directory" (of Keras), "csv", "recordsmith", "torch",
            "sequence" (a class of the program for Keras), or "unknown" where only the methods that are called on it
            say that it is a dataset.
        call: the call that made it.
        of: the pipelines that it was made of.
        shuffles: it shuffles by itself; None if that is not known.
        batches: it gives batches by itself.
        steps: the calls that make one example or batch, where they are known: those of a `__getitem__`.
    """

    kind: str
    call: Call | None
    of: tuple[Pipeline, ...] = ()
    shuffles: bool | None = None
    batches: bool = False
    steps: tuple[Call, ...] = ()


@dataclass(eq=False, slots=True)
class Stage:
    """One step: the method and its arguments.

    Attributes:
        name: the method, as "map"; `apply` of something known is called as what it does.
        call: the call.
        function: what it maps or filters by.
        inner: the pipeline that the function of an interleave or flat_map makes.
    """

    name: str
    call: Call
    function: Value | None = None
    inner: Pipeline | None = None

    def constant(self, position: int | None, *names: str) -> int | float | str | bool | None:
        """Return an argument if it is a constant that the source says; else None."""
        value = self.call.argument(position, *names)
        return value.value if isinstance(value, Literal) else None

    @property
    def is_batch(self) -> bool:
        """It makes batches."""
        return self.name in _BATCHES

    @property
    def expression(self) -> ast.Call:
        """The call in the source."""
        return self.call.expression


@dataclass(eq=False, slots=True)
class Pipeline(Value):
    """A dataset: what it was made of, its last stage, and what its elements are."""

    source: Source
    element: Value = field(default_factory=Unknown)
    parent: Pipeline | None = None
    stage: Stage | None = None
    names: list[str] = field(default_factory=list)
    extended: bool = False
    looked_at: bool = False  # something takes its first elements

    @property
    def stages(self) -> list[Stage]:
        """All stages, first to last."""
        found: list[Stage] = []
        one: Pipeline | None = self
        while one is not None:
            if one.stage is not None:
                found.append(one.stage)
            one = one.parent
        return found[::-1]

    @property
    def all_names(self) -> list[str]:
        """The names that it and what it was made of had in the program, the latest first."""
        found: list[str] = []
        one: Pipeline | None = self
        while one is not None:
            found.extend(reversed(one.names))
            one = one.parent
        return found

    @property
    def library(self) -> str:
        """'recordsmith', 'torch' or 'tensorflow'."""
        return self.source.kind if self.source.kind in ("recordsmith", "torch") else "tensorflow"

    def before(self, stage: Stage) -> Pipeline | None:
        """Return the pipeline that a stage was added to."""
        one: Pipeline | None = self
        while one is not None and one.stage is not stage:
            one = one.parent
        return None if one is None else one.parent

    def ancestors(self) -> Iterator[Pipeline]:
        """The pipelines that this one grew out of, the latest first, itself included."""
        one: Pipeline | None = self
        while one is not None:
            yield one
            one = one.parent

    def all_stages(self) -> Iterator[Stage]:
        """The stages of this one, and of all that it was made of: of zipped, mixed, concatenated, interleaved ones."""
        for pipeline in self.origins():
            yield from pipeline.stages

    def origins(self) -> Iterator[Pipeline]:
        """This one and all that flows into it."""
        waiting: list[Pipeline] = [self]
        while waiting:
            one = waiting.pop()
            yield one
            waiting.extend(one.source.of)
            for stage in one.stages:
                if stage.inner is not None:
                    waiting.append(stage.inner)
                waiting.extend(value for value in stage.call.args if isinstance(value, Pipeline))

    def extend(self, stage: Stage, element: Value | None = None) -> Pipeline:
        """Return this pipeline with one more stage."""
        self.extended |= stage.name != "take"  # which is often a look at a few elements
        self.looked_at |= stage.name == "take"
        return Pipeline(self.source, self.element if element is None else element, self, stage, node=stage.call.node)

    def parts(self) -> Iterator[Value]:
        """The element, and what the source was made of."""
        yield self.element
        if self.source.call is not None:
            yield self.source.call


@dataclass(frozen=True, slots=True)
class Use:
    """What the program does with a dataset.

    Attributes:
        role: "training", "validation" (also testing), "prediction", or "loop" (a loop that does neither visibly).
        pipeline: the dataset.
        node: the call or loop that uses it.
        target: what a loop binds its elements to.
    """

    role: str
    pipeline: Pipeline
    node: ast.expr | ast.stmt
    target: ast.expr | None = None


def batched(element: Value) -> Value:
    """Return what an element is after it was batched."""
    if isinstance(element, Element):
        return Element(element.kind, batched=True, of=element.of)
    if isinstance(element, Group):
        return Group(tuple(batched(member) for member in element.members))
    if isinstance(element, Table):
        return Table({key: batched(entry) for key, entry in element.entries.items()}, element.complete)
    return Element("", batched=True, of=element)
