"""Rules on splits whose parts overlap: drawn again in every pass, or drawn twice."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from recordsmith.doctor.lint.edits import Edit, after_arguments, replace_argument
from recordsmith.doctor.lint.interpreter.values import Call, Literal, Value
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["OVERLAP_RULES"]


@rule("P200", "reshuffled-split", Severity.ERROR)
def reshuffled_split(program: Program) -> Iterator[Finding]:
    """A dataset that is shuffled anew in every epoch is split by `take` and `skip`.

    Why it matters:
        `shuffle` draws a new order in every pass. `take` and `skip` after it therefore give other examples in every
        epoch: what was validation data in one epoch is training data in the next one. The validation score is measured
        on examples that were trained on.

    Example:
        `dataset = dataset.shuffle(1000)`, then `train = dataset.skip(200)` and `val = dataset.take(200)`.

    Fix:
        Split before the shuffle, or keep the order: `dataset.shuffle(1000, reshuffle_each_iteration=False)`.
    """
    reported: set[int] = set()
    parts = [one for one in program.pipelines if one.stage is not None and one.stage.name in ("take", "skip")]
    for taken, skipped in itertools.product(parts, parts):
        if not _is_pair(taken, skipped) or taken.parent is None:
            continue
        shuffle = _reshuffles(taken.parent)
        roles = program.roles(taken) | program.roles(skipped)
        names = {program.named(taken), program.named(skipped)}
        if shuffle is None or id(shuffle) in reported or not (roles or "training" in names or "testing" in names):
            continue
        reported.add(id(shuffle))
        trains = "training" in roles or ("training" in names and "testing" in names)
        yield program.finding(
            reshuffled_split,
            shuffle,
            f"`take` and `skip` split {program.name_of(taken.parent)}, which is shuffled again in every epoch: both "
            "parts get other examples each time, and validation examples leak into training.",
            edits=_kept_order(program, shuffle),
            certain=trains,
            severity=None if trains else Severity.INFO,
        )
    yield from _selected_anew(program, reported)
    for taken in parts:
        stage, shuffle = taken.stage, None if taken.parent is None else _reshuffles(taken.parent)
        if stage is None or stage.name != "take" or shuffle is None or id(shuffle) in reported:
            continue
        if "training" in program.roles(taken):
            reported.add(id(shuffle))
            yield program.finding(
                reshuffled_split,
                shuffle,
                "`take` comes after a shuffle that draws a new order in every epoch: each epoch takes other examples, "
                "and the subset is not the same one.",
                edits=_kept_order(program, shuffle),
                severity=Severity.INFO,
            )


def _selected_anew(program: Program, reported: set[int]) -> Iterator[Finding]:
    """Training and validation data that different conditions pick by number from one dataset in a new order."""
    used = {role: [use.pipeline for use in program.uses if use.role == role] for role in ("training", "validation")}
    for first, second in itertools.product(used["training"], used["validation"]):
        others = {id(one) for one in second.ancestors()}
        common = next((one for one in first.ancestors() if id(one) in others), None)
        shuffle = None if common is None else _reshuffles(common)
        if common is None or shuffle is None or id(shuffle) in reported:
            continue
        chosen = [_selection(one, common) for one in (first, second)]
        if all(chosen) and chosen[0] != chosen[1]:
            reported.add(id(shuffle))
            yield program.finding(
                reshuffled_split,
                shuffle,
                f"{program.name_of(common)} is shuffled again in every epoch, and its rows are divided by their "
                "numbers: both parts get other examples each time, and validation examples leak into training.",
                edits=_kept_order(program, shuffle),
            )


def _selection(pipeline: Pipeline, common: Pipeline) -> list[str]:
    """How rows are picked by their number, after the dataset that both parts share."""
    after = list(itertools.takewhile(lambda one: one is not common, pipeline.ancestors()))
    stages = [one.stage for one in reversed(after) if one.stage is not None]
    numbered = any(stage.name == "enumerate" for stage in stages)
    return [
        ast.unparse(stage.expression.args[-1])
        for stage in stages
        if stage.expression.args and (stage.name == "shard" or (stage.name == "filter" and numbered))
    ]


def _is_pair(taken: Pipeline, skipped: Pipeline) -> bool:
    if taken.stage is None or skipped.stage is None or taken.parent is None or taken.parent is not skipped.parent:
        return False
    if taken.stage.name != "take" or skipped.stage.name != "skip":
        return False
    counts = [one.stage.call.argument(0, "count") for one in (taken, skipped) if one.stage is not None]
    return _key(counts[0]) == _key(counts[1])


def _key(value: Value | None) -> object:
    if isinstance(value, Literal):
        return value.value
    return None if value is None or value.node is None else ast.unparse(value.node)


def _reshuffles(pipeline: Pipeline) -> ast.Call | None:
    """The call that gives a dataset a new order in every pass."""
    for one in pipeline.ancestors():
        if one.stage is None:
            continue
        if one.stage.name in ("cache", "snapshot"):
            return None
        if one.stage.name == "shuffle":
            given = one.stage.call.argument(2, "reshuffle_each_iteration")
            again = given is None or (isinstance(given, Literal) and given.value is not False)
            return one.stage.expression if again else None
    source = pipeline.source
    if source.kind in ("files", "directory") and source.shuffles and source.call is not None:
        return source.call.expression
    return None


def _kept_order(program: Program, shuffle: ast.Call) -> list[Edit] | None:
    if getattr(shuffle.func, "attr", "") != "shuffle" or not (shuffle.args or shuffle.keywords):
        return None
    source = getattr(shuffle, "source", program.source)
    given = replace_argument(source, shuffle, "reshuffle_each_iteration", "False")
    return given or after_arguments(source, shuffle, "reshuffle_each_iteration=False")


_DRAWN_BY = ("seed", "shuffle", "validation_split")


@rule("P257", "overlapping-subsets", Severity.ERROR)
def overlapping_subsets(program: Program) -> Iterator[Finding]:
    """The training and the validation subset of a folder are drawn with different settings, so they overlap.

    Why it matters:
        `image_dataset_from_directory` lists and shuffles the files twice, once for each subset, and cuts at
        `validation_split`. Only with the same `seed`, the same `shuffle` and the same `validation_split` are the two
        orders equal. Otherwise validation images are also trained on.

    Example:
        `subset="training", seed=1` in one call and `subset="validation", seed=2`, or `shuffle=False`, in the other.

    Fix:
        Use the same values in both calls, or one call with `subset="both"`.
    """
    subsets: dict[str, list[Call]] = {"training": [], "validation": []}
    for call in program.calls:
        subset = call.argument(None, "subset")
        if call.name.endswith("_dataset_from_directory") and isinstance(subset, Literal) and call.exact:
            subsets.get(subset.value, []).append(call)
    for first, second in itertools.product(subsets["training"], subsets["validation"]):
        if _key(first.argument(0, "directory")) != _key(second.argument(0, "directory")):
            continue
        different = [name for name in _DRAWN_BY if not _same(first, second, name)]
        if different and first.within == second.within:
            yield program.finding(
                overlapping_subsets,
                second.expression,
                f"The training subset of this folder is drawn with another `{different[0]}`: the two subsets overlap, "
                "and validation images are trained on.",
            )


def _same(first: Call, second: Call, name: str) -> bool:
    values = [call.argument(None, name) for call in (first, second)]
    default = {"shuffle": True}.get(name)
    known = [default if value is None else value.value for value in values if isinstance(value, Literal | None)]
    return len(known) < 2 or known[0] == known[1]


OVERLAP_RULES = [reshuffled_split, overlapping_subsets]
