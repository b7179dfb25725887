"""Rules on the training, validation and test data of a PyTorch program: what is read, and how it is prepared."""

from __future__ import annotations

import ast
import itertools
import operator
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Element,
    Group,
    Item,
    Literal,
    Object,
    Table,
    Unknown,
    Value,
    walk,
)
from recordsmith.doctor.lint.libraries.control_flow import enclosing, function_of
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline
from recordsmith.doctor.lint.libraries.torch.data import base_dataset, split_of
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["SPLIT_RULES", "dataset_of", "is_drawn", "torch_loaders", "trains"]


def torch_loaders(program: Program) -> list[Pipeline]:
    """Return the DataLoaders of a program."""
    return [one for one in program.pipelines if one.source.kind == "torch" and one.stage is None and one.source.call]


def dataset_of(pipeline: Pipeline) -> Value | None:
    """Return what a DataLoader reads."""
    return None if pipeline.source.call is None else pipeline.source.call.argument(0, "dataset")


def is_drawn(pipeline: Pipeline) -> bool:
    """Tell whether a sampler decides what a loader reads."""
    call = pipeline.source.call
    given = [None if call is None else call.argument(None, name) for name in ("sampler", "batch_sampler")]
    return any(one is not None and not (isinstance(one, Literal) and one.value is None) for one in given)


def _sampler(pipeline: Pipeline) -> Call | None:
    sampler = None if pipeline.source.call is None else pipeline.source.call.argument(3, "sampler")
    return sampler if isinstance(sampler, Call) else None


def trains(program: Program, pipeline: Pipeline) -> bool:
    """Tell whether a loader is trained on; or nothing shows what it is for, and its name says so."""
    roles = program.roles(pipeline)
    return "training" in roles or (not roles - {"loop"} and program.named(pipeline) == "training")


@rule("P109", "whole-set-instead-of-split", Severity.ERROR)
def whole_set_instead_of_split(program: Program) -> Iterator[Finding]:
    """A DataLoader is given the whole dataset where one of its splits was meant.

    Why it matters:
        The model is trained on the examples that it is validated on. The score is too good, and says nothing about new
        data.

    Example:
        `train, val = random_split(data, [0.8, 0.2])`, then `DataLoader(train.dataset)`: that is all of `data`.

    Fix:
        Give the loader the split itself: `DataLoader(train)`.
    """
    loaders = torch_loaders(program)
    for pipeline in loaders:
        dataset, call = dataset_of(pipeline), pipeline.source.call
        match dataset:
            case Item(base=base, index=Literal(value="dataset"), attribute=True) if split_of(base) is not None:
                if call is None or is_drawn(pipeline):
                    continue
                yield program.finding(
                    whole_set_instead_of_split,
                    call.expression,
                    f"{program.name_of(pipeline)} reads `.dataset` of a split, which is the whole dataset: training "
                    "and validation read the same examples.",
                )
    trained = [one for one in loaders if trains(program, one) and not is_drawn(one)]
    tested = [one for one in loaders if program.is_for_testing(one) and not is_drawn(one)]
    for train, test in itertools.product(trained, tested):
        one, other = dataset_of(train), dataset_of(test)
        if not isinstance(one, Object | Call | Item) or train.source.call is None or test.source.call is None:
            continue
        if _is_one_part(one, other) and program.named(test) != "training":  # a score of the training data may be wanted
            yield program.finding(
                whole_set_instead_of_split,
                test.source.call.expression,
                f"{program.name_of(test)} reads the same dataset as {program.name_of(train)}: the model is tested on "
                "the examples that it was trained on, not on a separate split.",
                severity=Severity.WARNING if program.roles(test) else Severity.INFO,  # it may only be encoded
            )
        elif split_of(other) is not None and base_dataset(other) is one:
            yield program.finding(
                whole_set_instead_of_split,
                train.source.call.expression,
                f"{program.name_of(train)} reads the whole dataset, and {program.name_of(test)} a split of it: the "
                "model is trained on its validation data.",
                severity=Severity.WARNING,
            )
    for train, test in itertools.product(trained, loaders):
        sampler = _sampler(test)
        drawn = sampler is not None and sampler.name.endswith("SubsetRandomSampler")
        if drawn and dataset_of(train) is dataset_of(test) and program.is_for_testing(test) and train.source.call:
            yield program.finding(
                whole_set_instead_of_split,
                train.source.call.expression,
                f"{program.name_of(train)} reads the whole dataset, and {program.name_of(test)} what its sampler draws "
                "of the same: the model is trained on its validation data.",
                severity=Severity.WARNING,
            )
    for train, test in itertools.product(loaders, loaders):
        first, second = (_sampler(one) for one in (train, test))
        if first is None or first is not second or test.source.call is None:
            continue
        if trains(program, train) and program.is_for_testing(test) and dataset_of(train) is dataset_of(test):
            yield program.finding(
                whole_set_instead_of_split,
                test.source.call.expression,
                f"{program.name_of(test)} has the sampler of {program.name_of(train)}: the model is tested on the "
                "split that it was trained on.",
                severity=Severity.WARNING,
            )
    yield from _trainer_splits(program)
    yield from _scored_on_training_data(program)


