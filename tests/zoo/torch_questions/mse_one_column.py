# accept: P113
import numpy as np, torch
from torch import nn
from torch.utils.data import TensorDataset, DataLoader
rng = np.random.default_rng(1)
X = rng.normal(size=(400, 6)).astype("float32")
t = X[:, 0] * 2 - X[:, 3]
dl = DataLoader(TensorDataset(torch.from_numpy(X), torch.from_numpy(t)), batch_size=20, shuffle=True)
class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 16), nn.Tanh())
        self.head = nn.Linear(16, 1)
    def forward(self, x): return self.head(self.body(x))
net = MLP()
opt = torch.optim.Adam(net.parameters())
for _ in range(10):
    for a, b in dl:
        opt.zero_grad(); nn.MSELoss()(net(a), b).backward(); opt.step()
