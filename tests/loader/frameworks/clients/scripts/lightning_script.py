"""A script that trains with Lightning, stops and resumes from its checkpoint, as JSON; see test_lightning.py."""

from __future__ import annotations

import json
import logging
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import torch

from tests.loader.frameworks.clients.epochs import COUNT, Epochs, write

STEPS = {"mid": 5, "later": COUNT + 5, "last batch": COUNT, "end": -1}


def main(extent: str) -> None:
    """Write which epochs were trained on, before the break and after it."""
    warnings.simplefilter("ignore")  # Lightning's own, of few processors and small epochs
    import lightning
    from lightning.pytorch.callbacks import ModelCheckpoint
    from torchdata.stateful_dataloader import StatefulDataLoader

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

    class Model(lightning.LightningModule):  # type: ignore[misc] # Lightning is not followed
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(4, 2)
            self.seen: list[list[Any]] = []

        def training_step(self, batch: Any) -> Any:
            if self.trainer.current_epoch != getattr(self, "epoch", None):
                self.epoch = self.trainer.current_epoch
                self.seen.append([])
            self.seen[-1].append(batch)
            return torch.nn.functional.cross_entropy(self.layer(batch["x"]), batch["y"])

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), 0.1)

    with tempfile.TemporaryDirectory() as folder:
        epochs = Epochs(write(folder))

        def fit(workers: int | None, kept: bool, **options: Any) -> list[str]:  # noqa: FBT001 - a setting
            batches, model = epochs.loader().to_torch(), Model()
            fed = batches
            if workers is not None:
                fed = StatefulDataLoader(batches, batch_size=None, num_workers=workers, persistent_workers=kept)
            save, checkpoint = options.pop("save", {}), options.pop("checkpoint", None)
            callbacks = [ModelCheckpoint(folder, filename="saved", **save)] if save else []
            trainer = lightning.Trainer(
                **options,
                logger=False,
                enable_progress_bar=False,
                enable_model_summary=False,
                accelerator="cpu",
                callbacks=[*callbacks, batches.lightning_callback()],
                enable_checkpointing=bool(save),
            )
            trainer.fit(model, fed, ckpt_path=checkpoint)
            return [epochs.named(seen) for seen in model.seen]

        results: dict[str, Any] = {}
        chosen: list[tuple[int | None, bool, list[str]]] = [(None, False, ["mid"]), (2, True, ["mid", "end"])]
        if extent == "all":
            chosen = [
                (None, False, [*STEPS]),
                *((n, kept, [*STEPS]) for n, kept in ((0, False), (2, False), (2, True))),
            ]
        for workers, kept, places in chosen:
            name = f"{'no DataLoader' if workers is None else f'{workers} workers'}{', persistent' if kept else ''}"
            results[name] = {"whole": [[], fit(workers, kept, max_epochs=3)]}
            for count in (1, 2, 3) if extent == "all" else (1,):
                left = fit(workers, kept, max_epochs=3, limit_train_batches=count)
                results[name][f"left after {count}"] = [[], left]
            for place in places:
                steps = STEPS[place]
                save = {"every_n_epochs": 1} if steps < 0 else {"every_n_train_steps": steps}
                before = fit(workers, kept, max_epochs=1 if steps < 0 else 3, max_steps=steps, save=save)
                saved = Path(folder) / "saved.ckpt"
                results[name][place] = [before, fit(workers, kept, max_epochs=3, checkpoint=str(saved))]
                saved.unlink()
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
