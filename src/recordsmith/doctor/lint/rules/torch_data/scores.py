"""Rules on the scores of a PyTorch program: what they are computed on, and what they add up."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Literal
from recordsmith.doctor.lint.libraries.control_flow import function_of, loops_around, statement_of
from recordsmith.doctor.lint.libraries.torch.training import receiver_text
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.inference.dropped_batches import drops_test_batch
from recordsmith.doctor.lint.rules.torch.splits import torch_loaders
from recordsmith.rules import Finding, Severity, rule

__all__ = ["SCORE_RULES"]

_METRIC = re.compile(r"(torchmetrics|pytorch_lightning\.metrics)(\.\w+)*\.[A-Z]\w+")


@rule("P169", "score-never-reset", Severity.WARNING)
def score_never_reset(program: Program) -> Iterator[Finding]:
    """A score is added up over all epochs, because nothing sets it back between them; or never added up.

    Why it matters:
        The score of an epoch is mixed with those of all epochs before it. It changes more and more slowly, hides
        overfitting, and is no score of any model.

    Example:
        A torchmetrics object with `update` and `compute` in every epoch and `reset` nowhere; `correct = 0` before the
        loop over the epochs.

    Fix:
        Call `metric.reset()` after `compute()`, or set the counters to 0 at the beginning of every epoch.
    """
    if not program.mentions(r"[Ll]ightning"):
        yield from _metrics_kept(program)
    yield from _counters_kept(program)
    yield from _overwritten(program)
    yield from _sum_not_used(program)
    yield from _counted_by_number(program)


def _sum_not_used(program: Program) -> Iterator[Finding]:
    """`train_loss += loss.item()` in the loop, and then `loss / count`, of the last batch; the sum is never read."""
    for function in program.source.nodes:
        for loop in ast.walk(function) if isinstance(function, ast.FunctionDef) else ():
            if not isinstance(loop, ast.For) or function_of(loop) is not function:
                continue
            sums = [
                one.target.id
                for one in loop.body
                if isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name)
            ]
            made = {
                target.id
                for one in loop.body
                if isinstance(one, ast.Assign)
                for target in one.targets
                if isinstance(target, ast.Name)
            }
            read = [one.id for one in ast.walk(function) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)]
            for name in sums if made else ():
                last = next(
                    (
                        one
                        for one in ast.walk(function)
                        if isinstance(one, ast.BinOp)
                        and isinstance(one.op, ast.Div)
                        and one.lineno > (loop.end_lineno or loop.lineno)
                        and name.endswith(ast.unparse(one.left).partition(".")[0])
                        and ast.unparse(one.left).partition(".")[0] in made
                    ),
                    None,
                )
                if _COUNTER.search(name) and name not in read and last is not None:
                    yield program.finding(
                        score_never_reset,
                        last,
                        f"`{name}` is added up and never used; `{ast.unparse(last)}` is of the last batch alone.",
                    )
                    return


def _counted_by_number(program: Program) -> Iterator[Finding]:
    """`count += i` adds the numbers of the batches, where `count += 1` counts them."""
    for loop in program.source.nodes:
        match loop:
            case ast.For(
                target=ast.Tuple(elts=[ast.Name(id=number), *_]), iter=ast.Call(func=ast.Name(id="enumerate"))
            ):
                for one in loop.body:
                    match one:
                        case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=ast.Name(id=added)) if (
                            added == number
                        ):
                            area = function_of(loop) or program.source.tree
                            if re.search(rf"/ \(?{name}\b", ast.unparse(area)):
                                yield program.finding(
                                    score_never_reset,
                                    one,
                                    f"`{name} += {number}` adds up the numbers of the batches, and is divided by "
                                    "later: count them with `+= 1`.",
                                )


def _overwritten(program: Program) -> Iterator[Finding]:
    """`val_loss = 0`, then `val_loss = loss.item()` in every batch, and `val_loss / len(loader)` after the loop."""
    for loop in program.source.nodes:
        if not isinstance(loop, ast.For):
            continue
        outer = getattr(loop, "parent", None)
        around = outer if isinstance(outer, ast.With) else loop
        block = getattr(getattr(around, "parent", None), "body", [])
        if around not in block:
            continue
        before, after = block[: block.index(around)], block[block.index(around) + 1 :]
        for one in loop.body:
            match one:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if _COUNTER.search(name):
                    zero = any(re.fullmatch(rf"{name} = 0(\.0)?", ast.unparse(part)) for part in before)
                    text = "\n".join(ast.unparse(part) for part in after)
                    divided = re.search(rf"\b{name} /= |\b{name} / \(?(len\(|n_|num_|total|count)", text)
                    if (
                        zero
                        and divided
                        and not any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(value))
                    ):
                        yield program.finding(
                            score_never_reset,
                            one,
                            f"`{name}` is overwritten in every batch and divided by their number afterwards: only the "
                            "last batch counts. Add it up with `+=`.",
                        )
                        return


def _metrics_kept(program: Program) -> Iterator[Finding]:
    made = {id(one): one for one in program.calls if _METRIC.fullmatch(one.name)}
    used: dict[int, dict[str, Call]] = {}
    for call in program.calls:
        receiver = call.receiver
        while isinstance(receiver, Call) and receiver.name in (".to", ".cuda"):
            receiver = receiver.receiver
        if id(receiver) in made:
            used.setdefault(id(receiver), {}).setdefault(call.name, call)
    for key, calls in used.items():
        computed = calls.get(".compute")
        fed = calls.get(".update") or calls.get("()")
        if computed is None or fed is None or ".reset" in calls or program.mentions(r"\.reset\("):
            continue
        epochs = [loop for loop in loops_around(computed) if loop in loops_around(fed)]
        if epochs and not any(loop in loops_around(made[key]) for loop in epochs):
            yield program.finding(
                score_never_reset,
                computed.expression,
                f"`{receiver_text(computed)}` is never reset: each epoch's score is mixed with those of all epochs "
                "before it.",
            )
            return


_COUNTER = re.compile(r"correct|total|loss|acc|hits|count|seen|running|wrong|num_|n_|samples", re.IGNORECASE)


def _counters_kept(program: Program) -> Iterator[Finding]:
    """`correct += ...` in the loop over batches, divided in the loop over epochs, and set to 0 before both."""
    for outer in program.source.nodes:
        if not isinstance(outer, ast.For) or not _is_epochs(outer):
            continue
        inner = [one for one in outer.body if isinstance(one, ast.For)]
        inside = {id(one) for loop in inner for one in ast.walk(loop)}
        added = {
            one.target.id
            for one in ast.walk(outer)
            if isinstance(one, ast.AugAssign)
            and isinstance(one.target, ast.Name)
            and id(one) in inside
            and isinstance(one.op, ast.Add)
            and _COUNTER.search(one.target.id)
        }
        stored = {
            name.id
            for one in ast.walk(outer)
            if isinstance(one, ast.Assign)
            for target in one.targets
            for name in ast.walk(target)
            if isinstance(name, ast.Name)
        }
        ratios = [
            one
            for one in ast.walk(outer)
            if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Div) and id(one) not in inside
        ]
        for ratio in ratios:
            left = [one.id for one in ast.walk(ratio.left) if isinstance(one, ast.Name)]
            right = [one.id for one in ast.walk(ratio.right) if isinstance(one, ast.Name)]
            name = next((one for one in left if one in added and one not in stored), None)
            over_all = any(one in added and one not in stored for one in right) or "epoch" in ast.unparse(ratio.right)
            statement = statement_of(ratio)
            if name is None or (over_all and not _COUNTER.search(" ".join(right))) or _is_total(program, outer, name):
                continue
            if statement is not None and "epoch" in ast.unparse(ratio.right):
                continue  # an average over the epochs
            yield program.finding(
                score_never_reset,
                ratio,
                f"`{name}` is set to 0 before the loop over the epochs and never in it: each epoch's score is mixed "
                "with those of all epochs before it.",
            )
            return


def _is_epochs(loop: ast.For) -> bool:
    return "epoch" in ast.unparse(loop.target).lower() or bool(re.search(r"epoch", ast.unparse(loop.iter).lower()))


def _is_total(program: Program, loop: ast.For, name: str) -> bool:
    """It is not set to a number right before the loop, in the same block: it may mean something else."""
    block = getattr(getattr(loop, "parent", None), "body", program.source.tree.body)
    before = block[: block.index(loop)] if loop in block else []
    zero = [
        one
        for one in before
        if isinstance(one, ast.Assign)
        and any(isinstance(part, ast.Name) and part.id == name for target in one.targets for part in ast.walk(target))
    ]
    return not zero or "0" not in ast.unparse(zero[-1].value)


@rule("P296", "mean-of-batch-means", Severity.INFO)
def mean_of_batch_means(program: Program) -> Iterator[Finding]:
    """A score is the mean of the scores of all batches, and the last batch may be smaller than the others.

    Why it matters:
        The examples of a small last batch count more than others. With a last batch of one example, that one example
        weighs as much as a whole batch, and the score changes with the batch size.

    Example:
        `accuracy += (predicted == labels).float().mean()`, then `accuracy / len(test_loader)`.

    Fix:
        Count: `correct += (predicted == labels).sum().item()`, then `correct / len(test_set)`.
    """
    for loop in program.source.nodes:
        over = ast.unparse(loop.iter) if isinstance(loop, ast.For) else ""
        for one in loop.body if isinstance(loop, ast.For) and not program.mentions(r"drop_last=True") else ():
            match one:
                case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=value) if re.search(
                    r"acc|score|iou|dice|f1", name.lower()
                ) and re.search(r"\bmean\(", ast.unparse(value)):
                    loaders = re.findall(r"[\w.]*(?:loader|_dl|_iter|batches)\w*", over)
                    area = function_of(loop) or program.source.tree
                    if loaders and re.search(rf"\b{name} / len\({re.escape(loaders[0])}\)", ast.unparse(area)):
                        yield program.finding(
                            mean_of_batch_means,
                            one,
                            f"`{name}` is the mean of the means of all batches: examples of a smaller last batch count "
                            "more than others.",
                        )
                        return


@rule("P171", "test-batch-dropped", Severity.WARNING)
def test_batch_dropped(program: Program) -> Iterator[Finding]:
    """A loader or dataset for validation or test data drops its last batch.

    Why it matters:
        With `drop_last=True`, up to a whole batch of examples is never tested. The score depends on the batch size,
        and cannot be compared with that of other programs.

    Example:
        `test_loader = DataLoader(test_set, batch_size=128, drop_last=True)`;
        `model.evaluate(test.batch(512, drop_remainder=True))`

    Fix:
        `drop_last=False`, or no `drop_remainder`, for everything but training.
    """
    for pipeline in torch_loaders(program):
        call = pipeline.source.call
        given = call.argument(8, "drop_last") if call is not None else None
        if call is None or not isinstance(given, Literal) or given.value is not True:
            continue
        size = call.argument(1, "batch_size")
        one_by_one = size is None or (isinstance(size, Literal) and size.value == 1)  # then nothing is dropped
        if program.is_for_testing(pipeline) and not one_by_one:
            yield program.finding(
                test_batch_dropped,
                call.expression,
                f"{program.name_of(pipeline)} is for validation or testing, and drops its last batch: these examples "
                "are never scored, and the score depends on the batch size.",
            )
            return
    for dataset, stage, is_final in drops_test_batch(program):
        yield program.finding(
            test_batch_dropped,
            stage.expression,
            f"{program.name_of(dataset)} is for validation or testing, and drops its last batch if that is not full: "
            "these examples are never scored.",
            advice="Give `drop_remainder=True` for the training data only.",
            severity=None if is_final else Severity.INFO,
        )
        return


SCORE_RULES = [score_never_reset, mean_of_batch_means, test_batch_dropped]
