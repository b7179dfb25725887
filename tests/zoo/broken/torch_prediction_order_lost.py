# cause: P147
import numpy as np
import pandas as pd
import torch
from sklearn.metrics import classification_report
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

frame = pd.read_csv("claims.csv")
features, y = frame.drop(columns="fraud").to_numpy("float32"), frame["fraud"].to_numpy()
x_train, y_train, x_test, y_test = features[:8000], y[:8000], features[8000:], y[8000:]
train_dl = DataLoader(TensorDataset(torch.from_numpy(x_train), torch.from_numpy(y_train)), batch_size=100, shuffle=True)
test_dl = DataLoader(TensorDataset(torch.from_numpy(x_test), torch.from_numpy(y_test)), batch_size=100, shuffle=True)
model = nn.Sequential(nn.Linear(features.shape[1], 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(20):
    model.train()
    for xb, yb in train_dl:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(xb), yb).backward()
        optimizer.step()
model.eval()
preds = []
with torch.no_grad():
    for xb, _ in test_dl:
        preds.append(model(xb).argmax(1).numpy())
print(classification_report(y_test, np.concatenate(preds)))
