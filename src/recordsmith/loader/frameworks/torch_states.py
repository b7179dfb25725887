"""The state of torchdata's StatefulDataLoader around a loader's batches, as the state of the loader."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recordsmith.errors import PipelineError

__all__ = ["loader_state"]


def loader_state(state: Any) -> Any:
    """Return the state of the loader in the state of a StatefulDataLoader; any other state is returned as it is.

    Batches come from the worker processes in turn, so the one that is farthest has given the last of them.
    """
    if not isinstance(state, Mapping):
        return state
    if "_snapshot" in state:
        workers = list(_part(_part(state, "_snapshot"), "_worker_snapshots").values())
        states = [_part(worker, "dataset_state") for worker in workers]
        if not states:
            raise _no_loader(state)
        farthest = max(states, key=lambda one: (_number(one, "epoch"), _number(one, "batch")))
        return _without_worker(farthest, _number(state, "_steps_since_snapshot"))
    if "dataset_state" in state:
        return _part(state, "dataset_state")
    workers_of = state.get("workers", 1)
    if workers_of != 1:
        raise PipelineError(
            "This is the state of one of several worker processes.",
            found=f"worker {state.get('worker')} of {workers_of}",
            advice="Give the whole state that StatefulDataLoader.state_dict() returned.",
        )
    return state


def _without_worker(state: Mapping[str, Any], steps: int) -> dict[str, Any]:
    if steps and "position" in state and state["position"]:
        raise PipelineError(
            "The state does not say where the next batch begins: rows were left out, and it was not saved after every "
            "batch.",
            advice="Make the StatefulDataLoader with snapshot_every_n_steps=1.",
        )
    own = {name: value for name, value in state.items() if name not in ("worker", "workers", "last_worker")}
    return {**own, "batch": _number(state, "batch") + steps}


def _part(state: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = state.get(name)
    if not isinstance(part, Mapping):
        raise _no_loader(state)
    return part


def _number(state: Mapping[str, Any], name: str) -> int:
    value = state.get(name, 0)
    if type(value) is not int:
        raise _no_loader(state)
    return value


def _no_loader(state: Mapping[str, Any]) -> PipelineError:
    return PipelineError(
        "This is not the state of a StatefulDataLoader around what Loader.to_torch() returned.",
        found=repr(dict(state))[:200],
    )
