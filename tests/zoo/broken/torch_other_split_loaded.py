# cause: P110
import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

train_loader = DataLoader(
    datasets.FashionMNIST("data", train=True, transform=transforms.ToTensor()), batch_size=64, shuffle=True
)
test_loader = DataLoader(datasets.FashionMNIST("data", train=True, transform=transforms.ToTensor()), batch_size=64)
model = nn.Sequential(nn.Flatten(), nn.Linear(784, 10))
optimizer = torch.optim.Adam(model.parameters())
for images, labels in train_loader:
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(images), labels).backward()
    optimizer.step()
