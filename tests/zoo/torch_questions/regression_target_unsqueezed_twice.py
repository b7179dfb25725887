# accept: P113
import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader
import numpy as np
class Sine(Dataset):
    def __init__(self):
        self.x = np.random.rand(2000, 4).astype(np.float32)
        self.y = self.x.sum(axis=1)
    def __len__(self):
        return 2000
    def __getitem__(self, i):
        return torch.from_numpy(self.x[i]), torch.tensor(self.y[i])
loader = DataLoader(Sine(), batch_size=50, shuffle=True)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 30)
        self.b = nn.Linear(30, 1)
    def forward(self, x):
        return self.b(torch.relu(self.a(x)))
net = Net()
opt = torch.optim.Adam(net.parameters())
for e in range(20):
    for x, y in loader:
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        opt.step()
