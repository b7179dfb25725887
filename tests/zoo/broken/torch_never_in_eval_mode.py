# cause: P104
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

features, labels = torch.randn(640, 16), torch.randint(0, 4, (640,))
train_loader = DataLoader(TensorDataset(features[:512], labels[:512]), batch_size=32, shuffle=True)
val_loader = DataLoader(TensorDataset(features[512:], labels[512:]), batch_size=32)
model = nn.Sequential(nn.Linear(16, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.5), nn.Linear(64, 4))
optimizer = torch.optim.Adam(model.parameters())
criterion = nn.CrossEntropyLoss()
for epoch in range(5):
    for x, y in train_loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
    correct = 0
    with torch.no_grad():
        for x, y in val_loader:
            correct += (model(x).argmax(1) == y).sum().item()
    print(correct / len(val_loader.dataset))
