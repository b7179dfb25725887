"""Several processes that train together, each with workers of its own: every row once in each epoch, in its order."""

from __future__ import annotations

from pathlib import Path

import pytest

import recordsmith as rs
from tests.loader.frameworks.clients.epochs import ROWS, SCHEMA, SIZE, write
from tests.loader.frameworks.clients.running import run

SHOWN = {
    "Accelerate": {"several ranks": "test_every_row_comes_once_to_one_of_the_ranks"},
    "Lightning": {"several ranks": "test_every_row_comes_once_to_one_of_the_ranks"},
    "PyTorch's DataLoader": {"several ranks": "test_every_row_comes_once_to_one_of_the_ranks"},
    "torchdata's StatefulDataLoader": {"several ranks": "test_every_row_comes_once_to_one_of_the_ranks"},
    "Trainer of transformers": {"several ranks": "test_every_row_comes_once_to_one_of_the_ranks"},
}

REQUIRED = {"Lightning": "lightning", "Accelerate": "accelerate", "Trainer": "transformers"}
SLOW = ("StatefulDataLoader", "Lightning", "Accelerate", "Trainer")


@pytest.mark.parametrize("client", ["DataLoader", *(pytest.param(one, marks=pytest.mark.proof) for one in SLOW)])
def test_every_row_comes_once_to_one_of_the_ranks(client: str, tmp_path: Path):
    pytest.importorskip(REQUIRED.get(client, "torchdata"))
    ranks = run("ranks_script.py", client)
    path = write(str(tmp_path))
    for rank, given in enumerate(ranks):
        native = rs.open(path, schema=SCHEMA).shuffle(seed=1).shard(rank, len(ranks)).batch(SIZE)
        expected = [[n for batch in native for n in batch["n"].tolist()] for _ in range(3)]
        assert given.get("epochs", expected) == expected
        assert given.get("inherited", ["0", "1", "2"]) == ["0", "1", "2"]
    for way in {"epochs", "divided"} & ranks[0].keys():  # by .shard(), or by the client
        for epoch in zip(*(given[way] for given in ranks), strict=True):
            assert sorted(n for share in epoch for n in share) == list(range(ROWS))
