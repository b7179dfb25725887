"""The example of the guide, under the real Ray Train: two workers that fail, and one that continues."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from tests.run.engines.cluster import started_cluster

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "many-machines.md"
ROWS = 5000


def example() -> dict[str, Any]:
    """What the guide's block defines."""
    (block,) = re.findall(r"```python\n(import json\n.*?def train_on_worker.*?)```", GUIDE.read_text(), re.DOTALL)
    defined: dict[str, Any] = {}
    exec(compile(block, str(GUIDE), "exec"), defined)
    return defined


def train(config: dict[str, Any]) -> None:
    """Run the guide's function with a step that notes the rows of each batch, and fails after some."""
    import ray.train

    context = ray.train.get_context()
    notes = Path(config["notes"], f"{context.get_world_size()}-{context.get_world_rank()}.jsonl")
    done = 0

    def step(batch: dict[str, Any]) -> None:
        nonlocal done
        if done == config["fails_after"]:
            raise RuntimeError("the machine is gone")
        done += 1
        with notes.open("a") as file:
            file.write(json.dumps(batch["n"].tolist()) + "\n")

    example()["train_on_worker"]({**config, "step": step})


@pytest.mark.proof
@pytest.mark.filterwarnings("ignore:::ray", "ignore::DeprecationWarning", "ignore::FutureWarning")
def test_two_workers_fail_and_one_continues(quick_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every row that no batch before the checkpoint had comes exactly once."""
    pytest.importorskip("ray.train")
    torch_trainer = pytest.importorskip("ray.train.torch").TorchTrainer
    monkeypatch.setenv("PYTHONPATH", str(GUIDE.parents[2]) + os.pathsep + os.environ.get("PYTHONPATH", ""))
    data, notes = quick_path / "data", quick_path / "notes"
    rs.make({"n": np.arange(ROWS)}, data, split="train=rest,test=200", shards=3)
    notes.mkdir()

    def fit(workers: int, fails_after: int | None) -> Any:
        import ray.train

        config = {"data": str(data), "notes": str(notes), "checkpoint_every": 10, "fails_after": fails_after}
        return torch_trainer(
            train,
            train_loop_config=config,
            scaling_config=ray.train.ScalingConfig(num_workers=workers),
            run_config=ray.train.RunConfig(storage_path=str(quick_path / "runs"), name="first"),
        ).fit()

    def noted(name: str) -> list[list[int]]:
        return [json.loads(line) for line in (notes / name).read_text().splitlines()]

    with started_cluster(3):  # one processor is that of the trainer
        with pytest.raises(Exception, match="the machine is gone"):
            fit(2, fails_after=25)
        first = [noted("2-0.jsonl"), noted("2-1.jsonl")]
        assert [len(batches) for batches in first] == [25, 25]
        fit(1, fails_after=None)
    saved = [n for batches in first for batch in batches[:20] for n in batch]  # what the last checkpoint knows of
    rest = [n for batch in noted("1-0.jsonl") for n in batch]
    trained = {n for batch in rs.open(data, split="train").batch(1000) for n in batch["n"].tolist()}
    assert len(saved) == 20 * 2 * 64
    assert len(saved + rest) == len(set(saved + rest)) == len(trained) == ROWS - 200
    assert set(saved + rest) == trained
