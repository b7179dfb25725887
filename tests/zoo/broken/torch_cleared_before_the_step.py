# cause: P102
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

labels = torch.randint(0, 4, (512,))
data = TensorDataset(torch.randn(512, 16) + labels[:, None], labels)
train_loader = DataLoader(data, batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()

for epoch in range(5):
    for x, y in train_loader:
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.zero_grad()
        optimizer.step()