def _is_one_part(one: Value, other: Value | None) -> bool:
    """They are one dataset, or two `Subset`s of one dataset with the same indices."""
    if isinstance(one, Call) and isinstance(other, Call) and one.name == other.name == "torch.utils.data.Subset":
        return len(one.args) == len(other.args) == 2 and all(map(operator.is_, one.args, other.args))
    return one is other


def _scored_on_training_data(program: Program) -> Iterator[Finding]:
    """A loop over the training data adds up something that is called a validation or test score."""
    for use in program.uses:
        if not isinstance(use.node, ast.For) or use.role == "training" or not trains(program, use.pipeline):
            continue
        added = [ast.unparse(one.target) for one in ast.walk(use.node) if isinstance(one, ast.AugAssign)]
        score = next((name for name in added if re.match(r"(val|valid|test)_", name)), None)
        if score is not None and use.pipeline.source.kind == "torch":
            yield program.finding(
                whole_set_instead_of_split,
                use.node,
                f"`{score}` is computed on {program.name_of(use.pipeline)}, which is the training data.",
                severity=Severity.WARNING,
            )

    yield from _named_for_testing(program)
    yield from _parameter_left_unused(program)


_SCORE = re.compile(r"(test|val|valid|validation)_?(acc|accuracy|loss|score|f1|auc|error|mse|mae|iou|dice|metrics?)\w*")


def _named_for_testing(program: Program) -> Iterator[Finding]:
    """`test_acc = accuracy(train_loader, model)`: the name says test, and the loader is the one that is trained on."""
    trained = {name for one in torch_loaders(program) if trains(program, one) for name in one.names}
    tested = {name for one in torch_loaders(program) if program.is_for_testing(one) for name in one.names}
    for node in program.source.nodes:
        match node:
            case ast.Assign(targets=[target], value=ast.Call() as call):
                first = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target
                given = [
                    one.id for one in (*call.args, *(key.value for key in call.keywords)) if isinstance(one, ast.Name)
                ]
                wrong = [name for name in given if name in trained - tested]
                if not isinstance(first, ast.Name) or not _SCORE.fullmatch(first.id) or not wrong:
                    continue
                if not any(name in tested for name in given) and tested:
                    yield program.finding(
                        whole_set_instead_of_split,
                        call,
                        f"`{first.id}` is computed on `{wrong[0]}`, which is the training data.",
                        severity=Severity.WARNING,
                    )
                    return


def _parameter_left_unused(program: Program) -> Iterator[Finding]:
    """A function is given two loaders, and tests on the one that it trains on; the other is at most counted."""
    for function in program.source.nodes:
        if not isinstance(function, ast.FunctionDef):
            continue
        given = {one.arg for one in function.args.args}
        loops = [one for one in ast.walk(function) if isinstance(one, ast.For) and isinstance(_over(one), ast.Name)]
        used = {ast.unparse(_over(one)) for one in loops}
        passed = {
            one.id
            for call in ast.walk(function)
            if isinstance(call, ast.Call) and ast.unparse(call.func) != "len"
            for one in (*call.args, *(key.value for key in call.keywords))
            if isinstance(one, ast.Name)
        }
        unused = [one for one in given - used - passed if re.match(r"(val|valid|validation|test|dev)_?", one)]
        trained = {ast.unparse(_over(one)) for one in loops if ".backward(" in ast.unparse(one)} & given
        for loop in loops:
            name = ast.unparse(_over(loop))
            tests = ".backward(" not in ast.unparse(loop) and _without_gradients(loop)
            if tests and name in trained and len(unused) == 1 and "load" in unused[0] + name:
                yield program.finding(
                    whole_set_instead_of_split,
                    loop,
                    f"This evaluates on `{name}`, which is trained on, and `{unused[0]}` is never read.",
                    severity=Severity.WARNING,
                )
                return


