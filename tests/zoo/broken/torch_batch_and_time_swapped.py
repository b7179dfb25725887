# cause: P114
import torch
from torch import nn


class Activity(nn.Module):
    def __init__(self, sensors=6, hidden=64, classes=5):
        super().__init__()
        self.lstm = nn.LSTM(sensors, hidden, num_layers=2)
        self.head = nn.Linear(hidden, classes)

    def forward(self, windows):
        output, _ = self.lstm(windows)
        return self.head(output[:, -1, :])


model = Activity()
print(model(torch.randn(32, 128, 6)).shape)
