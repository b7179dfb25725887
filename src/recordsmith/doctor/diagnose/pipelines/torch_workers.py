"""What the workers of a DataLoader draw: by experiments on its dataset, and on its worker_init_fn."""

from __future__ import annotations

import hashlib
import pickle
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

__all__ = ["look_at_workers"]

_DEEPEST = 4
_MOST_OBJECTS = 200
_TRIED_ROWS = 4


def look_at_workers(loader: Any) -> dict[str, Any]:
    """Return the facts about a DataLoader's workers.

    Whether a dataset draws from a generator of its own is found by asking it for some rows and comparing the
    generator's state. All states are put back.
    """
    torch = sys.modules["torch"]
    dataset, count = getattr(loader, "dataset", None), int(getattr(loader, "num_workers", 0) or 0)
    facts: dict[str, Any] = {
        "count": count,
        "iterable": isinstance(dataset, torch.utils.data.IterableDataset),
        "drop_last": bool(getattr(loader, "drop_last", False)),
    }
    if facts["iterable"] or dataset is None or not hasattr(dataset, "__getitem__"):
        return facts
    with _generators_kept(dataset) as generators:
        facts["changed_field"] = _changed_field(dataset)
        facts["reseeds"] = _reseeds(dataset)
        if count and getattr(loader, "worker_init_fn", None) is None:
            facts["shared_generator"] = _drawn_generator(dataset, generators)
        elif count and _draws_from_numpy(dataset):
            facts["seeded_alike"] = _seeds(loader, torch)
    return facts


@contextmanager
def _generators_kept(dataset: Any) -> Iterator[dict[str, Any]]:
    """Give the generators of a dataset by the names of their attributes, and put their states back."""
    generators = dict(_generators(dataset))
    before = {name: _state(one) for name, one in generators.items()}
    try:
        yield generators
    finally:
        for name, one in generators.items():
            _set_state(one, before[name])


def _drawn_generator(dataset: Any, generators: dict[str, Any]) -> str:
    """Return the name of a generator in the dataset that its rows draw from."""
    before = {name: _state(one) for name, one in generators.items()}
    if generators:
        _ask(dataset)
    return next((name for name, one in generators.items() if _state(one) != before[name]), "")


def _draws_from_numpy(dataset: Any) -> bool:
    before = np.random.get_state()  # noqa: NPY002 - the global numbers are what is asked about
    try:
        _ask(dataset)
        return pickle.dumps(np.random.get_state()) != pickle.dumps(before)  # noqa: NPY002 - as above
    finally:
        np.random.set_state(before)  # noqa: NPY002 - as above


def _reseeds(dataset: Any) -> str:
    """Return which global random numbers are the same after each row, whatever they were before."""
    states = []
    before = np.random.get_state(), random.getstate()  # noqa: NPY002 - the global numbers are what is asked about
    try:
        for place in range(2):
            np.random.seed(place)  # noqa: NPY002 - as above
            random.seed(place)
            _ask(dataset, range(place, place + 1))
            states.append((pickle.dumps(np.random.get_state()), random.getstate()))  # noqa: NPY002 - as above
    finally:
        np.random.set_state(before[0])  # noqa: NPY002 - as above
        random.setstate(before[1])
    same = [name for name, one, other in zip(("numpy", "random"), *states, strict=True) if one == other]
    return same[0] if same else ""


def _changed_field(dataset: Any) -> str:
    """Return the field of a dataset whose first row is another one after the dataset was asked for it."""
    torch = sys.modules["torch"]
    rows = {}
    for name, field in list(vars(dataset).items()) if hasattr(dataset, "__dict__") else ():
        if isinstance(field, (np.ndarray, torch.Tensor, list)) and len(getattr(field, "shape", (1,))):
            row = field[0] if len(field) == _length(dataset) and len(field) else None
            if isinstance(row, (np.ndarray, torch.Tensor)) and row.ndim and str(row.dtype) != "object":
                rows[name] = (row, row.copy() if isinstance(row, np.ndarray) else row.clone())
    if rows:
        _ask(dataset, range(1))
    changed = [name for name, (row, before) in rows.items() if not np.array_equal(np.asarray(row), np.asarray(before))]
    for name in changed:
        row, before = rows[name]
        row[...] = before
    return changed[0] if changed else ""


