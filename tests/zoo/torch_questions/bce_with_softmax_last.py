# accept: P028
import torch
from torch import nn
class SpamNet(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.stack = nn.Sequential(nn.Linear(n_in, 32), nn.ReLU(), nn.Linear(32, 1), nn.Sigmoid())
    def forward(self, x):
        return self.stack(x).squeeze(-1)
def fit(x, y):
    m = SpamNet(x.shape[1])
    o = torch.optim.Adam(m.parameters())
    f = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([3.0]))
    for _ in range(500):
        o.zero_grad()
        loss = f(m(x), y)
        loss.backward()
        o.step()
    return m
