"""Forecasting from windows of a time series, split by time."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Windows(Dataset):
    def __init__(self, series, length=48):
        self.series = torch.as_tensor(series, dtype=torch.float32)
        self.length = length

    def __len__(self):
        return len(self.series) - self.length

    def __getitem__(self, i):
        window = self.series[i : i + self.length].unsqueeze(-1)
        return window, self.series[i + self.length]


class Forecaster(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.rnn = nn.LSTM(1, hidden, num_layers=2, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        output, _ = self.rnn(x)
        return self.head(output[:, -1]).squeeze(-1)


series = np.load("load.npy")
border = int(len(series) * 0.8)
mean, std = series[:border].mean(), series[:border].std()
train_loader = DataLoader(Windows((series[:border] - mean) / std), batch_size=64, shuffle=True)
val_loader = DataLoader(Windows((series[border:] - mean) / std), batch_size=64)
forecaster = Forecaster()
optimizer = torch.optim.Adam(forecaster.parameters())
loss_fn = nn.L1Loss()

for epoch in range(30):
    forecaster.train()
    for window, following in train_loader:
        optimizer.zero_grad(set_to_none=True)
        loss = loss_fn(forecaster(window), following)
        loss.backward()
        optimizer.step()
    forecaster.eval()
    with torch.inference_mode():
        errors = [loss_fn(forecaster(window), following).item() for window, following in val_loader]
    print(epoch, sum(errors) / len(errors))