def _length(dataset: Any) -> int:
    try:
        return len(dataset)
    except Exception:  # noqa: BLE001 - not known
        return -1


def _ask(dataset: Any, places: range = range(_TRIED_ROWS)) -> None:
    """Ask for some rows. Some augmentations are drawn for some rows only."""
    try:
        for place in places[: len(dataset)]:
            dataset[place]
    except Exception:  # noqa: BLE001 - sampling tells what a dataset raises; here nothing is known then
        return


def _generators(thing: Any) -> Iterator[tuple[str, Any]]:
    """Yield the random generators that an object has, also deeper, with the names of the attributes."""
    torch = sys.modules["torch"]
    kinds = (np.random.Generator, np.random.RandomState, random.Random, torch.Generator)
    waiting: list[tuple[str, Any, int]] = [("", thing, 0)]
    seen: set[int] = set()
    while waiting and len(seen) < _MOST_OBJECTS:
        name, one, depth = waiting.pop(0)
        if id(one) in seen or depth > _DEEPEST:
            continue
        seen.add(id(one))
        if isinstance(one, kinds):
            yield name or "generator", one
            continue
        if isinstance(one, (list, tuple)):
            parts = [(name, part) for part in one[:20]]
        elif isinstance(one, dict):
            parts = [(name, part) for part in list(one.values())[:20]]
        elif hasattr(one, "__dict__") and not isinstance(one, (type, torch.Tensor, torch.nn.Module)):
            parts = [(f"{name}.{key}" if name else str(key), part) for key, part in vars(one).items()]
        else:
            continue
        waiting += [(key, part, depth + 1) for key, part in parts]


def _state(generator: Any) -> Any:
    if isinstance(generator, np.random.Generator):
        return pickle.dumps(generator.bit_generator.state)
    if isinstance(generator, np.random.RandomState):
        return pickle.dumps(generator.get_state())
    return generator.getstate() if isinstance(generator, random.Random) else generator.get_state().numpy().tobytes()


def _set_state(generator: Any, state: Any) -> None:
    if isinstance(generator, np.random.Generator):
        generator.bit_generator.state = pickle.loads(state)  # noqa: S301 - our own bytes
    elif isinstance(generator, np.random.RandomState):
        generator.set_state(pickle.loads(state))  # noqa: S301 - as above
    elif isinstance(generator, random.Random):
        generator.setstate(state)
    else:
        torch = sys.modules["torch"]
        generator.set_state(torch.frombuffer(bytearray(state), dtype=torch.uint8))


class _States:
    """Rows that say what state numpy's random numbers are in, in the worker that gives them."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset

    def __len__(self) -> int:
        return 2

    def __getitem__(self, place: int) -> str:
        return hashlib.sha256(pickle.dumps(np.random.get_state())).hexdigest()  # noqa: NPY002 - as above

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_dataset":
            raise AttributeError(name)
        return getattr(self._dataset, name)


def _seeds(loader: Any, torch: Any) -> str:
    """Start two workers twice, and return what is alike: "workers", "epochs", or nothing."""
    tried = torch.utils.data.DataLoader(
        _States(loader.dataset),
        batch_size=None,
        num_workers=2,
        worker_init_fn=loader.worker_init_fn,
        multiprocessing_context=loader.multiprocessing_context,
    )
    try:
        first, second = list(tried), list(tried)
    except Exception:  # noqa: BLE001 - a worker_init_fn may need more than there is here; sampling tells
        return ""
    if first[0] == first[1]:
        return "workers"
    return "epochs" if first == second else ""
