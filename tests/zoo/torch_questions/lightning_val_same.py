# accept: P109
import pytorch_lightning as pl
from torch.utils.data import DataLoader, random_split
from torchvision.datasets import CIFAR10
from torchvision import transforms
class DM(pl.LightningDataModule):
    def setup(self, stage):
        ds = CIFAR10('.', train=True, transform=transforms.ToTensor())
        self.ds = ds
        self.train, self.val = random_split(ds, [45000, 5000])
    def train_dataloader(self):
        return DataLoader(self.ds, batch_size=64, shuffle=True)
    def val_dataloader(self):
        return DataLoader(self.val, batch_size=64)
