"""Rules on speed: worth knowing, never wrong."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from recordsmith.doctor.lint.edits import Edit, segment_of
from recordsmith.doctor.lint.interpreter.values import Call, Function, walk
from recordsmith.doctor.lint.libraries.randomness import leaves_of
from recordsmith.doctor.lint.libraries.tensorflow.parse_specs import parsed_feature_of
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline, Stage
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["SPEED_RULES"]

_WORK = ("tensorflow.io.", "tensorflow.image.", "tensorflow.py_function", "tensorflow.strings.", "keras.")


@rule("P006", "no-prefetch", Severity.INFO)
def no_prefetch(program: Program) -> Iterator[Finding]:
    """A model is trained on a dataset that does not prefetch.

    Why it matters:
        Without `prefetch` the next batch is prepared only when the model asks for it: reading and training take turns
        instead of running at the same time, and the accelerator waits.

    Example:
        `model.fit(dataset.shuffle(1000).batch(32))`

    Fix:
        End the chain with `.prefetch(tf.data.AUTOTUNE)`.
    """
    for _, pipelines in program.trained_on():
        for pipeline in pipelines:
            last = pipeline.stage
            if pipeline.library != "tensorflow" or pipeline.source.kind == "unknown" or last is None:
                continue
            if not any(stage.is_batch for stage in pipeline.stages):
                continue
            if any(stage.name in ("prefetch", "prefetch_to_device") for stage in pipeline.all_stages()):
                continue
            edits = None
            if isinstance(last.expression.func, ast.Attribute):
                _, end = segment_of(program.source_of(last), last.expression)
                edits = [Edit(end, end, f".prefetch({program.alias('tensorflow.data.AUTOTUNE')})")]
            yield program.finding(
                no_prefetch,
                last.expression,
                f"{program.name_of(pipeline)} is not prefetched: the model waits while each batch is made.",
                edits=edits,
                certain=edits is not None,
            )


@rule("P007", "map-not-parallel", Severity.INFO)
def map_not_parallel(program: Program) -> Iterator[Finding]:
    """A function that parses or decodes is mapped one element after the other.

    Why it matters:
        `map` without `num_parallel_calls` uses one processor, and decoding is what takes the time.

    Example:
        `dataset.map(parse)`

    Fix:
        `dataset.map(parse, num_parallel_calls=tf.data.AUTOTUNE)`. The order of the elements stays the same.
    """
    for pipeline in program.finished:
        if pipeline.library != "tensorflow":
            continue
        slow = [one for one in pipeline.stages if one.name == "map" and _is_alone(one) and _is_work(pipeline, one)]
        if not slow:
            continue
        edits = [edit for one in slow[:1] for edit in _parallel(program, one)]
        yield program.finding(
            map_not_parallel,
            slow[0].expression,
            f"{program.name_of(pipeline)} is parsed and decoded by one processor: this `map` has no "
            "`num_parallel_calls`.",
            edits=edits,
            certain=bool(edits),
            count=len(slow),
        )


def _is_alone(stage: Stage) -> bool:
    return stage.call.exact and stage.call.argument(1, "num_parallel_calls") is None and stage.call.name == ".map"


def _is_work(pipeline: Pipeline, stage: Stage) -> bool:
    before = {id(one) for one in walk(stage.call.receiver)}
    made = next((one for one in pipeline.ancestors() if one.stage is stage), None)
    if made is None or not isinstance(stage.function, Function):
        return False
    calls = [one for one in walk(made.element) if isinstance(one, Call) and id(one) not in before]
    return any(call.name.startswith(_WORK) for call in calls)


def _parallel(program: Program, stage: Stage) -> Iterator[Edit]:
    source = program.source_of(stage)
    call = stage.expression
    last = [*call.args, *(keyword.value for keyword in call.keywords)][-1]
    _, end = source.span(last)
    rest = source.text[end : source.span(call)[1]]
    if rest.strip().strip(")").strip(",").strip() == "":
        yield Edit(end, end, f", num_parallel_calls={program.alias('tensorflow.data.AUTOTUNE')}")


@rule("P008", "parsed-one-by-one", Severity.INFO)
def parsed_one_by_one(program: Program) -> Iterator[Finding]:
    """Records are parsed one by one, though a whole batch could be parsed at once.

    Why it matters:
        `tf.io.parse_example` parses a batch of records in one step, `parse_single_example` one record per step; for
        small records the first is several times as fast.

    Example:
        `dataset.map(parse_one).batch(256)`, where `parse_one` only parses.

    Fix:
        Batch first, and parse the batch: `dataset.batch(256).map(lambda s: tf.io.parse_example(s, features))`.
    """
    for pipeline in program.finished:
        stages = pipeline.stages
        for number, stage in enumerate(stages):
            made = next((one for one in pipeline.ancestors() if one.stage is stage), None)
            if stage.name != "map" or made is None or not any(one.is_batch for one in stages[number:]):
                continue
            between = stages[number + 1 : next(i for i, one in enumerate(stages) if i > number and one.is_batch)]
            if any(one.name not in ("shuffle", "repeat", "prefetch", "cache") for one in between):
                continue
            leaves = list(leaves_of(made.element))
            only_parses = leaves and all(
                parsed_feature_of(leaf) is not None
                or (isinstance(leaf, Call) and leaf.name == "tensorflow.io.parse_single_example")
                for leaf in leaves
            )
            batch = next(one for one in stages[number:] if one.is_batch)
            if only_parses and batch.name == "batch" and pipeline.source.kind == "tfrecord":
                yield program.finding(
                    parsed_one_by_one,
                    stage.expression,
                    "This `map` only parses, one record at a time, and the results are batched afterwards: parsing the "
                    "batch as a whole is faster.",
                )


SPEED_RULES = [no_prefetch, map_not_parallel, parsed_one_by_one]
