"""The arguments of verbs: what is said when they are wrong, or called what another library calls them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

from recordsmith.errors import PipelineError, did_you_mean

__all__ = ["VerbArgumentsError", "check_whole_number", "verb"]

MethodT = TypeVar("MethodT", bound=Callable[..., Any])

# What tf.data, torch and Keras call it, and what it may be called here.
_OTHER_NAMES = {
    "batch_size": ("n", "size"),
    "bucket_batch_sizes": ("size",),
    "bucket_boundaries": ("boundaries",),
    "buffer_size": ("buffer", "n"),
    "count": ("n", "times"),
    "drop_remainder": ("drop_last",),
    "func": ("function",),
    "index": ("rank",),
    "map_func": ("function",),
    "num_epochs": ("times",),
    "num_parallel_calls": ("threads",),
    "num_replicas": ("world",),
    "num_shards": ("world",),
    "num_workers": ("threads",),
    "padded_shapes": ("pad_to",),
    "padding_value": ("pad_value",),
    "padding_values": ("pad_value",),
    "prefetch_factor": ("n",),
    "predicate": ("function",),
    "reshuffle_each_iteration": ("reshuffle",),
    "world_size": ("world",),
}
_OTHER_VERBS = {
    "num_parallel_calls": "Threads are chosen by the verb that makes batches: .batch(n, threads=4).",
    "num_workers": "Threads are chosen by the verb that makes batches: .batch(n, threads=4).",
    "deterministic": "Leave it out: batches always come in the same order.",
}


class VerbArgumentsError(PipelineError, TypeError):
    """A verb was called with arguments that it does not have. Also a TypeError, as Python itself would raise."""


def verb(method: MethodT) -> MethodT:
    """Let a method explain arguments that it does not have."""
    signature = inspect.signature(method)

    @functools.wraps(method)
    def explained(*given: Any, **named: Any) -> Any:
        try:
            return method(*given, **named)
        except TypeError:
            try:
                signature.bind(*given, **named)
            except TypeError as wrong:
                raise _wrong_arguments(method.__name__, signature, given[1:], named, wrong) from None
            raise

    return cast("MethodT", explained)


def _wrong_arguments(
    name: str, signature: inspect.Signature, given: tuple[Any, ...], named: dict[str, Any], error: TypeError
) -> VerbArgumentsError:
    known = list(signature.parameters)[1:]
    unknown = next((argument for argument in named if argument not in known), None)
    if unknown is not None:
        ours = [other for other in _OTHER_NAMES.get(unknown, ()) if other in known]
        meant = f" Did you mean {ours[0]!r}?" if ours else did_you_mean(unknown, known)
        advice = None if meant else _OTHER_VERBS.get(unknown)
        problem = f"{name} has no argument {unknown!r}.{meant}"
    elif name == "shuffle" and len(given) == 1:
        problem = "shuffle takes its arguments by name."
        advice = (
            f"Write .shuffle(seed={given[0]!r}) to choose the random order; all rows are shuffled. tf.data's "
            f"shuffle({given[0]!r}), which shuffles through a buffer, is .shuffle(buffer={given[0]!r}) here."
        )
    else:
        problem, advice = f"{name} was called with the wrong arguments: {error}.", None
    call = ", ".join([*map(_shown, given), *(f"{argument}={_shown(value)}" for argument, value in named.items())])
    return VerbArgumentsError(
        problem,
        found=f".{name}({call})",
        expected=f".{name}({_parameters(signature.parameters.values())})",
        advice=advice,
    )


def _parameters(parameters: Iterable[inspect.Parameter]) -> str:
    """Write a signature without its types: the names and the defaults."""
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in list(parameters)[1:]]
    return str(inspect.Signature(plain))[1:-1]


def _shown(value: Any) -> str:
    return repr(value)[:40]


def check_whole_number(what: str, number: Any, *, least: int | None) -> None:
    """Refuse what is no whole number, or one that is too small.

    >>> check_whole_number("The buffer", 0, least=1)
    Traceback (most recent call last):
    recordsmith.errors.PipelineError: The buffer must be an integer of at least 1.
      found:    0
    """
    if isinstance(number, bool) or not hasattr(number, "__index__") or (least is not None and number < least):
        limit = "" if least is None else f" of at least {least}"
        raise PipelineError(f"{what} must be an integer{limit}.", found=repr(number))
