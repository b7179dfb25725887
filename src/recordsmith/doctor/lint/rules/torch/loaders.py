"""Rules on how a PyTorch program draws from its DataLoaders: workers, epochs and batches."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.loops import pipelines_in
from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Function,
    Item,
    Literal,
    Object,
    Slice,
    Value,
    options_of,
)
from recordsmith.doctor.lint.libraries.control_flow import enclosing, function_of, loops_around, root_of
from recordsmith.doctor.lint.libraries.rows import is_alike
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline
from recordsmith.doctor.lint.libraries.torch.data import ITERABLE, base_dataset
from recordsmith.doctor.lint.libraries.torch.modules import derives_from, losses
from recordsmith.doctor.lint.libraries.torch.training import training_steps
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["LOADER_RULES"]

_WORKER = re.compile(r"worker_info|worker_id|num_workers|split_by_worker|get_rank|\brank\b|shard")
_GENERATORS = re.compile(r"numpy\.random\.(default_rng|RandomState|Generator)|random\.Random|torch\.Generator")
_KERAS_STEPS = (".apply_gradients", ".train_on_batch", ".minimize")
_SETS_EPOCH = r"set_epoch|[Ll]ightning|[Aa]ccelerat|\bFabric\(|ignite"


def _loaders(program: Program) -> Iterator[tuple[Pipeline, Call]]:
    seen: set[int] = set()
    for pipeline in program.pipelines:
        call = pipeline.source.call
        if (
            pipeline.source.kind == "torch"
            and call is not None
            and id(call.node) not in seen
            and pipeline.stage is None
        ):
            seen.add(id(call.node))
            yield pipeline, call


def _all_loaders(program: Program) -> Iterator[tuple[Pipeline, Call]]:
    for pipeline in program.pipelines:
        if pipeline.source.kind == "torch" and pipeline.source.call is not None and pipeline.stage is None:
            yield pipeline, pipeline.source.call


def _has_workers(call: Call) -> bool:
    """It has workers for certain: a number above 0 is written there, or is the default of an option."""
    given = call.argument(5, "num_workers")
    found = [one.value for one in options_of(given) if isinstance(one, Literal)]
    return bool(found) and all(isinstance(one, int) and one > 0 for one in found)


def _keeps_order(pipeline: Pipeline) -> bool:
    """Every pass over it begins with the same batch."""
    if pipeline.library == "torch":
        return pipeline.source.shuffles is False
    known = pipeline.source.kind in ("tfrecord", "slices", "tensors", "lines", "range")
    return known and not any(stage.name == "shuffle" for stage in pipeline.all_stages())


def _is_given(value: Value | None) -> bool:
    return value is not None and not (isinstance(value, Literal) and value.value is None)


@rule("P105", "first-batch-only", Severity.WARNING)
def first_batch_only(program: Program) -> Iterator[Finding]:
    """A loop takes `next(iter(loader))` in every turn, which begins anew each time.

    Why it matters:
        `iter(loader)` starts a new pass over the data. Without shuffling, every step gets the same first batch, and
        the model memorises it. With shuffling, each step starts all workers anew for a single batch, which is slow.

    Example:
        `for step in range(1000): x, y = next(iter(train_loader))`

    Fix:
        Loop over the loader itself, `for x, y in train_loader:`; or make the iterator once, before the loop.
    """
    steps = [(one.loops, one.root) for one in training_steps(program.calls) if one.kind == "backward"]
    steps += [(loops_around(one), root_of(one)) for one in program.calls if one.name in _KERAS_STEPS]
    for call in program.calls:
        inner = call.args[0] if call.name == "builtins.next" and call.args else None
        loops = loops_around(call)
        if not isinstance(inner, Call) or inner.name != "builtins.iter" or not loops or loops_around(inner) != loops:
            continue
        yields = any(isinstance(one, ast.Yield) for one in ast.walk(loops[-1]))
        if not yields and not any(around == loops and root is root_of(call) for around, root in steps):
            continue
        found = pipelines_in(inner)
        if any(program.is_for_testing(one) for one in found):
            continue
        sure = bool(found) and all(_keeps_order(one) for one in found)
        text = program.text(inner.args[0].node) if inner.args and inner.args[0].node is not None else ""
        name = program.name_of(found[0]) if found else "the loader"
        yield program.finding(
            first_batch_only,
            call.expression,
            f"`next(iter(...))` starts {name} again in every turn of the loop: "
            + (
                "training sees only the first batch, again and again."
                if sure
                else "without shuffling it always gives the first batch, and with shuffling it is slow."
            ),
            severity=None if sure else Severity.INFO,
            evidence={"loader": text},
        )


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
        if not isinstance(dataset, Object) or not derives_from(dataset.program_class, ITERABLE):
            continue
        iterate = dataset.program_class.members.get("__iter__")
        if not isinstance(iterate, Function) or not _has_workers(call) or _is_given(call.argument(8, "worker_init_fn")):
            continue
        body = ast.unparse(dataset.program_class.definition)
        endless = any(isinstance(one, ast.While) for one in ast.walk(iterate.definition)) or "random" in body
        if not _WORKER.search(body):
            yield program.finding(
                read_by_every_worker,
                call.expression,
                f"`{dataset.program_class.definition.name}` does not ask which worker it runs in, so each worker "
                "yields the whole dataset: every example arrives once per worker.",
                severity=Severity.INFO if endless else None,
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


@rule("P150", "loaders-shuffled-apart", Severity.ERROR)
def loaders_shuffled_apart(program: Program) -> Iterator[Finding]:
    """Inputs and targets come from two DataLoaders that shuffle, each in its own order.

    Why it matters:
        Each loader draws its own random order. Nearly every input is compared with the target of another one, no error
        is raised, and the model can only learn the mean.

    Example:
        `for (x,), (y,) in zip(DataLoader(inputs, shuffle=True), DataLoader(targets, shuffle=True))`

    Fix:
        One dataset that gives both, as `TensorDataset(inputs, targets)`, and one loader.
    """
    shuffled = {
        name: pipeline
        for pipeline, _ in _loaders(program)
        if pipeline.source.shuffles is True
        for name in pipeline.names
    }
    for loop in program.source.nodes:
        match loop:
            case ast.For(
                target=ast.Tuple(elts=[first, second]),
                iter=ast.Call(func=ast.Name(id="zip"), args=[ast.Name(id=one), ast.Name(id=other)]),
            ) if one in shuffled and other in shuffled and one != other:
                inputs, targets = ({part.id for part in ast.walk(each) if isinstance(part, ast.Name)}
                                   for each in (first, second))  # fmt: skip
            case _:
                continue
        for call, _, _, _, _ in losses(program.calls):
            if not isinstance(call.node, ast.Call) or len(call.expression.args) != 2:
                continue
            names = [
                {part.id for part in ast.walk(each) if isinstance(part, ast.Name)} for each in call.expression.args
            ]
            inside = any(node is call.node for node in ast.walk(loop))
            if inside and names[0] & inputs and names[1] & targets and not (names[0] & targets or names[1] & inputs):
                yield program.finding(
                    loaders_shuffled_apart,
                    loop,
                    f"`{one}` and `{other}` shuffle independently, and the loss compares what comes from one with what "
                    "comes from the other: inputs and targets do not belong together.",
                )
                return


@rule("P151", "subsets-of-two-orders", Severity.WARNING)
def subsets_of_two_orders(program: Program) -> Iterator[Finding]:
    """Training and validation indices are cut from two different random orders, so they overlap.

    Why it matters:
        The first 80 % of one order and the last 20 % of another one have most rows in common: the model is validated
        on rows that it was trained on.

    Example:
        `train = np.random.permutation(n)[:800]` and `val = np.random.permutation(n)[800:]`.

    Fix:
        Cut both from one order: `order = np.random.permutation(n)`, then `order[:800]` and `order[800:]`.
    """
    seeded = program.mentions(r"manual_seed\(|\.seed\(|default_rng\(\w|RandomState\(\w")
    parts: dict[int, dict[int, tuple[Call, Call]]] = {}
    for call in program.calls:
        whole, indices = call.argument(0, "dataset"), call.argument(1, "indices")
        if call.name == "torch.utils.data.DataLoader":
            sampler = call.argument(3, "sampler")
            by_sampler = isinstance(sampler, Call) and sampler.name.endswith("SubsetRandomSampler")
            indices = sampler.argument(0, "indices") if isinstance(sampler, Call) and by_sampler else None
        elif call.name != "torch.utils.data.Subset":
            continue
        order = _order_of(indices)
        if whole is not None and order is not None:
            parts.setdefault(id(whole), {}).setdefault(id(call.node), (call, order))
    yield from _split_again(program)
    for found in map(list, map(dict.values, parts.values())):
        (_, first), (call, other) = found[0], found[-1]
        if first is other or (seeded and is_alike(first.argument(0), other.argument(0))):
            continue  # the same seed before each may give the same order
        yield program.finding(
            subsets_of_two_orders,
            call.expression,
            "The indices of the subsets are cut from two different random orders: they overlap, and rows for "
            "validation or testing are trained on.",
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


def _order_of(indices: Value | None) -> Call | None:
    """The random order that indices are cut from, or the call that draws them."""
    while isinstance(indices, Call) and indices.name in (".tolist", "builtins.list", ".numpy"):
        indices = indices.receiver if indices.name.startswith(".") else indices.argument(0)
    if isinstance(indices, Call) and indices.name in _DRAWN:
        return indices
    order = indices.base if isinstance(indices, Item) and isinstance(indices.index, Slice) else None
    while isinstance(order, Call) and order.name in (".tolist", "builtins.list", ".numpy"):
        order = order.receiver if order.name.startswith(".") else order.argument(0)
    return order if isinstance(order, Call) and order.name in _ORDERS else None


def _place(part: Item) -> object:
    return part.index.value if isinstance(part.index, Literal) else None


def _part_of_split(dataset: Value | None) -> Item | None:
    """The part of a random split that a dataset is, or that it keeps."""
    kept = list(dataset.fields.values()) if isinstance(dataset, Object) else [dataset]
    splits = ("torch.utils.data.random_split", "sklearn.model_selection.train_test_split")
    for one in kept:
        if isinstance(one, Item) and isinstance(one.base, Call) and one.base.name in splits:
            return one
    return None


def _split_again(program: Program) -> Iterator[Finding]:
    """`random_split` runs once for the training data and again for the test data, each time by another order."""
    if program.mentions(r"manual_seed\(|seed_everything\(|set_seed\("):
        return
    loaders = [(one, _part_of_split(call.argument(0, "dataset"))) for one, call in _all_loaders(program)]
    for (train, first), (test, second) in itertools.permutations(loaders, 2):
        match first, second:
            case Item(base=Call() as one, index=Literal(value=at)), Item(base=Call() as other, index=Literal(value=to)):
                again = one is not other and one.node is other.node
            case _:
                continue
        parts = [
            {_place(part) for _, part in loaders if part is not None and part.base is split} for split in (one, other)
        ]
        if parts != [{at}, {to}]:
            continue  # each time, all parts are used
        drawn = one.argument(2, "generator") or one.argument(None, "random_state")
        if again and at == 0 and to != 0 and drawn is None and program.is_for_testing(test) and test.source.call:
            yield program.finding(
                subsets_of_two_orders,
                one.expression,
                f"This splits once for {program.name_of(train)} and again for {program.name_of(test)}, each time by "
                "another random order: they overlap, and test rows are trained on.",
                advice="Split once, or give a generator with a seed: `generator=torch.Generator().manual_seed(0)`.",
            )
            return


_DRAWN = {"numpy.random.choice", "random.sample", "numpy.random.randint", "torch.randint", ".choice", ".integers"}
_ORDERS = {"numpy.random.permutation", "torch.randperm", ".permutation"}


LOADER_RULES = [
    first_batch_only,
    read_by_every_worker,
    workers_draw_alike,
    epoch_never_set,
    loaders_shuffled_apart,
    subsets_of_two_orders,
    read_by_every_process,
]
