"""Rules on what each worker of a DataLoader, and each process of a distributed training, reads and draws."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Function, Literal, Object, Value, options_of
from recordsmith.doctor.lint.libraries.control_flow import enclosing, function_of
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline
from recordsmith.doctor.lint.libraries.torch.data import ITERABLE, base_dataset
from recordsmith.doctor.lint.libraries.torch.modules import derives_from
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.torch.splits import torch_loaders
from recordsmith.rules import Finding, Severity, rule

__all__ = ["WORKER_RULES"]

_WORKER = re.compile(
    r"worker_info|worker_id|num_workers|split_by_worker|get_rank|\brank\b|world_size|\bshard\(|shard_(id|index)|num_shards"
)
_GENERATORS = re.compile(r"numpy\.random\.(default_rng|RandomState|Generator)|random\.Random|torch\.Generator")
_SETS_EPOCH = r"set_epoch|[Ll]ightning|[Aa]ccelerat|\bFabric\(|ignite"


def _loaders(program: Program) -> Iterator[tuple[Pipeline, Call]]:
    """Each place that makes a loader, with the last loader that it makes: a function may be followed several times."""
    found = {id(one.source.call.node): (one, one.source.call) for one in torch_loaders(program) if one.source.call}
    yield from found.values()


def _has_workers(call: Call) -> bool:
    """It has workers for certain: a number above 0 is written there, or is the default of an option."""
    given = call.argument(5, "num_workers")
    found = [one.value for one in options_of(given) if isinstance(one, Literal)]
    return bool(found) and all(isinstance(one, int) and one > 0 for one in found)


def _is_given(value: Value | None) -> bool:
    return value is not None and not (isinstance(value, Literal) and value.value is None)


@rule("P106", "read-by-every-worker", Severity.ERROR)
def read_by_every_worker(program: Program) -> Iterator[Finding]:
    """An IterableDataset is read with several workers, and each of them yields all of it.

    Why it matters:
        Every worker gets a copy of the dataset and iterates over it. Unless `__iter__` asks which worker it runs in,
        each example arrives once per worker: an epoch is several times too long, and batches repeat each other.

    Example:
        `DataLoader(Lines("data.txt"), num_workers=4)` with an `__iter__` that reads the whole file.

    Fix:
        Divide the work in `__iter__`: `info = torch.utils.data.get_worker_info()`, then
        `itertools.islice(rows, info.id, None, info.num_workers)` if `info` is not None. Or use `num_workers=0`.
    """
    for _, call in _loaders(program):
        dataset = base_dataset(call.argument(0, "dataset"))
        if isinstance(dataset, Call) and _is_tfrecord_without_index(dataset) and _has_workers(call):
            yield program.finding(
                read_by_every_worker,
                call.expression,
                f"Without an index, `{dataset.name.rpartition('.')[2]}` gives all records to each worker: every "
                "example arrives once per worker.",
                advice="Give the file of `python -m tfrecord.tools.tfrecord2idx` as `index_path`, or use "
                "`num_workers=0`.",
            )
        if not isinstance(dataset, Object) or not derives_from(dataset.program_class, ITERABLE):
            continue
        iterate = dataset.program_class.members.get("__iter__")
        if not isinstance(iterate, Function) or not _has_workers(call) or _is_given(call.argument(8, "worker_init_fn")):
            continue
        body = ast.unparse(dataset.program_class.definition)
        endless = re.search(r"while (True|1)\b|random", body) is not None
        if not _WORKER.search(body):
            yield program.finding(
                read_by_every_worker,
                call.expression,
                f"`{dataset.program_class.definition.name}` does not ask which worker it runs in, so each worker "
                "yields the whole dataset: every example arrives once per worker.",
                severity=Severity.INFO if endless else None,
            )


def _is_tfrecord_without_index(dataset: Call) -> bool:
    """A dataset of the package `tfrecord`, which divides a file among workers by its index only."""
    index = dataset.argument(1, "index_path")
    return (
        dataset.name.startswith("tfrecord.torch.")
        and dataset.name.endswith(".TFRecordDataset")
        and (isinstance(index, Literal) and index.value is None)
    )


@rule("P107", "workers-draw-alike", Severity.WARNING)
def workers_draw_alike(program: Program) -> Iterator[Finding]:
    """All workers of a DataLoader draw the same random numbers.

    The dataset has a random generator of its own, or sets a seed whenever it is asked for an example.

    Why it matters:
        Each worker gets a copy of the dataset, and with it the same state of its generator. All workers draw the same
        crops and flips, and a new epoch, with new copies, draws them again: there is far less variety than expected.
        PyTorch gives each worker its own seed only for `torch`, `random` and `numpy.random`.

    Example:
        `self.rng = np.random.default_rng(0)` in `__init__`, `self.rng.random()` in `__getitem__`, and `num_workers=4`.

    Fix:
        Draw with `torch.rand` or `np.random`; or make the generator in the worker, from
        `torch.utils.data.get_worker_info().seed` or in `worker_init_fn`.
    """
    for pipeline, call in _loaders(program):
        dataset = base_dataset(call.argument(0, "dataset"))
        start = call.argument(8, "worker_init_fn")
        if isinstance(start, Function) and _seeds_alike(start):
            yield program.finding(
                workers_draw_alike,
                call.expression,
                "`worker_init_fn` sets the same seed in every worker: all workers draw the same numbers, and draw them "
                "again in every epoch.",
            )
        if not isinstance(dataset, Object) or _is_given(start):
            continue
        if re.search(r"worker_info|worker_id|worker_seed|initial_seed", ast.unparse(dataset.program_class.definition)):
            continue
        name = dataset.program_class.definition.name
        held = [one for field in dataset.fields.values() for one in options_of(field)]
        held += [one for part in held if isinstance(part, Object) for one in part.fields.values()]  # of a transform
        for step in pipeline.source.steps:
            if step.name in ("numpy.random.seed", "random.seed", "torch.manual_seed") and _is_constant(step):
                yield program.finding(
                    workers_draw_alike,
                    step.expression,
                    f"`{name}.__getitem__` sets the same seed for every example: all examples are changed in the same "
                    "way, in every epoch.",
                )
                break
            generator = step.receiver
            own = isinstance(generator, Call) and _GENERATORS.fullmatch(generator.name)
            if own and any(one is generator for one in held) and _has_workers(call):
                yield program.finding(
                    workers_draw_alike,
                    step.expression,
                    f"Each worker gets a copy of the random generator of `{name}`: all workers draw the same numbers, "
                    "and draw them again in every epoch.",
                )
                break


def _seeds_alike(function: Function) -> bool:
    """A function for the start of workers sets a seed that does not depend on the worker."""
    body = function.definition.body
    seeds = [
        node
        for part in (body if isinstance(body, list) else [body])
        for node in ast.walk(part)
        if isinstance(node, ast.Call) and re.search(r"random\.seed$|manual_seed$", ast.unparse(node.func))
    ]
    return bool(seeds) and all(len(one.args) == 1 and isinstance(one.args[0], ast.Constant) for one in seeds)


def _is_constant(call: Call) -> bool:
    return len(call.args) == 1 and isinstance(call.args[0], Literal) and call.args[0].value is not None


@rule("P108", "epoch-never-set", Severity.WARNING)
def epoch_never_set(program: Program) -> Iterator[Finding]:
    """A DistributedSampler is used over several epochs, and `set_epoch` is never called.

    Why it matters:
        The sampler shuffles by its seed and the number of the epoch, so that all processes agree. If it is not told
        the epoch, that number stays 0, and every epoch has the same order.

    Example:
        `for epoch in range(10): for x, y in loader: ...` with `DataLoader(data, sampler=DistributedSampler(data))`.

    Fix:
        Call `sampler.set_epoch(epoch)` at the beginning of every epoch.
    """
    if program.mentions(_SETS_EPOCH) or program.has_foreign_trainer:
        return
    for pipeline, call in _loaders(program):
        for sampler in options_of(call.argument(3, "sampler")):
            if not isinstance(sampler, Call) or sampler.name != "torch.utils.data.DistributedSampler":
                continue
            shuffle = sampler.argument(3, "shuffle")
            if (isinstance(shuffle, Literal) and not shuffle.value) or program.is_for_testing(pipeline):
                continue
            if "training" in program.roles(pipeline):
                yield program.finding(
                    epoch_never_set,
                    sampler.expression,
                    "`set_epoch` is never called: this DistributedSampler gives the same order in every epoch.",
                    severity=None if _is_repeated(program, pipeline) else Severity.INFO,
                )


def _is_repeated(program: Program, pipeline: Pipeline) -> bool:
    """It is gone through in a loop over epochs, or in a function that may be called again."""
    loops = [use.node for use in program.uses if use.pipeline is pipeline and isinstance(use.node, ast.For)]
    return any(
        function_of(loop) is not None or any(isinstance(one, ast.For | ast.While) for one, _ in enclosing(loop))
        for loop in loops
    )


@rule("P152", "read-by-every-process", Severity.WARNING)
def read_by_every_process(program: Program) -> Iterator[Finding]:
    """A model is trained in several processes, and each of them reads the whole dataset.

    Why it matters:
        `DistributedDataParallel` averages gradients; it does not divide the data. Without a `DistributedSampler`, each
        process goes through all examples: an epoch takes as long as with one GPU.

    Example:
        `DistributedDataParallel(model)` and `DataLoader(train_set, shuffle=True)`.

    Fix:
        `sampler = DistributedSampler(train_set)`, `DataLoader(train_set, sampler=sampler)`, and
        `sampler.set_epoch(epoch)` in every epoch.
    """
    wrapped = any(call.name.endswith("DistributedDataParallel") for call in program.calls)
    if not wrapped or program.mentions(
        r"Distributed\w*Sampler|DistributedSampler|world_size|split_by_node|[Aa]ccelerat|[Ll]ightning|deepspeed"
    ):
        return
    for pipeline, call in _loaders(program):
        given = [call.argument(None, name) for name in ("sampler", "batch_sampler")]
        trains = "training" in program.roles(pipeline) or program.named(pipeline) == "training"
        if trains and call.exact and not any(map(_is_given, given)):
            yield program.finding(
                read_by_every_process,
                call.expression,
                f"{program.name_of(pipeline)} has no `DistributedSampler`, and the model is trained in several "
                "processes: each of them reads the whole dataset.",
            )
            return


WORKER_RULES = [read_by_every_worker, workers_draw_alike, epoch_never_set, read_by_every_process]
