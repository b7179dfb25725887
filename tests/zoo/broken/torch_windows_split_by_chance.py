# cause: P144
import torch
from torch.utils.data import DataLoader, Dataset, random_split


class Windows(Dataset):
    def __init__(self, series, length):
        self.series, self.length = series, length

    def __len__(self):
        return len(self.series) - self.length

    def __getitem__(self, i):
        return self.series[i : i + self.length], self.series[i + self.length]


windows = Windows(torch.load("load.pt"), 48)
train_set, val_set = random_split(windows, [0.8, 0.2])
train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
val_loader = DataLoader(val_set, batch_size=64)
