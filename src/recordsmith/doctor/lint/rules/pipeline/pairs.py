"""Rules on features and labels that come as two streams and must stay together."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Element,
    Group,
    Item,
    Literal,
    Operation,
    Table,
    Value,
    walk,
)
from recordsmith.doctor.lint.libraries.rows import rows_of
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline, Stage
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.pipeline.own_batches import shuffled_without_its_partner
from recordsmith.doctor.lint.rules.reading.listings import is_read_elsewhere
from recordsmith.doctor.lint.rules.torch.rows import fields_shuffled_apart
from recordsmith.rules import Finding, Severity, rule

__all__ = ["PAIR_RULES"]

_LABEL = re.compile(r"label|target|mask|annot|truth|class|caption|answer|segment|categor|^y$|^ys$", re.IGNORECASE)
_IN_PLACE = {"random.shuffle", "numpy.random.shuffle"}
_ZIPS = ("tensorflow.data.Dataset.from_tensor_slices", "builtins.zip")
_READ = {"numpy.load", "numpy.loadtxt", "numpy.genfromtxt", "pandas.read_csv"}
_SEEDS = {"random.seed", "numpy.random.seed"}
_SHORT_LABEL = re.compile(r"^(y|ys|gt)_|_(y|ys|gt)$", re.IGNORECASE)


@rule("P013", "shuffled-apart", Severity.ERROR)
def shuffled_apart(program: Program) -> Iterator[Finding]:
    """Features and labels are shuffled as two datasets and then zipped: the pairs are broken.

    Why it matters:
        Each `shuffle` draws its own random order. After the zip, nearly every example has the label of another one, no
        error is raised, and the model can learn nothing from the inputs.

    Example:
        `tf.data.Dataset.zip((images.shuffle(1000), labels.shuffle(1000)))`

    Fix:
        Zip first, then shuffle the pairs: `tf.data.Dataset.zip((images, labels)).shuffle(1000)`. `list_files` shuffles
        too, unless `shuffle=False`.
    """
    for pipeline in _zips(program):
        reordered = [(one, _reorders(one)) for one in pipeline.source.of]
        culprits = [(one, why) for one, why in reordered if why]
        if not culprits or _same_seeds(pipeline.source.of):
            continue
        call = pipeline.source.call
        if call is None or not (_is_pairing(program, pipeline, call) or _share_a_shuffle(pipeline.source.of)):
            continue
        names = " and ".join(program.name_of(one) for one, _ in culprits)
        verb = "is" if len(culprits) == 1 else "are each"
        yield program.finding(
            shuffled_apart,
            call.expression,
            f"{names} {verb} shuffled separately before being zipped: the labels no longer belong to their examples.",
        )
    yield from _arrays_shuffled_apart(program)
    yield from _arrays_ordered_apart(program)
    for call in fields_shuffled_apart(program):
        yield program.finding(
            shuffled_apart,
            call.expression,
            "Two lists are shuffled one after the other, each in its own order, and a dataset pairs them by "
            "position: the labels no longer belong to their examples.",
            advice="Shuffle one list of pairs, or one list of indices.",
        )
    for shuffle, name, other in shuffled_without_its_partner(program):
        yield program.finding(
            shuffled_apart,
            shuffle,
            f"`self.{name}` is shuffled by itself, and `__getitem__` pairs it with `self.{other}` by position: the "
            "labels no longer belong to their examples.",
            advice="Shuffle one list of indices, and take both by it.",
        )


@rule("P014", "interleaved-apart", Severity.ERROR)
def interleaved_apart(program: Program) -> Iterator[Finding]:
    """Features and labels are read from separate files in an order that may differ, and then zipped.

    Why it matters:
        An interleave that is not deterministic yields from whichever file is ready first. Two of them, one for features
        and one for labels, drift apart, and so does one next to a plain reader: some examples get the labels of others,
        different ones in every run.

    Example:
        `zip((feature_files.interleave(read, deterministic=False), label_files.interleave(read, deterministic=False)))`

    Fix:
        Keep features and label in one record. Where they must be two files, read both with `deterministic=True`, from
        sorted lists, and shuffle after the zip.
    """
    for pipeline in _zips(program):
        call = pipeline.source.call
        loose = [one for one in pipeline.source.of if any(_is_loose(program, stage) for stage in one.all_stages())]
        if call is not None and loose and _is_pairing(program, pipeline, call):
            names = " and ".join(program.name_of(one) for one in loose)
            yield program.finding(
                interleaved_apart,
                call.expression,
                f"The elements of {names} may come in any order (`deterministic=False`), and are zipped by position: "
                "examples get the labels of others.",
            )


def _arrays_shuffled_apart(program: Program) -> Iterator[Finding]:
    """Two arrays that are shuffled in place, one after the other, and then paired by position."""
    shuffles = [one for one in program.calls if one.name in _IN_PLACE and one.args]
    if sum(one.name in _SEEDS for one in program.calls) > 1:
        return  # the same seed before each gives the same order
    for call in program.calls:
        members = _paired(call)
        moved = [one for one in shuffles if any(one.args[0] is member for member in members)]
        distinct = {id(one.args[0]): one for one in moved}
        if len(members) == 2 and len(distinct) == 1:
            (one,) = distinct.values()
            other = next(member for member in members if member is not one.args[0])
            if not any(part is one.args[0] for part in walk(other)) and is_read_elsewhere(other):
                yield program.finding(
                    shuffled_apart,
                    one.expression,
                    "This is shuffled, and what it is paired with by position is not: the labels no longer belong to "
                    "their examples.",
                    advice="Pair them first, and shuffle the pairs.",
                )
        elif len(members) == 2 and len(distinct) == 2:
            yield program.finding(
                shuffled_apart,
                list(distinct.values())[-1].expression,
                "Two arrays are shuffled one after the other, each in its own order, and then paired by "
                "position: the labels no longer belong to their examples.",
                advice="Shuffle one list of pairs, or one permutation of the indices: `order = "
                "np.random.permutation(len(x))`, `x[order]`, `y[order]`.",
            )


def _arrays_ordered_apart(program: Program) -> Iterator[Finding]:
    """Two arrays of which one was put into a random order, or both into different ones, and then paired by position."""
    for call in program.calls:
        members = _paired(call)
        if len(members) != 2 or not all(isinstance(member, Call | Item | Operation) for member in members):
            continue
        first, second = (rows_of(member) for member in members)
        kinds = {kind for kind, _ in (*first.orders, *second.orders)}
        if kinds == {"repeat", "tile"} and len(first.orders) == len(second.orders) == 1:
            yield program.finding(
                shuffled_apart,
                call.expression,
                "One of these two has every row several times in succession (a, a, b, b), and the other is repeated as "
                "a whole (a, b, a, b): the labels no longer belong to their examples.",
                advice="Copy both in the same way: `np.repeat` for both, or `np.tile` for both.",
            )
            continue
        drawn_apart = [len(rows.orders) == 1 and rows.orders[0][0] == "index" for rows in (first, second)]
        if all(drawn_apart) and first.orders != second.orders and call.name == ".fit":
            yield program.finding(
                shuffled_apart,
                call.expression,
                "These two were shuffled separately, each in its own random order: the labels no longer belong to "
                "their examples.",
                advice="Use one permutation for both: `order = np.random.permutation(len(x))`, `x[order]`, `y[order]`.",
            )
            continue
        if kinds & {"repeat", "tile"} or (
            call.name not in _ZIPS
            and not (first.orders and second.orders)
            and not (_is_read(first.origin) and _is_read(second.origin))
        ):
            continue
        related = any(one is second.origin for one in walk(members[0])) or any(
            one is first.origin for one in walk(members[1])
        )
        alike = first.origin is second.origin or not related or bool(first.orders and second.orders)
        certain = "seed" not in kinds or (not (first.orders and second.orders) and first.origin is second.origin)
        if first.orders != second.orders and alike and certain:
            yield program.finding(
                shuffled_apart,
                call.expression,
                "One of these two was put into a random order that the other does not have: the labels no longer "
                "belong to their examples.",
                advice="Use one permutation for both: `order = np.random.permutation(len(x))`, `x[order]`, `y[order]`.",
            )


def _is_read(value: Value) -> bool:
    """It was read from somewhere, so that its rows have an order of their own."""
    if isinstance(value, Item) and isinstance(value.base, Item) and isinstance(value.base.base, Call):
        return value.base.base.name.endswith(".load_data")
    return isinstance(value, Call) and (value.name in _READ or value.name.startswith("pandas.read_"))


def _makes_a_table(call: Call) -> bool:
    """`dict(zip(keys, values))`, where values may be given at random."""
    parent = getattr(call.node, "parent", None)
    return isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "dict"


def _paired(call: Call) -> tuple[Value, ...]:
    """What a call pairs by position: examples and their labels."""
    if _makes_a_table(call):
        return ()
    if call.name in _ZIPS:
        given = call.args[0] if len(call.args) == 1 else None
        return given.members if isinstance(given, Group) and not given.is_list else call.args
    if call.name in (".fit", "sklearn.model_selection.train_test_split"):
        return call.args[:2]
    if call.name == "torch.utils.data.TensorDataset":
        return tuple(map(_array_of, call.args))
    return ()


def _array_of(value: Value) -> Value:
    """What a tensor was made from, in the same order."""
    made = ("torch.tensor", "torch.from_numpy", "torch.as_tensor", "torch.Tensor", "numpy.array", "numpy.asarray")
    while isinstance(value, Call) and (value.name in made or value.name in (".float", ".long", ".to")):
        inner = value.receiver if value.name.startswith(".") else value.argument(0)
        if inner is None:
            return value
        value = inner
    return value


def _zips(program: Program) -> Iterator[Pipeline]:
    seen: set[int] = set()
    for pipeline in program.pipelines:
        source = pipeline.source
        if source.kind == "zip" and len(source.of) == 2 and id(source) not in seen:
            seen.add(id(source))
            yield pipeline


def _reorders(pipeline: Pipeline) -> bool:
    """Something in it draws a random order of its own."""
    for origin in pipeline.origins():
        if origin.source.shuffles and origin.source.kind == "files":
            return True
        if any(stage.name == "shuffle" for stage in origin.stages):
            return True
    return False


def _share_a_shuffle(pipelines: tuple[Pipeline, ...]) -> bool:
    """All sides are made of one shuffled dataset, which draws a new order for each of them."""
    ancestors = [{id(part) for part in one.ancestors()} for one in pipelines]
    common = set.intersection(*ancestors) if ancestors else set()
    for one in pipelines[0].ancestors() if pipelines else ():
        if id(one) in common and one.stage is not None and one.stage.name == "shuffle":
            kept = one.stage.call.argument(2, "reshuffle_each_iteration")
            again = kept is None or (isinstance(kept, Literal) and kept.value is True)
            return again and one.stage.call.argument(1, "seed") is None
    return False


def _same_seeds(pipelines: tuple[Pipeline, ...]) -> bool:
    """Both are shuffled by the same seed and the same buffer, so in the same order."""
    orders = []
    for pipeline in pipelines:
        shuffles: list[tuple[object, ...]] = []
        for origin in pipeline.origins():
            if origin.source.shuffles and origin.source.call is not None:
                shuffles.append(("files", _key(origin.source.call.argument(2, "seed"))))
            shuffles += [
                (_key(stage.call.argument(0, "buffer_size")), _key(stage.call.argument(1, "seed")))
                for stage in origin.stages
                if stage.name == "shuffle"
            ]
        orders.append(shuffles)
    return orders[0] == orders[1] and all(None not in order for order in orders[0]) and bool(orders[0])


def _key(value: Value | None) -> object:
    if value is None:
        return None
    return value.value if isinstance(value, Literal) else id(value)


def _is_pairing(program: Program, pipeline: Pipeline, call: Call) -> bool:
    """One side is labels, by a name, a file name or a feature: two streams of images may be zipped at random."""
    if all(_is_pair(one.element) for one in pipeline.source.of):
        return False  # two datasets of pairs, as for mixing examples
    if any(name.startswith("source") for one in pipeline.source.of for name in one.all_names):
        return False  # two domains, of which the other is called the target
    if any(_is_pair(one.element) for one in pipeline.source.of):  # whole examples, and something beside them
        return any(_LABEL.search(name) for one in pipeline.source.of for name in one.all_names)
    words: list[str] = []
    for one in pipeline.source.of:
        words += one.all_names
        if any(_SHORT_LABEL.search(name) for name in one.all_names):
            return True
        words += [
            str(value.value) for value in walk(one) if isinstance(value, Literal) and isinstance(value.value, str)
        ]
    words += [node.id for node in ast.walk(call.expression) if isinstance(node, ast.Name)]
    words += [node.attr for node in ast.walk(call.expression) if isinstance(node, ast.Attribute)]
    for use in program.uses:
        if use.target is not None and use.pipeline.source is pipeline.source:
            words += [node.id for node in ast.walk(use.target) if isinstance(node, ast.Name)]
    for stage in (stage for one in program.pipelines if one.source is pipeline.source for stage in one.stages):
        words += _parameters(stage)
    return any(_LABEL.search(word) for word in words)


def _parameters(stage: Stage) -> list[str]:
    definition = getattr(stage.function, "definition", None)
    return [] if definition is None else [argument.arg for argument in definition.args.args]


def _is_pair(element: Value) -> bool:
    if isinstance(element, Element):
        return False
    return isinstance(element, Group | Table) and len(list(element.parts())) > 1


def _is_loose(program: Program, stage: Stage) -> bool:
    if stage.name in ("interleave", "map") and stage.constant(None, "deterministic") is False:
        return True
    if stage.name == "interleave" and stage.constant(None, "sloppy") is True:
        return True
    if stage.name != "with_options":
        return False
    options = stage.call.argument(0, "options")
    for node in program.source.nodes:
        match node:
            case ast.Assign(
                targets=[ast.Attribute(attr="deterministic" | "experimental_deterministic")],
                value=ast.Constant(value=False),
            ):
                return options is not None
    return False


PAIR_RULES = [shuffled_apart, interleaved_apart]
