# cause: P139
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

class Cifar(Dataset):
    def __init__(self, images, labels):
        self.images, self.labels = images, labels

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        im = self.images[i]
        im += np.random.normal(0, 0.2, im.shape).astype("float32")
        im *= np.random.uniform(0.8, 1.2)
        return torch.from_numpy(im), int(self.labels[i])

rng = np.random.default_rng(0)
labels = rng.integers(0, 4, 400)
images = (rng.random((400, 3, 12, 12)) * 0.3 + labels[:, None, None, None] * 0.2).astype("float32")
loader = DataLoader(Cifar(images, labels), batch_size=20, shuffle=True)
model, criterion = nn.Sequential(nn.Flatten(), nn.Linear(432, 4)), nn.CrossEntropyLoss()
if __name__ == "__main__":
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(30):
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
