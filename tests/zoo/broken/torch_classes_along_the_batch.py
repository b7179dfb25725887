# cause: P131
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Iris(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(4, 16)
        self.out = nn.Linear(16, 3)

    def forward(self, x):
        return F.log_softmax(self.out(torch.relu(self.hidden(x))), dim=0)


loader = DataLoader(TensorDataset(torch.randn(150, 4), torch.randint(0, 3, (150,))), batch_size=15, shuffle=True)
model = Iris()
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(50):
    for x, y in loader:
        optimizer.zero_grad()
        F.nll_loss(model(x), y).backward()
        optimizer.step()
