# cause: P113
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

table = pd.read_csv("houses.csv")
prices = torch.tensor(table["price"].values, dtype=torch.float32)
features = torch.tensor(table[["area", "rooms", "age"]].values, dtype=torch.float32)
loader = DataLoader(TensorDataset(features, prices), batch_size=64, shuffle=True)
model = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters())
criterion = nn.MSELoss()
for epoch in range(100):
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
