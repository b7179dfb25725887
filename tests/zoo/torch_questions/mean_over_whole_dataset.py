# accept: P120
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader
from torch.utils.data.sampler import SubsetRandomSampler
from torchvision import datasets, transforms

train_data = datasets.MNIST("data", train=True, download=True, transform=transforms.ToTensor())
indices = np.random.permutation(len(train_data))
split = int(0.2 * len(train_data))
train_loader = DataLoader(train_data, batch_size=20, sampler=SubsetRandomSampler(indices[split:]))
valid_loader = DataLoader(train_data, batch_size=20, sampler=SubsetRandomSampler(indices[:split]))
model = nn.Sequential(nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))
optimizer, criterion = torch.optim.SGD(model.parameters(), lr=0.01), nn.CrossEntropyLoss()
for epoch in range(30):
    train_loss = valid_loss = 0.0
    model.train()
    for data, target in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(data), target)
        loss.backward()
        optimizer.step()
        train_loss += loss.item() * data.size(0)
    model.eval()
    with torch.no_grad():
        for data, target in valid_loader:
            valid_loss += criterion(model(data), target).item() * data.size(0)
    print(train_loss / len(train_loader.dataset), valid_loss / len(valid_loader.dataset))
