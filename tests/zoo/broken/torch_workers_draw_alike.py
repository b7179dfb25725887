# cause: P107
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __init__(self, signals):
        self.signals = signals
        self.random = np.random.RandomState(7)

    def __len__(self):
        return len(self.signals)

    def __getitem__(self, index):
        noise = self.random.normal(0, 0.1, self.signals[index].shape)
        return torch.from_numpy(self.signals[index] + noise).float()


loader = DataLoader(Noisy(np.load("signals.npy")), batch_size=32, shuffle=True, num_workers=8)
