# accept: P131
import torch
import torch.nn as nn
import torch.nn.functional as F
class N(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(10, 4)
    def forward(self, x):
        return F.log_softmax(self.l(x), dim=0)
m = N()
o = torch.optim.SGD(m.parameters(), lr=.1)
x, y = torch.rand(16, 10), torch.randint(0, 4, (16,))
for _ in range(10):
    o.zero_grad()
    F.nll_loss(m(x), y).backward()
    o.step()
