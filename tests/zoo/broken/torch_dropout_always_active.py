# cause: P116
import torch.nn.functional as F
from torch import nn


class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(784, 128)
        self.second = nn.Linear(128, 10)

    def forward(self, x):
        x = F.relu(self.first(x.flatten(1)))
        x = F.dropout(x, p=0.5)
        return self.second(x)
