"""A script that iterates in worker processes, as JSON: spawned ones import the script that started them.

It runs in a process of its own, because forking one in which TensorFlow or JAX has threads is not safe.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

import recordsmith as rs


def main(path: str, method: str, persistent: str) -> None:
    """Write the rows of epochs through two workers, and of the chain itself; the third epoch is left early."""
    from torch.utils.data import DataLoader

    warnings.simplefilter("error")
    loader = rs.open(path).shuffle(seed=5).batch(3)
    fed = DataLoader(
        rs.open(path).shuffle(seed=5).batch(3).to_torch(),
        batch_size=None,
        num_workers=2,
        multiprocessing_context=method,
        persistent_workers=persistent == "persistent",
    )
    json.dump([_epochs(fed), _epochs(loader)], sys.stdout)


def _epochs(batches: Any) -> list[list[list[int]]]:
    whole = [[batch["n"].tolist() for batch in batches] for _ in range(2)]
    first = next(iter(batches))["n"].tolist()
    return [*whole, [first], [batch["n"].tolist() for batch in batches]]


if __name__ == "__main__":
    main(*sys.argv[1:])
