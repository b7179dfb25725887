# accept: P028
import torch
import torch.nn.functional as F
from torch import nn
class Churn(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(12, 24), nn.Linear(24, 1)
    def forward(self, x):
        h = F.relu(self.a(x))
        return F.sigmoid(self.b(h))
net = Churn()
optimizer = torch.optim.Adam(net.parameters())
x, y = torch.rand(64, 12), torch.randint(0, 2, (64, 1)).float()
for step in range(100):
    optimizer.zero_grad()
    loss = F.binary_cross_entropy_with_logits(net(x), y)
    loss.backward()
    optimizer.step()
