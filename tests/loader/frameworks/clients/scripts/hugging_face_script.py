"""A script that trains with Accelerate and with the Trainer of transformers, as JSON; see test_hugging_face.py."""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
from itertools import islice
from typing import Any

import torch
from torch.utils.data import DataLoader

from tests.loader.frameworks.clients.epochs import COUNT, ROWS, SIZE, Epochs, write


def main() -> None:
    """Write which rows each of them was given."""
    warnings.simplefilter("ignore")  # their own, of each other and of PyTorch
    with tempfile.TemporaryDirectory() as folder:
        epochs = Epochs(write(folder))
        results = {"accelerate": _accelerate(epochs), "trainer": _trainer(epochs, folder)}
    json.dump(results, sys.stdout)


def _accelerate(epochs: Epochs) -> dict[str, Any]:
    from accelerate import Accelerator
    from accelerate.utils import DataLoaderConfiguration, send_to_device

    accelerator = Accelerator(cpu=True)
    loader = epochs.loader()
    fed = accelerator.prepare(DataLoader(loader.to_torch(), batch_size=None))
    batches = [epochs.named(fed) for _ in range(2)]
    rows = accelerator.prepare(DataLoader(loader.plan.datasets[0], batch_size=SIZE, shuffle=True, num_workers=2))
    (native,) = loader.plan.datasets[0][:4].batch(4)
    settings = DataLoaderConfiguration(use_stateful_dataloader=True)
    stateful = Accelerator(cpu=True, dataloader_config=settings)
    resumed = {}
    for taken in (5, COUNT):
        running = stateful.prepare(DataLoader(epochs.loader().to_torch(), batch_size=None, num_workers=2))
        for _ in islice(running, taken):
            pass
        again = stateful.prepare(DataLoader(epochs.loader().to_torch(), batch_size=None, num_workers=2))
        again.load_state_dict(running.state_dict())
        again.set_epoch(taken // COUNT)  # Accelerate counts epochs itself, and does not save the count
        resumed[str(taken)] = [epochs.named(again) for _ in range(2)]
    moved = send_to_device({"batch": native, "column": ["a", "b"]}, "cpu")
    return {
        "batches": batches,
        "rows": [sorted(int(n) for batch in rows for n in batch["n"]) == [*range(ROWS)] for _ in range(2)],
        "resumed": resumed,
        "moved": moved["batch"]["n"].tolist(),
    }


def _trainer(epochs: Epochs, folder: str) -> dict[str, Any]:
    from transformers import Trainer, TrainingArguments

    class Model(torch.nn.Module):  # type: ignore[misc] # PyTorch is not followed
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(4, 2)
            self.seen: list[list[int]] = []

        def forward(self, n: Any, x: Any, y: Any) -> Any:
            self.seen.append(n.tolist())
            return {"loss": torch.nn.functional.cross_entropy(self.layer(x), y)}

    class BatchTrainer(Trainer):  # type: ignore[misc] # transformers is not followed
        workers = 0

        def get_train_dataloader(self) -> Any:
            return self.accelerator.prepare(DataLoader(self.train_dataset, batch_size=None, num_workers=self.workers))

    class WorkerTrainer(BatchTrainer):
        workers = 2

    def train(kind: Any, data: Any, *, resume: bool = False, steps: int = COUNT + 5) -> list[list[int]]:
        arguments = TrainingArguments(
            f"{folder}/{kind.__name__}-{steps}",
            per_device_train_batch_size=SIZE,
            num_train_epochs=2,
            save_steps=steps,
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
            logging_strategy="no",
        )
        model = Model()
        saved = f"{arguments.output_dir}/checkpoint-{steps}" if resume else None
        kind(model, arguments, train_dataset=data).train(resume_from_checkpoint=saved)
        return model.seen

    whole = train(Trainer, epochs.loader().plan.datasets[0])
    rows = [sorted(n for batch in part for n in batch) == [*range(ROWS)] for part in (whole[:COUNT], whole[COUNT:])]
    resumed = whole[: COUNT + 5] + train(Trainer, epochs.loader().plan.datasets[0], resume=True)
    batches = train(BatchTrainer, epochs.loader().to_torch())
    rest = train(BatchTrainer, epochs.loader().to_torch(), resume=True)
    at_end = [train(WorkerTrainer, epochs.loader().to_torch(), resume=resume, steps=COUNT) for resume in (False, True)]
    return {
        "workers": [epochs.named(at_end[0][:COUNT]), epochs.named(at_end[0][COUNT:]), epochs.named(at_end[1])],
        "rows": rows,
        "rows resumed": resumed == whole,
        "batches": [epochs.named(batches[:COUNT]), epochs.named(batches[COUNT:])],
        "batches resumed": epochs.named(rest),
    }


if __name__ == "__main__":
    main()
