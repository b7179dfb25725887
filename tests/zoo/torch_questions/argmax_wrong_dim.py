# accept: P131
import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms
test_loader = DataLoader(datasets.MNIST('.', train=False, transform=transforms.ToTensor()), batch_size=64)
model = nn.Sequential(nn.Flatten(), nn.Linear(784, 10))
model.eval()
c = 0
with torch.no_grad():
    for x, y in test_loader:
        out = model(x)
        pred = out.argmax(dim=0)
        c += (pred == y).sum().item()