def _over(loop: ast.For) -> ast.expr:
    """What a loop goes over, without `enumerate` and progress bars."""
    over = loop.iter
    while isinstance(over, ast.Call) and over.args and ast.unparse(over.func) in ("enumerate", "tqdm", "tqdm.tqdm"):
        over = over.args[0]
    return over


def _trainer_splits(program: Program) -> Iterator[Finding]:
    """The Trainer of transformers: it is evaluated on what it is trained on, or on a split of that."""
    for call in program.calls:
        train, test = call.argument(None, "train_dataset"), call.argument(None, "eval_dataset")
        if not call.name.endswith("Trainer") or train is None or test is None or call.node is None:
            continue
        nodes = {one.arg: ast.unparse(one.value) for one in call.expression.keywords}
        match test:
            case Item(base=Call(name=".train_test_split", receiver=whole)):
                part = _is_same(whole, train)
            case _:
                part = False
        if part or nodes.get("train_dataset", "") == nodes.get("eval_dataset"):
            yield program.finding(
                whole_set_instead_of_split,
                call.expression,
                f"`eval_dataset` ({nodes.get('eval_dataset')}) is "
                + ("a split of" if part else "the same as")
                + f" `train_dataset` ({nodes.get('train_dataset')}): the model is evaluated on its training data.",
                severity=Severity.WARNING,
            )


def _is_same(one: Value | None, other: Value) -> bool:
    """They are one value, or the same item of one value."""
    if one is other:
        return True
    match one, other:
        case Item(base=base, index=Literal(value=key)), Item(base=second, index=Literal(value=name)):
            return base is second and key == name
    return False


@rule("P110", "other-split-loaded", Severity.WARNING)
def other_split_loaded(program: Program) -> Iterator[Finding]:
    """A test loader reads the training part of a standard dataset, or a training loader the test part.

    Why it matters:
        The model is tested on what it was trained on, or trained on what it is tested on: the score is too good.

    Example:
        `test_data = datasets.MNIST("data", train=True)`

    Fix:
        Give `train=False`, or `split="test"`, for the test data.
    """
    loaders = torch_loaders(program)
    trained = {_part(base_dataset(dataset_of(one))) for one in loaders if trains(program, one)}
    for pipeline in loaders:
        dataset, call = dataset_of(pipeline), pipeline.source.call
        part = _part(dataset)
        if call is None or not isinstance(dataset, Call) or part is None or is_drawn(pipeline):
            continue
        if part == "training" and program.is_for_testing(pipeline) and part in trained and program.named(pipeline):
            found, wanted = "the training part", "testing"
        elif part == "testing" and trains(program, pipeline) and program.mentions(r"\.step\(|\.fit\("):
            found, wanted = "the test part", "training"
        else:
            continue
        yield program.finding(
            other_split_loaded,
            dataset.expression,
            f"{program.name_of(pipeline)} is for {wanted}, but reads {found} of the dataset.",
        )


def _part(dataset: Value | None) -> str | None:
    if not isinstance(dataset, Call) or not dataset.name.startswith("torchvision.datasets."):
        return None
    train = dataset.argument(None if dataset.name.endswith("Folder") else 1, "train", "split")
    if isinstance(train, Literal):
        if train.value is True or train.value == "train":
            return "training"
        return "testing" if train.value is False or train.value in ("test", "val") else None
    return None


