# accept: P112
import torch
from torch import nn
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1), nn.Sigmoid())
crit = nn.BCELoss()
optim = torch.optim.Adam(model.parameters())
for x, y in [(torch.rand(4, 8), torch.ones(4, 1))] * 100:
    optim.zero_grad()
    pred = torch.round(model(x))
    loss = crit(pred, y)
    loss.backward()
    optim.step()
