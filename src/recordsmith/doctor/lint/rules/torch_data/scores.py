"""Rules on the scores of a PyTorch program: what they are computed on, what they add up, what they choose."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Item, Literal, Object, Value
from recordsmith.doctor.lint.libraries.control_flow import enclosing, function_of, loops_around, statement_of
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline
from recordsmith.doctor.lint.libraries.torch.training import receiver_text
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.torch.splits import torch_loaders
from recordsmith.rules import Finding, Severity, rule

__all__ = ["SCORE_RULES"]

_TEST = re.compile(r"(^|[_.])test", re.IGNORECASE)
_VALID = re.compile(r"(^|[_.])(val|valid|validation|dev)(_|$|\d|ation|id|l|s)", re.IGNORECASE)
_BEST = re.compile(r"best|patience|early_?stop|lowest|highest|min_loss|max_acc", re.IGNORECASE)
_KEEPS = re.compile(r"torch\.save|deepcopy|save_checkpoint|save_pretrained|state_dict|save_model|\.save\(")
_METRIC = re.compile(r"(torchmetrics|pytorch_lightning\.metrics)(\.\w+)*\.[A-Z]\w+")


def _dataset(pipeline: Pipeline) -> Value | None:
    return None if pipeline.source.call is None else pipeline.source.call.argument(0, "dataset")


def _named(pipeline: Pipeline, pattern: re.Pattern[str]) -> bool:
    return any(pattern.search(name) for name in pipeline.names)


@rule("P164", "selected-on-test-data", Severity.INFO)
def selected_on_test_data(program: Program) -> Iterator[Finding]:
    """The best epoch is chosen, or training is stopped, by the score of the test data.

    Why it matters:
        Of many epochs, the one that happens to fit the test data best is kept. Its test score is then better than the
        model is on new data, and cannot be compared with scores that were measured once, at the end.

    Example:
        `val_loader = DataLoader(test_set)`, and the model with the best score on `val_loader` is saved.

    Fix:
        Hold back a part of the training data for validation, choose by it, and use the test data once at the end.
    """
    loaders = torch_loaders(program)
    held = [one for one in loaders if _named(one, _VALID) and not _named(one, _TEST)]
    tests = [one for one in loaders if _named(one, _TEST)]
    for first, second in ((one, other) for one in loaders for other in tests if one is not other):
        by_name = _dataset_name(first)
        valid = any(_VALID.search(name) and not _TEST.search(name) for name in first.names if name != by_name)
        same = _dataset(first) is not None and _is_same(_dataset(first), _dataset(second))
        calls = [one.source.call for one in (first, second)]
        branches = any(one is None or one.undecided for one in calls)
        if valid and same and not branches and first.source.call is not None and program.mentions(_BEST.pattern):
            yield program.finding(
                selected_on_test_data,
                first.source.call.expression,
                f"`{_own_name(first)}` and `{_own_name(second)}` read the same data: what is chosen by validation is "
                "chosen by the test data, and the test score is too good.",
            )
            return
    yield from _given_as_validation(program)
    yield from _validated_and_tested(program)
    for place, loader in _deciding(program, tests):
        twice = bool(held) or program.mentions(r"load_state_dict\([^\n]*best|final_test|best_model\)")
        yield program.finding(
            selected_on_test_data,
            place,
            f"The best epoch is chosen by the score on `{loader}`, the test data: its score is then too good.",
            severity=None if twice else Severity.INFO,
        )
        return


def _own_name(pipeline: Pipeline) -> str:
    return pipeline.names[-1]


def _dataset_name(pipeline: Pipeline) -> str:
    given = pipeline.source.call.expression.args[:1] if pipeline.source.call is not None else []
    return given[0].id if given and isinstance(given[0], ast.Name) else ""


def _is_same(one: Value | None, other: Value | None) -> bool:
    if one is other:
        return isinstance(one, Object | Call | Item)
    match one, other:
        case Item(base=base, index=Literal(value=key)), Item(base=second, index=Literal(value=name)):
            return base is second and key == name
    return False


def _given_as_validation(program: Program) -> Iterator[Finding]:
    """Test data is given for a parameter that is called validation, of a function that keeps the best."""
    functions = {one.name: one for one in program.source.nodes if isinstance(one, ast.FunctionDef)}
    methods = {node.name for node in functions.values()}
    for node in program.source.nodes:
        if not isinstance(node, ast.Call):
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        function = functions.get(name) if name in methods else None
        pairs = [(one.arg or "", one.value) for one in node.keywords]
        if function is not None:
            names = [one.arg for one in function.args.args]
            names = names[1:] if names[:1] == ["self"] else names
            pairs += list(zip(names, node.args, strict=False))
            decides = bool(_BEST.search(ast.unparse(function)))
        else:
            decides = name == "Trainer" and bool(
                re.search(r"load_best_model_at_end=True|EarlyStopping", program.source.text)
            )
            pairs = [("val_data", value) for key, value in pairs if key == "eval_dataset"] if decides else []
        for parameter, value in pairs:
            given = ast.unparse(value)
            if decides and _VALID.search(parameter) and _is_test(given):
                yield program.finding(
                    selected_on_test_data,
                    node,
                    f"`{given}` is given as the validation data, by which the best epoch is chosen: the test score is "
                    "then too good.",
                )
                return


def _validated_and_tested(program: Program) -> Iterator[Finding]:
    """A Trainer of Lightning validates on a loader, chooses by it, and tests on the same one."""
    chooses = program.mentions(r"EarlyStopping|ModelCheckpoint\([^\n]*monitor|ckpt_path=['\"]best")
    tested = [one.argument(1, "dataloaders", "test_dataloaders") for one in program.calls if one.name == ".test"]
    for call in program.calls if chooses else ():
        given = call.argument(2, "val_dataloaders") if call.name == ".fit" else None
        if isinstance(given, Pipeline) and any(one is given for one in tested) and call.node is not None:
            yield program.finding(
                selected_on_test_data,
                call.expression,
                f"{program.name_of(given)} is given as the validation data, by which the best epoch is chosen, and is "
                "the test data too: the test score is too good.",
            )
            return


def _is_test(text: str) -> bool:
    plain = re.sub(r"\[['\"](\w+)['\"]\]", r".\1", text)
    return bool(re.fullmatch(r"[\w.]+", plain)) and bool(_TEST.search(plain)) and not _VALID.search(plain)


def _deciding(program: Program, tests: list[Pipeline]) -> Iterator[tuple[ast.If, str]]:
    """Conditions that compare a score of test data with the best one, and keep the model."""
    names = {name for one in tests for name in one.names if _TEST.search(name)}
    for node in program.source.nodes:
        if not isinstance(node, ast.If) or not isinstance(node.test, ast.Compare) or not names:
            continue
        text = ast.unparse(node.test)
        kept = "\n".join(ast.unparse(one) for one in node.body)
        if not _BEST.search(text) or not _KEEPS.search(kept):
            continue
        compared = [one.id for one in ast.walk(node.test) if isinstance(one, ast.Name) and not _BEST.search(one.id)]
        area = function_of(node) or program.source.tree
        for assigned in ast.walk(area):
            if not isinstance(assigned, ast.Assign | ast.AugAssign) or assigned.lineno > node.lineno:
                continue
            targets = assigned.targets if isinstance(assigned, ast.Assign) else [assigned.target]
            stored = {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}
            read = {one.id for one in ast.walk(assigned.value) if isinstance(one, ast.Name)}
            around = [one for one, _ in enclosing(assigned) if isinstance(one, ast.For)]
            read |= {one.id for loop in around[:1] for one in ast.walk(loop.iter) if isinstance(one, ast.Name)}
            if stored & set(compared) and read & names:
                yield node, min(read & names)
                return


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
        and any(name in ast.unparse(target).replace(" ", "").split(",") for target in one.targets)
    ]
    return not zero or "0" not in ast.unparse(zero[-1].value)


@rule("P171", "test-batch-dropped", Severity.WARNING)
def test_batch_dropped(program: Program) -> Iterator[Finding]:
    """A loader for validation or test data drops its last batch.

    Why it matters:
        With `drop_last=True`, up to a whole batch of examples is never tested. The score depends on the batch size,
        and cannot be compared with that of other programs.

    Example:
        `test_loader = DataLoader(test_set, batch_size=128, drop_last=True)`

    Fix:
        `drop_last=False` for everything but training.
    """
    for pipeline in torch_loaders(program):
        call = pipeline.source.call
        given = call.argument(8, "drop_last") if call is not None else None
        if call is None or not isinstance(given, Literal) or given.value is not True:
            continue
        if program.is_for_testing(pipeline):
            yield program.finding(
                test_batch_dropped,
                call.expression,
                f"{program.name_of(pipeline)} is for validation or testing, and drops its last batch: these examples "
                "are never scored, and the score depends on the batch size.",
            )
            return


SCORE_RULES = [selected_on_test_data, score_never_reset, test_batch_dropped]
