"""One of two processes that make global JAX arrays, as JSON; see test_jax_processes.py."""

from __future__ import annotations

import json
import sys

import jax
import numpy as np

import recordsmith as rs
from tests.loader.frameworks.clients.epochs import SCHEMA


def main(path: str, rank: str, port: str) -> None:
    """Write the shape of the arrays, the rows of this process, and the sum of all rows, which both compute together."""
    jax.distributed.initialize(f"127.0.0.1:{port}", num_processes=2, process_id=int(rank))
    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("rows",))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("rows"))
    loader = rs.open(path, schema=SCHEMA).shuffle(seed=1).shard(int(rank), 2).batch(4)
    shapes, own, totals = set(), [], []
    for batch in loader.to_jax(device=sharding):
        shapes.add(batch["n"].shape)
        own += [n for shard in batch["n"].addressable_shards for n in np.asarray(shard.data).tolist()]
        totals.append(int(jax.jit(lambda n: n.sum())(batch["n"])))
    json.dump({"shapes": sorted(shapes), "own": own, "total": sum(totals)}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
