# accept: P102
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
dl = DataLoader(TensorDataset(torch.rand(50, 3), torch.randint(0, 2, (50,))), 5, shuffle=True)
net = nn.Linear(3, 2)
opt = torch.optim.Adam(net.parameters())
for e in range(4):
    for x, y in dl:
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        opt.step()
        loss.backward()
