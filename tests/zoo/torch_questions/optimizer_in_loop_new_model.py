# accept: P117|P233
import torch
from torch import nn
def make(): return nn.Sequential(nn.Linear(10, 10), nn.ReLU(), nn.Linear(10, 2))
def run(train_loader):
    model = nn.Sequential(nn.Linear(10, 10), nn.ReLU(), nn.Linear(10, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=.1)
    crit = nn.CrossEntropyLoss()
    for epoch in range(5):
        model = nn.Sequential(nn.Linear(10, 10), nn.ReLU(), nn.Linear(10, 2))
        for x, y in train_loader:
            optimizer.zero_grad()
            crit(model(x), y).backward()
            optimizer.step()
