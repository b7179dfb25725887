# cause: P141
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

BATCH = 20

class Signals(Dataset):
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __len__(self):
        return len(self.x) // BATCH

    def __getitem__(self, i):
        return torch.from_numpy(self.x[i]), int(self.y[i])

rng = np.random.default_rng(0)
y = np.repeat(np.arange(4), 200)
x = (rng.normal(size=(800, 7)) + y[:, None]).astype("float32")
loader = DataLoader(Signals(x, y), batch_size=BATCH, shuffle=True)
model, criterion = nn.Sequential(nn.Linear(7, 16), nn.ReLU(), nn.Linear(16, 4)), nn.CrossEntropyLoss()
if __name__ == "__main__":
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(10):
        for a, b in loader:
            optimizer.zero_grad()
            criterion(model(a), b).backward()
            optimizer.step()
