# accept: P105
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
ds = TensorDataset(torch.rand(100, 4), torch.rand(100, 1))
dl = DataLoader(ds, batch_size=10)
net = nn.Linear(4, 1); opt = torch.optim.SGD(net.parameters(), .1)
step = 0
while step < 500:
    x, y = next(iter(dl))
    opt.zero_grad()
    ((net(x) - y) ** 2).mean().backward()
    opt.step()
    step += 1
