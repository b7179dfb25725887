"""Rules on models and optimizers of PyTorch that are kept too long, or not long enough."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Object
from recordsmith.doctor.lint.libraries.control_flow import loops_around
from recordsmith.doctor.lint.libraries.torch.modules import is_module
from recordsmith.doctor.lint.libraries.torch.training import optimizers, training_steps
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["KEPT_RULES"]

_FOLDS = re.compile(r"fold|\.split\(|kf\b|skf\b", re.IGNORECASE)
_BEGINS_ANEW = re.compile(r"load_state_dict|reset|\.apply\(|deepcopy|init_weights|weights_init|clone|xavier|kaiming")


@rule("P182", "model-of-the-fold-before", Severity.ERROR)
def model_of_the_fold_before(program: Program) -> Iterator[Finding]:
    """A PyTorch model is made once, and trained in every fold of a cross-validation.

    Why it matters:
        In the second fold, the model has already been trained on the test rows of that fold. The scores rise from fold
        to fold, and their mean says nothing.

    Example:
        `model = Net()` before `for train, test in KFold(5).split(x)`, and training in the loop.

    Fix:
        Make the model and its optimizer inside the loop.
    """
    for step in training_steps(program.calls):
        model = _model(step.call.receiver) if step.kind == "step" else None
        folds = [one for one in step.loops if isinstance(one, ast.For) and _is_folds(one)]
        if model is None or not folds or folds[0] in _loops_of(model):
            continue
        if not _BEGINS_ANEW.search(ast.unparse(folds[0])):
            yield program.finding(
                model_of_the_fold_before,
                folds[0],
                "The model is made before the folds and trained in each of them: from the second fold on, it is tested "
                "on rows that it was trained on.",
            )
            return


def _is_folds(loop: ast.For) -> bool:
    """A loop over the folds of scikit-learn, that has another loop for the epochs or the batches in it."""
    over = ast.unparse(loop.iter)
    return ".split(" in over and bool(_FOLDS.search(over)) and any(isinstance(one, ast.For) for one in ast.walk(loop))


def _model(optimizer: object) -> Call | Object | None:
    """The model that an optimizer was given."""
    given = optimizer.argument(0, "params") if isinstance(optimizer, Call) else None
    model = given.receiver if isinstance(given, Call) and given.name == ".parameters" else None
    return model if isinstance(model, Call | Object) and is_module(model) else None


def _loops_of(model: Call | Object) -> tuple[ast.AST, ...]:
    if isinstance(model, Call):
        return loops_around(model)
    found: list[ast.AST] = []
    one: ast.AST | None = model.node
    while one is not None:
        found += [one] if isinstance(one, ast.For | ast.While) else []
        one = getattr(one, "parent", None)
    return tuple(found)


@rule("P183", "optimizer-of-each-epoch", Severity.WARNING)
def optimizer_of_each_epoch(program: Program) -> Iterator[Finding]:
    """A PyTorch optimizer is made anew in every epoch, for a model that is kept.

    Why it matters:
        Adam and momentum keep averages of the gradients. A new optimizer begins without them: the first steps of every
        epoch are too large, and a schedule of the learning rate has no effect.

    Example:
        `def train_epoch(model): optimizer = Adam(model.parameters()); ...`, called for every epoch.

    Fix:
        Make the optimizer once, and give it to the function.
    """
    for made in optimizers(program.calls):
        model = _model(made)
        plain = made.name.endswith(".SGD") and made.argument(2, "momentum") is None
        epochs = [one for one in loops_around(made) if isinstance(one, ast.For) and _is_epochs(one)]
        if model is None or plain or not epochs or epochs[-1] in _loops_of(model) or made.node is None:
            continue
        if isinstance(model, Object) and model.node is None:
            continue
        rate = made.argument(1, "lr")
        changes = rate is not None and re.search(
            r"epoch|decay|\[", ast.unparse(rate.node) if rate.node is not None else ""
        )
        if not changes and not made.undecided:
            yield program.finding(
                optimizer_of_each_epoch,
                made.expression,
                "The optimizer is created again in every epoch, and the model is kept: it forgets its averages of the "
                "gradients each time.",
            )
            return


def _is_epochs(loop: ast.For) -> bool:
    text = f"{ast.unparse(loop.target)} {ast.unparse(loop.iter)}".lower()
    return "epoch" in text and "range(" in text


KEPT_RULES = [model_of_the_fold_before, optimizer_of_each_epoch]