@rule("P147", "prediction-order-lost", Severity.WARNING)
def prediction_order_lost(program: Program) -> Iterator[Finding]:
    """Predictions are gathered from a loader that shuffles, without the labels of the same batch.

    Why it matters:
        A loader with `shuffle=True` gives the examples in a random order. Predictions that are gathered in this order
        and compared with a list of labels in another one look like guesses, however good the model is.

    Example:
        `for x, _ in test_loader: predictions.append(model(x))` with `DataLoader(test_set, shuffle=True)`.

    Fix:
        `shuffle=False` for test data, or gather the labels in the same loop.
    """
    for call, pipeline in scored_in_another_order(program):
        yield program.finding(
            prediction_order_lost,
            call.expression,
            f"{program.name_of(pipeline)} shuffles, so the predictions come in a random order, and these labels come "
            "from elsewhere: they do not belong together.",
        )
        return
    for use in program.uses:
        loop, pipeline = use.node, use.pipeline
        if not isinstance(loop, ast.For) or pipeline.source.kind != "torch" or pipeline.source.shuffles is not True:
            continue
        taken = loop.target
        while isinstance(taken, ast.Tuple) and any(isinstance(one, ast.Tuple) for one in taken.elts):
            taken = next(one for one in taken.elts if isinstance(one, ast.Tuple))  # of enumerate
        last = taken.elts[-1] if isinstance(taken, ast.Tuple) and len(taken.elts) > 1 else None
        used = {one.id for part in loop.body for one in ast.walk(part) if isinstance(one, ast.Name)}
        dropped = isinstance(last, ast.Name) and (bool(re.fullmatch(r"_\w*", last.id)) or last.id not in used)
        element = pipeline.element
        dropped |= isinstance(element, Group) and len(element.members) == 1  # there are no labels
        dropped |= (
            isinstance(taken, ast.Name)
            and not isinstance(pipeline.element, Group | Table)  # there are no labels
            and not re.search(rf"\b{taken.id}(\.|\[['\"])(y|label|target)", ast.unparse(loop))
        )
        calls = [ast.unparse(node.func) for node in ast.walk(loop) if isinstance(node, ast.Call)]
        added = [ast.unparse(node) for node in ast.walk(loop) if isinstance(node, ast.Call)]
        gathers = any(re.search(r"\.(append|extend)\((?!.*loss)", text) for text in added)
        gathers |= any(isinstance(one, ast.AugAssign) and "tolist" in ast.unparse(one.value) for one in ast.walk(loop))
        tests = program.is_for_testing(pipeline) or (not trains(program, pipeline) and _without_gradients(loop))
        if dropped and gathers and tests and not any(".backward" in one for one in calls):
            yield program.finding(
                prediction_order_lost,
                loop,
                f"{program.name_of(pipeline)} shuffles, and its labels are dropped here: the predictions come in a "
                "random order, which no list of labels or ids has.",
            )


def scored_in_another_order(program: Program) -> Iterator[tuple[Call, Pipeline]]:
    """Yield scores of predictions on a shuffling loader against labels that did not come from it."""
    shuffling = [one for one in torch_loaders(program) if one.source.shuffles is True]
    for call in program.calls if shuffling else ():
        if not call.name.startswith("sklearn.metrics.") or len(call.args) < 2 or call.node is None:
            continue
        made = [
            {id(one) for one in walk(argument, 400) if isinstance(one, Element) and one.batched}
            for argument in call.args[:2]
        ]
        if all(made):
            continue  # both come from loaders
        for pipeline in shuffling:
            parts = {id(one) for one in walk(pipeline.element, 40) if isinstance(one, Element) and one.batched}
            fed = [bool(one) and one <= parts for one in made]
            if sorted(fed) == [False, True] and not isinstance(call.args[fed.index(False)], Literal | Group | Unknown):
                yield call, pipeline


def _without_gradients(loop: ast.For) -> bool:
    withs = [one for one in (*(parent for parent, _ in enclosing(loop)), *loop.body) if isinstance(one, ast.With)]
    texts = [ast.unparse(item) for one in withs for item in one.items]
    texts += [ast.unparse(one) for one in getattr(function_of(loop), "decorator_list", [])]
    return any(re.search(r"no_grad|inference_mode", text) for text in texts)


SPLIT_RULES = [whole_set_instead_of_split, other_split_loaded, prediction_order_lost]
