"""A script in which two processes train together, each with workers of its own, as JSON; see test_ranks.py."""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import socket
import sys
import tempfile
import warnings
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import DataLoader

import recordsmith as rs
from tests.loader.frameworks.clients.epochs import SCHEMA, SIZE, Epochs, write

RANKS = 2


def main(client: str) -> None:
    """Write the rows of each epoch of each rank."""
    warnings.simplefilter("ignore")  # their own, of few processors
    with tempfile.TemporaryDirectory() as folder:
        path = write(folder)
        if client == "Lightning":
            _lightning(path, folder)
        elif client in ("Accelerate", "Trainer"):
            _hugging_face(client, path, folder)
        else:
            shared = Epochs(path).loader().to_torch()  # both processes inherit it, and must not disturb each other
            forked = multiprocessing.get_context("fork")
            ranks = [forked.Process(target=_rank, args=(client, path, folder, rank, shared)) for rank in range(RANKS)]
            for process in ranks:
                process.start()
            for process in ranks:
                process.join()
        results = [json.loads((Path(folder) / f"rank {rank}.json").read_text()) for rank in range(RANKS)]
    json.dump(results, sys.stdout)


def _share(path: str, rank: int) -> Any:
    return rs.open(path, schema=SCHEMA).shuffle(seed=1).shard(rank, RANKS).batch(SIZE)


def _rank(client: str, path: str, folder: str, rank: int, shared: Any) -> None:
    """Go through three epochs, the second of them with a break, and then through the loader that both inherited."""
    from torchdata.stateful_dataloader import StatefulDataLoader

    kind = DataLoader if client == "DataLoader" else StatefulDataLoader
    options = {"batch_size": None, "num_workers": 2}
    fed = kind(_share(path, rank).to_torch(), **options)
    epochs = [_numbers(fed)]
    if client == "DataLoader":
        epochs += [_numbers(fed), _numbers(fed)]
    else:
        first = _numbers(islice(iter(fed), 3))
        resumed = kind(_share(path, rank).to_torch(), **options)
        resumed.load_state_dict(fed.state_dict())
        epochs += [first + _numbers(resumed), _numbers(resumed)]
    inherited = kind(shared, persistent_workers=True, **options)
    named = [Epochs(path).named(inherited) for _ in range(3)]
    (Path(folder) / f"rank {rank}.json").write_text(json.dumps({"epochs": epochs, "inherited": named}))


def _numbers(batches: Any) -> list[int]:
    return [n for batch in batches for n in batch["n"].tolist()]


def _lightning(path: str, folder: str) -> None:
    import lightning
    from torchdata.stateful_dataloader import StatefulDataLoader

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

    class Model(lightning.LightningModule):  # type: ignore[misc] # Lightning is not followed
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(4, 2)
            self.seen: list[list[int]] = []

        def train_dataloader(self) -> Any:
            share = _share(path, self.trainer.global_rank)
            return StatefulDataLoader(share.to_torch(), batch_size=None, num_workers=1)

        def on_train_epoch_start(self) -> None:
            self.seen.append([])

        def training_step(self, batch: Any) -> Any:
            self.seen[-1] += batch["n"].tolist()
            return torch.nn.functional.cross_entropy(self.layer(batch["x"]), batch["y"])

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), 0.1)

        def on_train_end(self) -> None:
            place = Path(folder) / f"rank {self.trainer.global_rank}.json"
            place.write_text(json.dumps({"epochs": self.seen}))

    trainer = lightning.Trainer(
        strategy="ddp_fork",
        devices=RANKS,
        accelerator="cpu",
        max_epochs=3,
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        enable_checkpointing=False,
    )
    trainer.fit(Model())


def _hugging_face(client: str, path: str, folder: str) -> None:
    """Start the ranks as `accelerate launch` and `torchrun` do."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    target = _accelerate if client == "Accelerate" else _trainer
    ranks = [
        multiprocessing.get_context("spawn").Process(target=target, args=(path, folder, rank, port))
        for rank in range(RANKS)
    ]
    for process in ranks:
        process.start()
    for process in ranks:
        process.join()


def _join(rank: int, port: int) -> None:
    warnings.simplefilter("ignore")
    world = {"WORLD_SIZE": RANKS, "LOCAL_WORLD_SIZE": RANKS, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    os.environ |= {name: str(value) for name, value in {**world, "RANK": rank, "LOCAL_RANK": rank}.items()}
    os.environ["ACCELERATE_USE_CPU"] = "true"


def _accelerate(path: str, folder: str, rank: int, port: int) -> None:
    """Go through three epochs of a share, and through two that Accelerate divides."""
    _join(rank, port)
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True)
    share = DataLoader(_share(path, accelerator.process_index).to_torch(), batch_size=None, num_workers=2)
    epochs = [_numbers(share) for _ in range(3)]
    divided = accelerator.prepare(DataLoader(Epochs(path).loader().to_torch(), batch_size=None))
    results = {"epochs": epochs, "divided": [_numbers(divided) for _ in range(2)]}
    (Path(folder) / f"rank {rank}.json").write_text(json.dumps(results))
    accelerator.end_training()


def _trainer(path: str, folder: str, rank: int, port: int) -> None:
    """Train two epochs on rows, which the Trainer divides among its ranks."""
    _join(rank, port)
    from transformers import Trainer, TrainingArguments

    class Model(torch.nn.Module):  # type: ignore[misc] # PyTorch is not followed
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(4, 2)
            self.seen: list[int] = []

        def forward(self, n: Any, x: Any, y: Any) -> Any:
            self.seen += n.tolist()
            return {"loss": torch.nn.functional.cross_entropy(self.layer(x), y)}

    settings = {"use_cpu": True, "disable_tqdm": True, "logging_strategy": "no", "save_strategy": "no", "report_to": []}
    arguments = TrainingArguments(folder, per_device_train_batch_size=SIZE, num_train_epochs=2, **settings)
    model = Model()
    Trainer(model, arguments, train_dataset=rs.open(path, schema=SCHEMA)).train()
    half = len(model.seen) // 2
    results = {"divided": [model.seen[:half], model.seen[half:]]}
    (Path(folder) / f"rank {rank}.json").write_text(json.dumps(results))


if __name__ == "__main__":
    main(*sys.argv[1:])
