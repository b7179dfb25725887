# cause: P149
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

labels = torch.randint(0, 4, (2000,))
loader = DataLoader(TensorDataset(torch.randn(2000, 16) + labels[:, None], labels), batch_size=4, shuffle=True)
model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 4))
optimizer, criterion = torch.optim.SGD(model.parameters(), lr=0.1), nn.CrossEntropyLoss()
for epoch in range(10):
    for step, (x, y) in enumerate(loader):
        loss = criterion(model(x), y)
        loss.backward()
        if (step + 1) % 8 == 0:
            optimizer.step()
            optimizer.zero_grad()
