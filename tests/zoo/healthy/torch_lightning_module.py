"""A Lightning module with its data module."""

import lightning as L
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, random_split
from torchvision import transforms
from torchvision.datasets import MNIST


class Digits(L.LightningDataModule):
    def __init__(self, folder="data", batch_size=64):
        super().__init__()
        self.folder, self.batch_size = folder, batch_size
        self.transform = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.1307,), (0.3081,))])

    def prepare_data(self):
        MNIST(self.folder, train=True, download=True)
        MNIST(self.folder, train=False, download=True)

    def setup(self, stage=None):
        full = MNIST(self.folder, train=True, transform=self.transform)
        self.train_set, self.val_set = random_split(full, [55000, 5000], torch.Generator().manual_seed(42))
        self.test_set = MNIST(self.folder, train=False, transform=self.transform)

    def train_dataloader(self):
        return DataLoader(self.train_set, batch_size=self.batch_size, shuffle=True, num_workers=4)

    def val_dataloader(self):
        return DataLoader(self.val_set, batch_size=self.batch_size, num_workers=4)

    def test_dataloader(self):
        return DataLoader(self.test_set, batch_size=self.batch_size, num_workers=4)


class Classifier(L.LightningModule):
    def __init__(self, hidden=128, lr=1e-3):
        super().__init__()
        self.save_hyperparameters()
        self.first = nn.Linear(784, hidden)
        self.second = nn.Linear(hidden, 10)

    def forward(self, x):
        x = F.relu(self.first(x.view(x.size(0), -1)))
        x = F.dropout(x, 0.3, training=self.training)
        return F.log_softmax(self.second(x), dim=1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.nll_loss(self(x), y)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        output = self(x)
        self.log("val_loss", F.nll_loss(output, y))
        self.log("val_acc", (output.argmax(1) == y).float().mean())

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr)


if __name__ == "__main__":
    trainer = L.Trainer(max_epochs=5)
    trainer.fit(Classifier(), Digits())
