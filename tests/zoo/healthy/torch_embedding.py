"""All cells are encoded after training without labels, in their order; the trainer's settings come from a file."""

import json
from pathlib import Path

import pytorch_lightning as pl
from cells import Autoencoder, CellTable
from torch.utils.data import DataLoader

cells = CellTable("cells.h5ad")
train_loader = DataLoader(cells, batch_size=256, shuffle=True, drop_last=True)
test_loader = DataLoader(cells, batch_size=256)
settings = json.loads(Path("settings.json").read_text())
model = Autoencoder(genes=2000)
trainer = pl.Trainer(**settings, logger=False)
trainer.fit(model, train_loader)
cells.keep("latent", model.encode_all(test_loader))
