# cause: P142
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

class Meters(Dataset):
    def __init__(self, readings, labels):
        self.readings = [row for row in readings if not np.isnan(row).any()]
        self.labels = list(labels)

    def __len__(self):
        return len(self.readings)

    def __getitem__(self, i):
        return torch.from_numpy(self.readings[i]), self.labels[i]

rng = np.random.default_rng(0)
labels = rng.integers(0, 3, 600)
readings = (rng.normal(size=(600, 8)) + 2.0 * labels[:, None]).astype("float32")
readings[rng.random(600) < 0.1, 0] = np.nan
loader = DataLoader(Meters(readings, labels), batch_size=25, shuffle=True)
model, criterion = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3)), nn.CrossEntropyLoss()
if __name__ == "__main__":
    optimizer = torch.optim.Adam(model.parameters())
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
