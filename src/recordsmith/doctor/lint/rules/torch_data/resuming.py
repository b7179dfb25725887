"""Rules on what a PyTorch program restores from a checkpoint."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Parameter, Table, Value
from recordsmith.doctor.lint.libraries.rows import is_alike
from recordsmith.doctor.lint.libraries.torch.training import receiver_text
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["RESUMING_RULES"]

_RESUMES = r"resum|start\w*_epoch|epoch_start|begin_epoch|first_epoch|start_iter|load_checkpoint"
_SCHEDULER = re.compile(r"torch\.optim\.lr_scheduler\.[A-Z]\w+")


@rule("P174", "resumed-in-part", Severity.WARNING)
def resumed_in_part(program: Program) -> Iterator[Finding]:
    """A program resumes training, and leaves out the optimizer or the learning rate schedule.

    Why it matters:
        Adam and momentum begin with empty averages, and a schedule begins anew with a high rate or its warm-up: the
        loss jumps after every interruption, and the result differs from an uninterrupted run.

    Example:
        `torch.save({"model": ..., "optimizer": ...})` and a `CosineAnnealingLR` of which nothing is saved.

    Fix:
        Save and load all of them: `scheduler.state_dict()`, `scheduler.load_state_dict(checkpoint["scheduler"])`.
    """
    if program.mentions(r"[Ll]ightning|accelerat|deepspeed|transformers"):
        return
    saved = [one for one in program.calls if one.name == "torch.save" and one.node is not None]
    loaded = {receiver_text(one) for one in program.calls if one.name == ".load_state_dict"}
    written = "\n".join(ast.unparse(one.expression) for one in saved) + _saved_dicts(program)
    optimizer = next((name for name in loaded if re.search(r"optim|^opt", name.rpartition(".")[2])), None)
    keeps = re.search(r"optim\w*\.state_dict\(\)|opt\w*\.state_dict\(\)", written)
    if not saved or not loaded or not keeps or not program.mentions(_RESUMES):
        return
    schedulers = [one for one in program.calls if _SCHEDULER.fullmatch(one.name)]
    stepped = [one for one in program.calls if one.name == ".step" and isinstance(one.receiver, Call)]
    stepped = [one for one in stepped if any(one.receiver is made for made in schedulers)]
    restores = program.mentions(r"(?i)(sched\w*|lr_s\w*)(\.\w+|\[\w+\])*\.load_state_dict|last_epoch")
    by_epoch = any(one.args for one in stepped) or program.mentions(r"sched\w*\.(step\(\w*epoch|last_epoch)|lambda_lr")
    plateau = any("ReduceLROnPlateau" in one.name for one in schedulers)
    if optimizer is not None and stepped and not restores and not by_epoch and not plateau:
        yield program.finding(
            resumed_in_part,
            schedulers[0].expression,
            "The weights and the optimizer are restored when training resumes, and the schedule is not: the "
            "learning rate starts from the beginning.",
        )
    elif (
        optimizer is None
        and not program.mentions(r"opt\w*(\.\w+|\[\w+\])*\.load_state_dict")
        and program.mentions(r"resume|start_epoch|starting_epoch")
        and _has_state(program)
    ):
        yield program.finding(
            resumed_in_part,
            saved[0].expression,
            "The state of the optimizer is saved and never loaded: after resuming, its averages start from zero.",
        )


def _saved_dicts(program: Program) -> str:
    """The dicts that are saved under a name."""
    return "\n".join(ast.unparse(node) for node in program.source.nodes if isinstance(node, ast.Dict))


def _has_state(program: Program) -> bool:
    """The optimizer keeps something from step to step: Adam and the like, or momentum."""
    made = [one for one in program.calls if re.fullmatch(r"torch\.optim\.[A-Z]\w*", one.name)]
    return any(not one.name.endswith(".SGD") or one.argument(2, "momentum") is not None for one in made)


@rule("P187", "checkpoint-not-unpacked", Severity.ERROR)
def checkpoint_not_unpacked(program: Program) -> Iterator[Finding]:
    """A checkpoint that has the weights under a key is loaded as if it were the weights.

    Why it matters:
        No name of the checkpoint is one of the model's. `load_state_dict` stops with an error, or, with
        `strict=False`, loads nothing and says nothing: the model keeps its random weights.

    Example:
        `torch.save({"model": model.state_dict()}, path)`, then `model.load_state_dict(torch.load(path), strict=False)`.

    Fix:
        `model.load_state_dict(torch.load(path)["model"])`
    """
    saved = [one for one in program.calls if one.name == "torch.save" and len(one.args) > 1]
    for call in program.calls:
        given = call.argument(0, "state_dict") if call.name == ".load_state_dict" else None
        if not isinstance(given, Call) or given.name != "torch.load" or not given.args or call.node is None:
            continue
        keys = [_key_of_weights(one.args[0]) for one in saved if _is_same_path(one.args[1], given.args[0])]
        if not keys or None in keys:
            continue
        yield program.finding(
            checkpoint_not_unpacked,
            call.expression,
            f"The weights are saved under the key {keys[0]!r}, and the whole file is loaded as the weights: "
            + ("nothing is loaded." if "strict" in call.keywords else "it stops with an error."),
            advice=f"Load the part: `torch.load(...)[{keys[0]!r}]`.",
        )
        return


def _is_same_path(one: Value, other: Value) -> bool:
    """They are one path: the same constant, or the same option of two functions."""
    if isinstance(one, Parameter) and isinstance(other, Parameter):
        return one.name == other.name and one.default is not None and is_alike(one.default, other.default)
    return is_alike(one, other)


def _key_of_weights(saved: Value) -> str | None:
    """The key of a dict that has the weights of a model."""
    entries = saved.entries if isinstance(saved, Table) else {}
    return next((str(key) for key, one in entries.items() if isinstance(one, Call) and one.name == ".state_dict"), None)


RESUMING_RULES = [resumed_in_part, checkpoint_not_unpacked]
