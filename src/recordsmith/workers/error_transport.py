"""Sends exceptions from a worker process to the process that waits for it.

They travel as pickles. One that cannot be pickled, or whose pickle cannot be read (its class takes other arguments than
its message), would end the worker or the whole pool, and its message would be lost. Another exception with the same
message replaces it.
"""

from __future__ import annotations

import os
import pickle
import traceback
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from recordsmith.errors import RecordsmithError

__all__ = ["with_picklable_errors"]

P = ParamSpec("P")
R = TypeVar("R")

_KEPT = ("record_number", "__notes__")  # what others look for on an exception


def with_picklable_errors(work: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Call, and raise nothing but exceptions that arrive in another process as they are."""
    try:
        return work(*args, **kwargs)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # SystemExit travels, and would end the program that waits.
        if isinstance(error, Exception) and _is_picklable(error):
            raise
        raise _stand_in(error) from error  # the traceback of both is sent along


def _is_picklable(error: BaseException) -> bool:
    import cloudpickle  # loky's own, which also carries the classes of a script

    try:
        return str(pickle.loads(cloudpickle.dumps(error))) == str(error)  # noqa: S301 - our own pickle
    except Exception:  # noqa: BLE001 - whatever somebody's class does when it is pickled
        return False


def _stand_in(error: BaseException) -> RecordsmithError:
    try:
        words = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - whatever somebody's class does when it is printed
        words = ""
    last = traceback.extract_tb(error.__traceback__)[-1]
    made = RecordsmithError(
        f"A function in a worker process raised {type(error).__qualname__}{f': {words}' if words else '.'}",
        found=f"raised by {last.name} in {os.path.relpath(last.filename)}, line {last.lineno}",
        advice="Run the function without processes to catch the exception itself: it cannot be sent from one "
        "process to another.",
    )
    for name in _KEPT:
        if hasattr(error, name):
            setattr(made, name, getattr(error, name))
    return made
