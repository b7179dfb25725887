"""A script that iterates in worker processes, as JSON: spawned ones import the script that started them.

It runs in a process of its own, because forking one in which TensorFlow or JAX has threads is not safe.
"""

from __future__ import annotations

import json
import sys
import warnings
from itertools import islice
from typing import Any

import recordsmith as rs


def main(path: str, method: str, kept: str) -> None:
    """Write the rows of epochs through two workers, and of the chain itself; the third epoch is left early.

    What is kept from epoch to epoch are the workers ("persistent"), the DataLoader ("new" workers each time), or the
    loader alone ("nothing": all the rest is made anew for each epoch).
    """
    from torch.utils.data import DataLoader

    warnings.simplefilter("error")
    loader = rs.open(path).shuffle(seed=5).batch(3)

    def fed() -> Any:
        return DataLoader(
            loader.to_torch(),
            batch_size=None,
            num_workers=2,
            multiprocessing_context=method,
            persistent_workers=kept == "persistent",
        )

    once = fed()
    through_workers = _epochs(fed if kept == "nothing" else lambda: once)
    native = rs.open(path).shuffle(seed=5).batch(3)
    json.dump([through_workers, _epochs(lambda: native), _states(loader, once)], sys.stdout)


def _epochs(batches: Any) -> list[list[list[int]]]:
    whole = [[batch["n"].tolist() for batch in batches()] for _ in range(2)]
    first = [batch["n"].tolist() for batch in islice(batches(), 5)]  # more than DataLoader asks for in advance
    return [*whole, first, *([batch["n"].tolist() for batch in batches()] for _ in range(2))]


def _states(loader: Any, workers: Any) -> list[str]:
    """Say what becomes of states: after workers, after a restore that live workers know nothing of, and without any."""
    said = []
    try:
        loader.state()
    except rs.PipelineError as error:
        said.append(error.problem)
    first = next(iter(loader.to_torch()))["n"].tolist()
    state = loader.state()
    said.append(f"epoch {state['epoch']}, batch {state['batch']}")
    try:
        loader.restore({**state, "batch": 0})
        said.append(str(next(iter(workers))["n"].tolist() == first))
    except rs.PipelineError as error:
        said.append(error.problem)
    return said


if __name__ == "__main__":
    main(*sys.argv[1:])
