"""Prices from a table: scaled by the training part, a network with one output."""

import numpy as np
import pandas as pd
import torch
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

frame = pd.read_csv("cars.csv").dropna()
x = frame[["year", "mileage", "power", "doors"]].values.astype(np.float32)
y = frame["price"].values.astype(np.float32)
x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.2, random_state=5)
scaler = StandardScaler()
x_train = scaler.fit_transform(x_train)
x_test = scaler.transform(x_test)

train_ds = TensorDataset(torch.tensor(x_train), torch.tensor(y_train).unsqueeze(1))
test_ds = TensorDataset(torch.tensor(x_test), torch.tensor(y_test).unsqueeze(1))
train_dl = DataLoader(train_ds, batch_size=64, shuffle=True)
test_dl = DataLoader(test_ds, batch_size=256)

net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
mse = nn.MSELoss()

for epoch in range(200):
    net.train()
    epoch_loss = 0.0
    for xb, yb in train_dl:
        prediction = net(xb)
        loss = mse(prediction, yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        epoch_loss += loss.item() * len(xb)
    net.eval()
    with torch.no_grad():
        test_loss = sum(mse(net(xb), yb).item() * len(xb) for xb, yb in test_dl) / len(test_ds)
    print(epoch, epoch_loss / len(train_ds), test_loss)
