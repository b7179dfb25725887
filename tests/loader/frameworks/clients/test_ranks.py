"""Several processes that train together, each with workers of its own: every row once in each epoch, in its order."""

from __future__ import annotations

from pathlib import Path

import pytest

import recordsmith as rs
from tests.loader.frameworks.clients.epochs import ROWS, SCHEMA, SIZE, write
from tests.loader.frameworks.clients.running import run

SHOWN = {
    "Lightning": {"several ranks": "test_every_row_comes_once_to_one_of_the_ranks"},
    "PyTorch's DataLoader": {"several ranks": "test_every_row_comes_once_to_one_of_the_ranks"},
    "torchdata's StatefulDataLoader": {"several ranks": "test_every_row_comes_once_to_one_of_the_ranks"},
}


@pytest.mark.parametrize(
    "client",
    ["DataLoader", *(pytest.param(one, marks=pytest.mark.proof) for one in ("StatefulDataLoader", "Lightning"))],
)
def test_every_row_comes_once_to_one_of_the_ranks(client: str, tmp_path: Path):
    pytest.importorskip("lightning" if client == "Lightning" else "torchdata")
    ranks = run("ranks_script.py", client)
    path = write(str(tmp_path))
    for rank, given in enumerate(ranks):
        native = rs.open(path, schema=SCHEMA).shuffle(seed=1).shard(rank, len(ranks)).batch(SIZE)
        assert given["epochs"] == [[n for batch in native for n in batch["n"].tolist()] for _ in range(3)]
        assert given.get("inherited", ["0", "1", "2"]) == ["0", "1", "2"]
    for epoch in range(3):
        assert sorted(n for given in ranks for n in given["epochs"][epoch]) == list(range(ROWS))
