# accept: P104
import torch
from torch import nn

class Fusion(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(40, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 3))

    def forward(self, x):
        return self.body(x)

def train(model, train_loader, valid_loader, epochs):
    op = torch.optim.AdamW(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        model.train()
        for x, y in train_loader:
            op.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            op.step()
        model.eval()
        total, right = 0, 0
        with torch.no_grad():
            for x, y in valid_loader:
                model.train()
                out = model(x)
                right += (out.argmax(1) == y).sum().item()
                total += len(y)
        print(epoch, right / total)
