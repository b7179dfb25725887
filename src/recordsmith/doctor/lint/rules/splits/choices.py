"""The rule on the best epoch: it is not chosen by the data that the model is then judged by."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.loops import pipelines_in
from recordsmith.doctor.lint.interpreter.values import Call, Group, Item, Literal, Object, Value, walk
from recordsmith.doctor.lint.libraries.control_flow import enclosing, function_of
from recordsmith.doctor.lint.libraries.fitting import model_uses
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.torch.splits import torch_loaders
from recordsmith.rules import Finding, Severity, rule

__all__ = ["CHOICE_RULES"]

_TEST = re.compile(r"(^|[_.])test", re.IGNORECASE)
_VALID = re.compile(r"(^|[_.])(val|valid|validation|dev)(_|$|\d|ation|id|l|s)", re.IGNORECASE)
_BEST = re.compile(r"best|patience|early_?stop|lowest|highest|min_loss|max_acc", re.IGNORECASE)
_KEEPS = re.compile(r"torch\.save|deepcopy|save_checkpoint|save_pretrained|state_dict|save_model|\.save\(")
_TEST_NAME = re.compile(r"(^|_)(test|testing|tst|holdout)(_|$|\d|[A-Z])", re.IGNORECASE)


@rule("P164", "selected-on-test-data", Severity.INFO)
def selected_on_test_data(program: Program) -> Iterator[Finding]:
    """The best epoch is chosen, or training is stopped, by the score of the test data.

    Why it matters:
        Of many epochs, the one that happens to fit the test data best is kept. Its test score is then better than the
        model is on new data, and cannot be compared with scores that were measured once, at the end.

    Example:
        `val_loader = DataLoader(test_set)`, and the model with the best score on `val_loader` is saved;
        `ModelCheckpoint("best.h5", save_best_only=True)` with `validation_data=(x_test, y_test)`, then
        `model.evaluate(x_test, y_test)`.

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
    yield from _chosen_by_callback(program)
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


def _dataset(pipeline: Pipeline) -> Value | None:
    return None if pipeline.source.call is None else pipeline.source.call.argument(0, "dataset")


def _named(pipeline: Pipeline, pattern: re.Pattern[str]) -> bool:
    return any(pattern.search(name) for name in pipeline.names)


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


def _chosen_by_callback(program: Program) -> Iterator[Finding]:
    """A callback of Keras keeps the best epoch of test data, and the model is then judged on the same data."""
    uses = list(model_uses(program.calls))
    for fit in program.calls:
        given = fit.argument(None, "validation_data") if fit.name in (".fit", ".fit_generator") else None
        if given is None or not _chooses(fit.argument(None, "callbacks")) or not _is_named_test(fit):
            continue
        inputs = given.members[0] if isinstance(given, Group) and given.members else given
        after = program.calls[program.calls.index(fit) + 1 :]
        later = {id(one) for one in after}
        reported = next((use for use in uses if id(use.call) in later and _is_same_input(use.inputs, inputs)), None)
        if reported is not None and reported.role in ("validation", "prediction"):
            yield program.finding(
                selected_on_test_data,
                fit.expression,
                "The best epoch is chosen by the score on the test data, on which the model is then judged: the score "
                "will be too optimistic.",
            )


def _chooses(callbacks: Value | None) -> bool:
    """A callback keeps the weights of the epoch with the best validation score."""
    for one in walk(callbacks, 60):
        if not isinstance(one, Call):
            continue
        monitor = one.argument(1 if one.name.endswith("Checkpoint") else 0, "monitor")
        seen = monitor is None or (isinstance(monitor, Literal) and str(monitor.value).startswith("val"))
        option = {"ModelCheckpoint": "save_best_only", "EarlyStopping": "restore_best_weights"}
        kept = one.argument(None, option.get(one.name.rpartition(".")[2], ""))
        if seen and isinstance(kept, Literal) and kept.value is True:
            return True
    return False


def _is_named_test(fit: Call) -> bool:
    node = next((one.value for one in fit.expression.keywords if one.arg == "validation_data"), None)
    names = [one.id for one in ast.walk(node) if isinstance(one, ast.Name)] if node is not None else []
    return any(_TEST_NAME.search(name) for name in names)


def _is_same_input(first: Value, second: Value) -> bool:
    if first is second:
        return True
    sources = [{id(one) for one in pipelines_in(value)} for value in (first, second)]
    if sources[0] & sources[1]:
        return True
    same = isinstance(first, Item) and isinstance(second, Item) and first.base is second.base
    return same and isinstance(first, Item) and isinstance(second, Item) and first.index is second.index


CHOICE_RULES = [selected_on_test_data]
