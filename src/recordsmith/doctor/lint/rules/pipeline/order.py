"""Rules on the order of stages: shuffling against batching, repeating and caching."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.edits import Edit, move_stage, segment_of
from recordsmith.doctor.lint.interpreter.values import Call, Element, Group, Item, Literal, Slice, Table, Value, walk
from recordsmith.doctor.lint.libraries.arrays import shape_of
from recordsmith.doctor.lint.libraries.randomness import is_shuffled, random_changes, shuffled_before
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline, Stage
from recordsmith.doctor.lint.libraries.torch.streams import stream_buffers
from recordsmith.doctor.lint.program import Program, is_dropped
from recordsmith.doctor.lint.rules.pipeline.dropped_results import dropped_results
from recordsmith.facts.dataset_facts import LabelFacts
from recordsmith.rules import Finding, Severity, rule

__all__ = ["ORDER_RULES"]

_TINY = 32
_SMALL = 64
_MODEST = 1000
_MIXED = re.compile(
    r"keras\.datasets\.(mnist|fashion_mnist|cifar\d+|imdb|boston_housing|california_housing|reuters)\."
    r"|torchvision\.datasets\.(\w*MNIST|CIFAR\w+|SVHN|FakeData)|sklearn\.datasets\.make_|numpy\.random\.|tensorflow\.random\.|torch\.rand|sklearn\.datasets\.fetch_(openml|lfw)"
)
_CHANGES = {
    "skip",
    "shard",
    "concatenate",
    "unbatch",
    "shuffle",
    "batch",
    "padded_batch",
    "map",
    "repeat",
    "cache",
    "prefetch",
    "filter",
    "with_options",
}
_OF_TF_DATA = {"padded_batch", "prefetch", "interleave", "flat_map", "with_options"}
_COLLECTS = {"write", "append", "write_file", "imwrite", "add", "save"}

_SAYS_SHUFFLED = re.compile(
    r"#.*\b((already|pre-?|well)[ -]shuffled|shuffled (already|on disk|beforehand))", re.IGNORECASE
)


@rule("P001", "batch-before-shuffle", Severity.WARNING)
def batch_before_shuffle(program: Program) -> Iterator[Finding]:
    """Batches are made first and shuffled afterwards.

    Why it matters:
        `shuffle` moves its elements as a whole. After `batch` these are whole batches: the examples inside one batch
        stay together in every epoch, in the order of the file. If the file is sorted by class, most batches contain a
        single class, and the model forgets the others while it learns that one.

    Example:
        `dataset.batch(32).shuffle(1000)`

    Fix:
        Shuffle first, then batch: `dataset.shuffle(1000).batch(32)`. The buffer then counts examples, not batches.
    """
    for pipeline in program.finished:
        stages = pipeline.stages
        found = _late_shuffle(stages)
        if found is None or pipeline.source.batches or program.is_for_testing(pipeline) or is_small(program, pipeline):
            continue
        batch, shuffle = found
        between = stages[stages.index(batch) : stages.index(shuffle) + 1]
        edits = move_stage(program.source_of(shuffle), between)
        yield program.finding(
            batch_before_shuffle,
            shuffle.expression,
            f"{program.name_of(pipeline)} is batched before it is shuffled, so `shuffle` only changes the order of the "
            "batches: the examples in each batch are always the same ones.",
            edits=edits,
            certain=edits is not None,
        )


def _late_shuffle(stages: list[Stage]) -> tuple[Stage, Stage] | None:
    """The batch and the shuffle after it; not where there was a shuffle before, or a second batch makes windows."""
    batch: Stage | None = None
    for number, stage in enumerate(stages):
        if stage.name == "shuffle" and stage.constant(2, "reshuffle_each_iteration") is False:
            continue  # done once, as before a split
        if stage.name in ("shuffle", "unbatch", "rebatch", "flat_map", "window"):
            if stage.name != "shuffle" or batch is None:
                return None
            later = stages[number + 1 :]
            return None if any(one.is_batch or one.name == "unbatch" for one in later) else (batch, stage)
        if stage.is_batch and stage.constant(0, "batch_size") != 1:  # batches of one are examples
            batch = batch or stage
    return None


@rule("P002", "repeat-before-shuffle", Severity.INFO)
def repeat_before_shuffle(program: Program) -> Iterator[Finding]:
    """The data is repeated first and shuffled afterwards.

    Why it matters:
        The shuffle buffer then mixes two epochs: some examples come twice before others have come once, and an epoch is
        no longer one pass over the data. Where every epoch has a fixed number of steps, that is often accepted.

    Example:
        `dataset.repeat().shuffle(1000).batch(32)`

    Fix:
        Shuffle first, then repeat: `dataset.shuffle(1000).repeat().batch(32)`. Each epoch is then shuffled on its own.
    """
    for pipeline in program.finished:
        stages = pipeline.stages
        repeat = next((one for one in stages if one.name == "repeat" and one.constant(0, "count") != 1), None)
        if repeat is None:
            continue
        at = stages.index(repeat)
        shuffle = next((one for one in stages[at:] if one.name == "shuffle"), None)
        if shuffle is None or any(one.name == "shuffle" for one in stages[:at]) or pipeline.source.shuffles:
            continue
        if _is_file_level(stages, shuffle):
            continue
        between = stages[at : stages.index(shuffle) + 1]
        edits = move_stage(program.source_of(shuffle), between) if not any(one.is_batch for one in between) else None
        yield program.finding(
            repeat_before_shuffle,
            shuffle.expression,
            f"{program.name_of(pipeline)} is repeated before it is shuffled, so the shuffle mixes the end of one epoch "
            "into the start of the next: some examples come twice before others have come at all.",
            edits=edits,
            certain=edits is not None,
        )


@rule("P003", "never-shuffled", Severity.WARNING)
def never_shuffled(program: Program) -> Iterator[Finding]:
    """A model is trained on a dataset that nothing shuffles.

    Neither the dataset nor its files nor the arrays that it is made of are shuffled anywhere in the program.

    Why it matters:
        The model sees the examples in the order of the file, the same in every epoch. Where neighbours are similar
        (sorted by class, by day, by camera), each batch pulls the weights towards what its examples have in common, and
        training stalls or oscillates.

    Example:
        `model.fit(tf.data.TFRecordDataset(files).map(parse).batch(32))`

    Fix:
        Put `.shuffle(n)` before `.batch`, with n as large as memory allows, ideally the number of examples.
    """
    for node, pipelines in program.trained_on():
        candidates = [one for one in pipelines if not _has_an_order(one) and not is_small(program, one)]
        if not candidates or any(is_shuffled(one) is not False for one in pipelines):
            continue
        if any(shuffled_before(one, program.calls) for one in pipelines) or _drops_a_shuffle(program):
            continue
        pipeline = candidates[0]
        if any(is_shuffled(one) and _same_place(one, pipeline) for one in program.finished):
            continue  # by a setting
        made_up = _is_mixed_already(pipeline) or bool(_SAYS_SHUFFLED.search(program.source.text))
        batch = next((stage for stage in pipeline.stages if stage.is_batch), None)
        yield program.finding(
            never_shuffled,
            batch.expression if batch is not None else _origin(pipeline) or node,
            f"{program.name_of(pipeline)} is used for training, and nothing shuffles it: every epoch shows the "
            "examples in the same order, that of the data.",
            corrected=_with_shuffle(program, batch) if batch is not None else None,
            severity=Severity.INFO if made_up else None,
            advice="Give `shuffle=True` to the DataLoader." if pipeline.library == "torch" else "",
        )
    yield from _repeated_unshuffled(program)


def _drops_a_shuffle(program: Program) -> bool:
    """A shuffle is there, and its result is not used: that is said by a rule of its own."""
    return any(one.stage is not None and one.stage.name == "shuffle" and is_dropped(one) for one in program.pipelines)


@rule("P035", "result-not-used", Severity.ERROR)
def result_not_used(program: Program) -> Iterator[Finding]:
    """The result of a call that only returns something is not used, so the call does nothing.

    Why it matters:
        `shuffle`, `batch`, `map` and the others do not change a dataset: each returns a new one. Without `dataset = `
        before it, the line has no effect, and training uses the dataset as it was. The same is true of `df.drop(...)`,
        `x.astype(...)`, `tf.image.random_flip_left_right(image)` and `sklearn.utils.shuffle(x, y)`.

    Example:
        `dataset.shuffle(1000)` as a statement on its own.

    Fix:
        Keep the result: `dataset = dataset.shuffle(1000)`.
    """
    for pipeline in program.pipelines:
        stage = pipeline.stage
        if stage is None or not is_dropped(pipeline) or stage.name not in _CHANGES or program.source.cells:
            continue
        if isinstance(getattr(getattr(pipeline.node, "parent", None), "parent", None), ast.With | ast.Try):
            continue  # a test of what it raises
        root: ast.expr = stage.expression
        while isinstance(root, ast.Call | ast.Attribute):
            root = root.func if isinstance(root, ast.Call) else root.value
        edits = None
        if isinstance(root, ast.Name):
            begin, _ = program.source_of(stage).span(stage.expression)
            edits = [Edit(begin, begin, f"{root.id} = ")]
        yield program.finding(
            result_not_used,
            stage.expression,
            f"`{stage.name}` returns a new dataset, which is not used here: the line has no effect.",
            edits=edits,
            severity=_severity_of_dropped(pipeline, stage),
        )
    for node, message, edits, severity in dropped_results(program):
        yield program.finding(result_not_used, node, message, edits=edits, severity=severity)


def _severity_of_dropped(pipeline: Pipeline, stage: Stage) -> Severity | None:
    """What is dropped changes the training, or only its speed; or nothing but a name says that it is a dataset."""
    if pipeline.source.kind == "unknown" and not any(one.name in _OF_TF_DATA for one in pipeline.stages[:-1]):
        return Severity.INFO
    return Severity.WARNING if stage.name in ("prefetch", "cache", "with_options") else None


def _origin(pipeline: Pipeline) -> ast.AST | None:
    """Where a PyTorch loader is made: there it can be made to shuffle."""
    call = pipeline.source.call
    return call.node if call is not None and pipeline.library == "torch" else None


def _repeated_unshuffled(program: Program) -> Iterator[Finding]:
    """Endless repetition is for training only, also where the training itself is elsewhere."""
    for pipeline in program.finished:
        if program.roles(pipeline) - {"loop"} or program.named(pipeline) == "testing":
            continue
        repeat = next((one for one in pipeline.stages if one.name == "repeat"), None)
        batches = any(one.is_batch for one in pipeline.stages)
        if repeat is None or not batches or repeat.call.args or repeat.call.keywords or is_small(program, pipeline):
            continue
        if any(is_shuffled(one) and _same_place(one, pipeline) for one in program.finished):
            continue  # by a setting
        visible = pipeline.source.kind == "unknown" and not any(one.name == "shuffle" for one in pipeline.all_stages())
        known = is_shuffled(pipeline) is False and not shuffled_before(pipeline, program.calls)
        if (known and not _has_an_order(pipeline)) or (visible and _is_whole_here(pipeline)):
            yield program.finding(
                never_shuffled,
                repeat.expression,
                f"{program.name_of(pipeline)} is repeated without end, as for training, and nothing here shuffles it: "
                "every epoch shows the examples in the same order.",
                severity=Severity.WARNING
                if known and program.named(pipeline) == "training" and not _is_mixed_already(pipeline)
                else Severity.INFO,
            )


def _same_place(one: Pipeline, other: Pipeline) -> bool:
    """Two datasets are the same piece of source, followed along different branches."""
    return one.stage is not None and other.stage is not None and one.stage.expression is other.stage.expression


def _is_mixed_already(pipeline: Pipeline) -> bool:
    """It is made of arrays that come mixed, or that are random numbers, so that their order means nothing."""
    calls = [one for origin in pipeline.origins() for one in walk(origin.source.call) if isinstance(one, Call)]
    return any(_MIXED.match(one.name) for one in calls)


def _is_whole_here(pipeline: Pipeline) -> bool:
    return len(pipeline.stages) > 1


def _with_shuffle(program: Program, batch: Stage) -> str:
    source = program.source_of(batch)
    dot, end = segment_of(source, batch.expression)
    first, last = source.whole_lines(dot, end)
    return source.text[first:dot] + ".shuffle(10_000)" + source.text[dot:last]


def _has_an_order(pipeline: Pipeline) -> bool:
    """Time series and text cut into windows are often meant to stay in order; one element cannot be shuffled."""
    stages = list(pipeline.all_stages())
    if _predicts_its_next(pipeline.element) or any(stage.name == "rebatch" for stage in stages):
        return True
    windows = sum(stage.is_batch for stage in pipeline.stages) > 1 or any(stage.name == "window" for stage in stages)
    few = any(stage.name == "take" and isinstance(stage.constant(0, "count"), int) for stage in stages)
    return windows or few or pipeline.source.kind == "tensors"


def _predicts_its_next(element: Value) -> bool:
    """It is a pair of two slices of one sequence, `x[:-1], x[1:]`, as for a language model."""
    if isinstance(element, Element) and element.of is not None:
        element = element.of
    members = element.members if isinstance(element, Group) and len(element.members) == 2 else ()
    plain = [one.of if isinstance(one, Element) and one.of is not None else one for one in members]
    sliced = [one.base for one in plain if isinstance(one, Item) and isinstance(one.index, Slice | Group)]
    return len(sliced) == 2 and sliced[0] is sliced[1]


def _is_file_level(stages: list[Stage], shuffle: Stage) -> bool:
    """It shuffles file names: files are opened after it."""
    return any(one.name in ("interleave", "flat_map") for one in stages[stages.index(shuffle) :])


@rule("P004", "small-shuffle-buffer", Severity.WARNING)
def small_shuffle_buffer(program: Program) -> Iterator[Finding]:
    """The shuffle buffer is too small to mix the data.

    If the data is given, the buffer is compared with the longest run of records that have the same label.

    Why it matters:
        `shuffle(n)` chooses only among the n examples in its buffer. No example can come more than n places earlier
        than in the file, so a buffer shorter than a run of equal labels still gives batches of one label.

    Example:
        `dataset.shuffle(10)` on records that are sorted by class.

    Fix:
        Make the buffer as large as the dataset if memory allows; otherwise shuffle the records when they are written,
        or shuffle the files too (`list_files` + `interleave`).
    """
    for pipeline in program.finished:
        for shuffle in pipeline.stages:
            if shuffle.name != "shuffle" or _is_file_level(pipeline.stages, shuffle):
                continue
            if program.is_for_testing(pipeline) or _takes_few(pipeline, shuffle):
                continue
            names = ("buffer",) if pipeline.library == "recordsmith" else ("buffer_size",)
            size = shuffle.constant(None if pipeline.library == "recordsmith" else 0, *names)
            if not isinstance(size, int) or isinstance(size, bool):
                continue
            yield from _small(program, pipeline, shuffle, size)
    for call, number in stream_buffers(program.calls):
        if 1 < number < _SMALL:
            yield program.finding(
                small_shuffle_buffer,
                call.expression,
                f"The shuffle buffer holds only {number:,} examples: examples come almost in the order of the files.",
                advice="Make the buffer several thousand examples, and shuffle the files too.",
                severity=None if number <= _TINY else Severity.INFO,
            )


def _is_in_memory(pipeline: Pipeline) -> bool:
    """It is made of arrays or lists of the program, which may have been mixed before."""
    return all(one.source.kind in ("slices", "zip") for one in pipeline.origins())


def _small(program: Program, pipeline: Pipeline, shuffle: Stage, size: int) -> Iterator[Finding]:
    if any(one.is_batch for one in pipeline.stages[: pipeline.stages.index(shuffle)]) or pipeline.source.batches:
        return
    run = _longest_run(program)
    node = shuffle.expression
    if run is not None:
        label, longest = run
        if longest > size:
            yield program.finding(
                small_shuffle_buffer,
                node,
                f"The shuffle buffer holds {size:,} examples, but up to {longest:,} records in a row have the same "
                f"{label.feature!r}: batches of one label remain.",
                advice=f"Make the buffer several times {longest:,}, best the whole dataset, or shuffle the records "
                "when they are written.",
                evidence={"buffer": size, "longest_run": longest, "label": label.feature},
                feature=label.feature,
            )
        return
    rows = _rows(program, pipeline)
    if (rows is not None and size >= rows) or is_mixed_otherwise(program, pipeline) or is_small(program, pipeline):
        return
    batch = next((one.constant(0, "batch_size") for one in pipeline.stages if one.is_batch), None)
    if size < _SMALL or (isinstance(batch, int) and size < batch):
        tiny = size <= _TINY or (isinstance(batch, int) and size < batch)
        mixes = "changes nothing at all" if size <= 1 else f"only ever chooses among {size} examples"
        yield program.finding(
            small_shuffle_buffer,
            node,
            f"A shuffle buffer of {size} {mixes}: the order stays nearly that of the data.",
            severity=None if tiny and not _is_setting(shuffle) and not _is_in_memory(pipeline) else Severity.INFO,
            evidence={"buffer": size},
        )
    elif size < _MODEST and pipeline.source.kind == "tfrecord" and rows is None:
        yield program.finding(
            small_shuffle_buffer,
            node,
            f"A shuffle buffer of {size} mixes neighbours only: if the records are sorted, by class or by time, "
            "batches stay one-sided.",
            advice="Compare it with the data: `--data PATH` measures the runs of equal labels.",
            severity=Severity.INFO,
            evidence={"buffer": size},
        )


def _is_setting(shuffle: Stage) -> bool:
    """The size is a default that callers may change."""
    size = shuffle.call.argument(0, "buffer_size")
    return isinstance(size, Literal) and size.default


def is_mixed_otherwise(program: Program, pipeline: Pipeline) -> bool:
    """Another, larger shuffle, or one of what the dataset is made from, does the work."""
    others = [one.constant(0, "buffer_size") for one in pipeline.stages if one.name == "shuffle"]
    larger = any(not isinstance(size, int) or size >= _MODEST for size in others)
    return larger or shuffled_before(pipeline, program.calls)


def _longest_run(program: Program) -> tuple[LabelFacts, int] | None:
    """The label with the longest run, in training data if splits are named, where runs are longer than by chance."""
    if program.data is None or not program.data.labels:
        return None
    found: tuple[LabelFacts, int] | None = None
    for label in program.data.labels:
        train = {split: run for split, run in label.longest_run.items() if split in ("train", "training")}
        for split, run in (train or label.longest_run).items():
            expected = label.expected_run.get(split, 0)
            classes = len(label.counts.get(split, {}))
            if classes > 1 and run > 3 * max(expected, 1) and (found is None or run > found[1]):
                found = (label, run)
    return found


def _rows(program: Program, pipeline: Pipeline) -> int | None:
    """How many examples there are, where the data or the source says how large the arrays are."""
    if program.data is not None and program.data.records:
        return program.data.records
    rows = _rows_of_source(pipeline)
    return rows if rows is not None else _made_here(program)


def is_small(program: Program, pipeline: Pipeline) -> bool:
    """The source says that there are only a few examples, as in a demonstration: their order means nothing."""
    rows = program.data.records if program.data is not None and program.data.records else _rows_of_source(pipeline)
    return rows is not None and rows <= _SMALL


def _takes_few(pipeline: Pipeline, shuffle: Stage) -> bool:
    later = pipeline.stages[pipeline.stages.index(shuffle) :]
    counts = [one.constant(0, "count") for one in later if one.name == "take"]
    return any(isinstance(count, int) and count <= _SMALL for count in counts)


def _rows_of_source(pipeline: Pipeline) -> int | None:
    call = pipeline.source.call
    if call is None or pipeline.source.kind not in ("slices", "range", "tensors"):
        return None
    if pipeline.source.kind == "tensors":
        return 1
    value = call.argument(0, "tensors")
    if pipeline.source.kind == "range":
        return (
            value.value if isinstance(value, Literal) and isinstance(value.value, int) and len(call.args) == 1 else None
        )
    if isinstance(value, Group) and not value.is_list and value.members:
        value = value.members[0]
    if isinstance(value, Table) and value.entries:
        value = next(iter(value.entries.values()))
    if isinstance(value, Group) and value.is_list and not value.grown:
        return len(value.members)
    shape = shape_of(value)
    return shape[0] if shape else None


def _made_here(program: Program) -> int | None:
    """How often the longest loop runs that writes or collects the examples of a small program."""
    found: list[int] = []
    for call in program.calls:
        last = call.args[-1] if call.name == "builtins.range" and call.args else None
        loop = getattr(call.node, "parent", None)
        if isinstance(last, Literal) and isinstance(last.value, int) and loop is not None:
            collects = isinstance(loop, ast.comprehension) or (
                isinstance(loop, ast.For) and any(getattr(node, "attr", "") in _COLLECTS for node in ast.walk(loop))
            )
            found += [last.value] if collects else []
    return max(found, default=None)


@rule("P009", "cache-after-shuffle", Severity.WARNING)
def cache_after_shuffle(program: Program) -> Iterator[Finding]:
    """The cache comes after the shuffle.

    Why it matters:
        `cache` keeps what it sees in the first epoch. After `shuffle` that is one particular order, and every later
        epoch has exactly that order: the data is shuffled once, not in every epoch.

    Example:
        `dataset.shuffle(1000).cache().batch(32)`

    Fix:
        Cache first, then shuffle: `dataset.cache().shuffle(1000).batch(32)`.
    """
    for pipeline in program.finished:
        stages = pipeline.stages
        cache = next((one for one in reversed(stages) if one.name == "cache"), None)
        if cache is None or program.is_for_testing(pipeline):
            continue
        at = stages.index(cache)
        shuffle = next((one for one in reversed(stages[:at]) if one.name == "shuffle"), None)
        if shuffle is None or any(one.name == "shuffle" for one in stages[at:]):
            continue
        between = stages[stages.index(shuffle) + 1 : at]
        once = shuffle.constant(2, "reshuffle_each_iteration") is False
        split = any(one.name in ("take", "skip", "shard", "filter", "interleave", "flat_map") for one in between)
        before = pipeline.before(cache)
        if once or split or (before is not None and any(random_changes(before.element, certain=True))):
            continue  # P011 is about a cache behind random changes, and its correction puts both right
        movable = all(one.name in ("map", "prefetch") for one in between)
        edits = move_stage(program.source_of(cache), [shuffle, *between, cache]) if movable and not between else None
        yield program.finding(
            cache_after_shuffle,
            cache.expression,
            f"{program.name_of(pipeline)} is cached after it was shuffled, so the order of the first epoch is kept and "
            "every other epoch repeats it.",
            edits=edits,
            certain=edits is not None,
        )


ORDER_RULES = [
    batch_before_shuffle,
    repeat_before_shuffle,
    never_shuffled,
    small_shuffle_buffer,
    cache_after_shuffle,
    result_not_used,
]
