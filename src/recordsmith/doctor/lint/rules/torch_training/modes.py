"""Rules on training and evaluation mode of PyTorch models: `train()` and `eval()`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Group, Literal, Object, Value, walk
from recordsmith.doctor.lint.libraries.control_flow import (
    conditions_around,
    enclosing,
    function_of,
    is_handed_over,
    loops_around,
    root_of,
)
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline
from recordsmith.doctor.lint.libraries.torch.modules import is_module, is_optimizer, key_of
from recordsmith.doctor.lint.libraries.torch.training import Step, receiver_text, training_steps
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["MODE_RULES"]

_HAS_MODES = re.compile(
    r"torch\.nn\.(\w*Dropout\w*|\w*BatchNorm\w*|InstanceNorm\w*|Transformer\w*)|torchvision\.models\.\w+|timm\.create_model"
    r"|torch\.nn\.functional\.dropout\w*"
)
_FRAMEWORKS = r"[Ll]ightning|ignite|fastai|deepspeed"


def _trained(program: Program) -> set[object]:
    """What stands for the models whose parameters an optimizer is given."""
    found: set[object] = set()
    for call in program.calls:
        if call.name in (".parameters", ".named_parameters"):
            found |= {key_of(call), receiver_text(call)}
    if any(is_optimizer(call) for call in program.calls):
        return found
    switched = {receiver_text(one.call) for one in training_steps(program.calls) if one.kind in ("eval", "train")}
    return set(switched) if len(switched) == 1 else set()


def _models_of(step: Step) -> set[object]:
    """What stands for the models that a step changes; nothing if that is not known."""
    optimizer = step.call.args[0] if step.call.args and is_optimizer(step.call.args[0]) else step.call.receiver
    given = optimizer.argument(0, "params") if isinstance(optimizer, Call) and is_optimizer(optimizer) else None
    calls = [one for one in walk(given, 200) if isinstance(one, Call) and one.name.endswith("parameters")]
    if isinstance(given, Group) and not given.grown and not calls:
        return {None}  # tensors of its own, and no model
    whole = {id(part) for one in calls for part in walk(one.receiver, 20) if isinstance(part, Call | Object)}
    return whole | {key_of(one) for one in calls}


def _has_modes(program: Program, step: Step) -> bool:
    """The model behaves differently in the two modes, as far as the program shows."""
    model = step.call.receiver
    while isinstance(model, Call) and model.name in (".to", ".cuda"):
        model = model.receiver
    library = isinstance(model, Call) and not model.name.startswith(("torch.nn.", "torchvision.", "timm.", "."))
    known = isinstance(model, Object) or library or (isinstance(model, Call) and model.name.startswith("torch.nn."))
    return not known or any(_HAS_MODES.fullmatch(call.name) or _drops_between(call) for call in program.calls)


def _drops_between(call: Call) -> bool:
    """A recurrent network with dropout between its layers."""
    return call.name in ("torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN") and call.argument(None, "dropout") is not None


def _is_once_in_a_while(test: ast.expr) -> bool:
    """The condition counts: `step % 100 == 0`, `epoch > 5`."""
    words = {one.id for one in ast.walk(test) if isinstance(one, ast.Name)}
    words |= {one.attr for one in ast.walk(test) if isinstance(one, ast.Attribute)}
    counted = any(re.search(r"epoch|step|iter|batch|^i$|idx", word) for word in words)
    return counted and any(isinstance(one, ast.Mod | ast.Gt | ast.GtE) for one in ast.walk(test))


def _is_sure(step: Step, loop: ast.AST | None) -> bool:
    """Nothing leaves it open whether a mode is set before the next training step."""
    if is_handed_over(step.call):
        return False
    for condition, in_body in conditions_around(step.call, loop):
        branch = condition.body if in_body else condition.orelse
        if not in_body or not _is_once_in_a_while(condition.test):
            return False
        if isinstance(branch[-1], ast.Return | ast.Raise | ast.Break | ast.Continue):
            return False
    return True


@rule("P103", "stays-in-eval-mode", Severity.WARNING)
def stays_in_eval_mode(program: Program) -> Iterator[Finding]:
    """A PyTorch model is put into evaluation mode and then trained further in it.

    Why it matters:
        `eval()` switches dropout off and lets batch normalisation use its stored averages, until `train()` is called.
        Training continues without regularisation and without updating these averages: later epochs learn differently
        from the first one, and the model overfits.

    Example:
        `model.train()` once before all epochs, and `model.eval()` for validation at the end of each epoch.

    Fix:
        Call `model.train()` at the beginning of every epoch, and again after every validation inside one.
    """
    trained = _trained(program)
    steps = [one for one in training_steps(program.calls) if one.kind in ("eval", "train", "mode", "backward", "step")]
    for root in dict.fromkeys(one.root for one in steps):
        mine = [one for one in steps if one.root is root]
        if not any(one.kind == "step" for one in mine):
            continue
        loops = list(dict.fromkeys(loop for one in mine if one.kind == "backward" for loop in one.loops))
        loops = [loop for loop in loops if getattr(loop, "source", None) is program.source]
        culprit = _left_in_eval(mine, None, trained)
        for loop in loops:
            if culprit is None:
                inside = [one for one in mine if loop in one.loops]
                culprit = _left_in_eval([*inside, *inside], loop, trained)
        if culprit is not None:
            name = receiver_text(culprit.call)
            yield program.finding(
                stays_in_eval_mode,
                culprit.call.expression,
                f"`{name}.eval()` is followed by more training without `{name}.train()`: dropout stays off and batch "
                "normalisation keeps its stored averages.",
                severity=None if _has_modes(program, culprit) else Severity.INFO,
            )


def _left_in_eval(steps: list[Step], loop: ast.AST | None, trained: set[object]) -> Step | None:
    state: dict[object, Step | None] = {}
    for step in steps:
        if step.kind == "eval":
            known = step.key in trained or receiver_text(step.call) in trained
            state[step.key] = step if known and _is_sure(step, loop) else None
        elif step.kind in ("train", "mode"):
            text = receiver_text(step.call)
            kept: dict[object, Step | None] = {
                key: one
                for key, one in state.items()
                if key != step.key and one is not None and receiver_text(one.call) != text
            }
            state = kept if len(kept) < len(state) else {}
        elif step.kind == "step":
            models = _models_of(step)
            left = [one for one in state.values() if one is not None]
            found = next((one for one in left if not models or one.key in models), None)
            if found is not None and not _is_test_loop(step.loop):
                return found
    return None


def _is_test_loop(loop: ast.AST | None) -> bool:
    """Training on validation data is said by a rule of its own."""
    return isinstance(loop, ast.For) and bool(re.search(r"(^|[_.(])(val|valid|test)\w*", ast.unparse(loop.iter)))


@rule("P104", "never-in-eval-mode", Severity.WARNING)
def never_in_eval_mode(program: Program) -> Iterator[Finding]:
    """A PyTorch model with dropout or batch normalisation is validated in training mode.

    Why it matters:
        In training mode dropout removes activations at random, and batch normalisation uses, and learns from, the
        batch that it sees. The score is worse than the model is, depends on the batch size, and validation data
        changes the model.

    Example:
        A loop over `val_loader` with `model(x)`, and `model.eval()` nowhere before it.

    Fix:
        Call `model.eval()` before the loop, and `model.train()` before training continues.
    """
    if program.mentions(_FRAMEWORKS) or program.has_foreign_trainer:
        return
    if not any(_HAS_MODES.fullmatch(call.name) for call in program.calls):
        return
    steps = list(training_steps(program.calls))
    if not any(one.kind == "backward" for one in steps):
        yield from _predicts_only(program)
        return
    for loop, pipeline in _test_loops(program):
        if any(isinstance(node, ast.Yield) for node in ast.walk(loop)):
            continue  # it hands the batches on, to training and to evaluation
        ways: dict[tuple[ast.Call, ...], list[Call]] = {}  # a function may train with one call and test with another
        for call in program.calls:
            if loop in loops_around(call):
                way = tuple(site for site in call.via if not any(parent is loop for parent, _ in enclosing(site)))
                depth = next((place for place, site in enumerate(call.via) if site not in way), len(way))
                ways.setdefault(call.via[:depth], []).append(call)
        busy = {id(one.call) for one in steps if one.kind in ("step", "eval", "backward")}
        testing = [
            calls[0]
            for calls in ways.values()
            if not any(id(call) in busy or _runs_it_elsewhere(call) for call in calls)
        ]
        if testing and _mode_at(program, steps, testing[0]) == "train":
            yield program.finding(
                never_in_eval_mode,
                loop,
                f"{program.name_of(pipeline)} is evaluated in training mode, without `eval()`: dropout is active, and "
                "batch normalisation uses and learns from the batch.",
            )
            return
    yield from _loops_by_name(program, steps)
    for call in program.calls:
        given = call.argument(0, "mode") if call.name == "torch.set_grad_enabled" else None
        if isinstance(given, Literal) and given.value is False and _mode_at(program, steps, call) == "train":
            yield program.finding(
                never_in_eval_mode,
                call.expression,
                "Without gradients, the model is still in training mode here, because `train()` is called for every "
                "phase: dropout is active, and batch normalisation uses and learns from the batch.",
            )
            return


def _predicts_only(program: Program) -> Iterator[Finding]:
    """Stored weights are loaded into a model that then predicts, and nothing puts it into evaluation mode."""
    if program.mentions(r"\.eval\b|\.train\(|\bbackward\b|[Oo]ptim|\.fit\("):
        return
    loads = [one for one in program.calls if one.name == ".load_state_dict" and is_module(one.receiver)]
    names = {receiver_text(one) for one in loads if isinstance(one.receiver, Object)}  # what they run is followed
    places = [call.expression for call in program.calls if call.name == "()" and _is_any(call.receiver, loads)]
    places += [call.via[-1] for call in program.calls if call.via and ast.unparse(call.via[-1].func) in names]
    without = any(one.name in ("torch.no_grad", "torch.inference_mode") for one in program.calls)
    if places and without:
        yield program.finding(
            never_in_eval_mode,
            places[0],
            "The model predicts in training mode, because `eval()` is never called after its weights were loaded: "
            "dropout is active, and batch normalisation uses the batch.",
        )


def _is_any(model: Value | None, loads: list[Call]) -> bool:
    return model is not None and any(model is one.receiver for one in loads)


_TEST_NAME = re.compile(r"(^|[_.])(val|valid|validation|test|eval|dev)(_?\w*)?$")
_EVALUATES = re.compile(r"^_?(val|valid|validate|validation|evaluate|eval|test)(_|$)")
_MODEL = re.compile(r"(^|[._])(model|net|network|module|classifier|encoder|generator)\w*$")


def _loops_by_name(program: Program, steps: list[Step]) -> Iterator[Finding]:
    """Loops over data that the program gets from elsewhere, known by its name, without gradients."""
    switched = program.mentions(r"\.eval\b|\.train\(False|\.train\(mode")
    for loop in program.source.nodes:
        if not isinstance(loop, ast.For) or not _is_evaluation(loop):
            continue
        inside = {id(node) for node in ast.walk(loop)}
        kinds = {one.kind: one for one in steps if id(one.call.node) in inside}
        if "backward" in kinds or "step" in kinds or "eval" in kinds or not _runs_model(loop):
            continue
        if "train" in kinds and not conditions_around(kinds["train"].call, loop):
            name = receiver_text(kinds["train"].call)
            yield program.finding(
                never_in_eval_mode,
                kinds["train"].call.expression,
                f"`{name}.train()` is called in the evaluation: dropout is active, and batch normalisation uses and "
                "learns from the batch.",
            )
            return
        if not switched:
            yield program.finding(
                never_in_eval_mode,
                loop,
                "This evaluation runs in training mode, because `eval()` is never called: dropout is active, and batch "
                "normalisation uses and learns from the batch.",
            )
            return


def _is_evaluation(loop: ast.For) -> bool:
    """It goes over validation or test data, by its name, and computes no gradients."""
    over = loop.iter
    while isinstance(over, ast.Call) and over.args and ast.unparse(over.func) in ("enumerate", "tqdm", "tqdm.tqdm"):
        over = over.args[0]
    name = ast.unparse(over).rstrip("]'\"").replace("['", ".").replace('["', ".")
    withs = [one for one in (*(parent for parent, _ in enclosing(loop)), *loop.body) if isinstance(one, ast.With)]
    function = function_of(loop)
    decorated = [ast.unparse(one) for one in getattr(function, "decorator_list", [])]
    texts = [ast.unparse(item) for one in withs for item in one.items] + decorated
    without = any(re.search(r"no_grad|inference_mode", text) for text in texts)
    evaluates = isinstance(function, ast.FunctionDef) and bool(_EVALUATES.match(function.name))
    return without and (bool(_TEST_NAME.search(name)) or evaluates)


def _runs_model(loop: ast.For) -> bool:
    calls = [ast.unparse(one.func) for one in ast.walk(loop) if isinstance(one, ast.Call)]
    return any(_MODEL.search(name) for name in calls)


def _runs_it_elsewhere(call: Call) -> bool:
    """A thing of another library holds the model and runs it, as an explainer does: it may set the mode."""
    holder = call.receiver
    if call.name != "()" or not isinstance(holder, Call) or holder.name.startswith("torch.") or is_module(holder):
        return False
    return any(one is not holder and is_module(one) for one in walk(holder, 40))


def _test_loops(program: Program) -> Iterator[tuple[ast.AST, Pipeline]]:
    """The loops over validation and test data, and the comprehensions, by the name of what they go over."""
    named: dict[str, Pipeline] = {}
    for pipeline in program.pipelines:
        if pipeline.source.kind == "torch" and program.is_for_testing(pipeline):
            named |= dict.fromkeys(pipeline.all_names, pipeline)
    for use in program.uses:
        tests = use.role != "training" and use.pipeline.source.kind == "torch"
        if isinstance(use.node, ast.For) and tests and program.is_for_testing(use.pipeline) and not _hands_on(use.node):
            yield use.node, use.pipeline
    for node in program.source.nodes:
        if isinstance(node, ast.GeneratorExp | ast.ListComp):
            over = node.generators[0].iter
            key = over.slice.value if isinstance(over, ast.Subscript) and isinstance(over.slice, ast.Constant) else None
            name = key if isinstance(key, str) else ast.unparse(over).rpartition(".")[2]
            if name in named:
                yield node, named[name]


def _hands_on(loop: ast.For) -> bool:
    """It yields what it goes over, as a loop that only logs does: the loop around it tests."""
    return any(isinstance(node, ast.Yield) for node in ast.walk(loop))


def _mode_at(program: Program, steps: list[Step], call: Call) -> str | None:
    """The mode that the program has set last when it makes a call; "train" if it never sets one."""
    modes = [one for one in steps if one.kind in ("eval", "train", "mode")]
    if not modes:
        return None if program.mentions(r"\.eval\b|\.train\(") else "train"
    place = program.calls.index(call)
    before = [one for one in modes if one.root is root_of(call) and program.calls.index(one.call) < place]
    sure = bool(before) and not conditions_around(before[-1].call) and not _is_asked_for(before[-1])
    return before[-1].kind if sure else None


def _is_asked_for(step: Step) -> bool:
    """A function sets either mode, as its caller says: `test(model, train=True)` shows the difference."""
    function = function_of(step.call.expression)
    decided = any(isinstance(parent, ast.If) for parent, _ in enclosing(step.call.expression))
    return decided and function is not None and ".eval()" in ast.unparse(function)


MODE_RULES = [stays_in_eval_mode, never_in_eval_mode]
