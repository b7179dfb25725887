# accept: P104
import torch, torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
X, Y = torch.randn(1000, 20), torch.randint(0, 3, (1000,))
train_dl = DataLoader(TensorDataset(X[:800], Y[:800]), batch_size=50, shuffle=True)
valid_dl = DataLoader(TensorDataset(X[800:], Y[800:]), batch_size=50)
net = nn.Sequential(nn.Linear(20, 50), nn.BatchNorm1d(50), nn.ReLU(), nn.Linear(50, 3))
opt = torch.optim.RMSprop(net.parameters())
lossf = nn.CrossEntropyLoss()
def do_train():
    net.train()
    for a, b in train_dl:
        opt.zero_grad(); l = lossf(net(a), b); l.backward(); opt.step()
def do_valid():
    net.eval()
    net.train()
    good = 0
    for a, b in valid_dl:
        with torch.no_grad():
            good += (net(a).argmax(-1) == b).sum().item()
    return good / 200
for e in range(10):
    do_train(); print(do_valid())
