# accept: P113
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(900, 5)
age = 30 + 5 * x[:, 0] - 2 * x[:, 1]
loader = DataLoader(TensorDataset(x, age), batch_size=30, shuffle=True)
model = nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 1))

def mae(prediction, target):
    return torch.mean(torch.abs(prediction - target))

if __name__ == "__main__":
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(30):
        for features, target in loader:
            optimizer.zero_grad()
            loss = mae(model(features), target)
            loss.backward()
            optimizer.step()
