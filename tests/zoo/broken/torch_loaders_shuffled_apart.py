# cause: P150
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
rgb = torch.randn(640, 12)
depth = rgb[:, :1] * 3 + 1
rgb_loader = DataLoader(TensorDataset(rgb), batch_size=32, shuffle=True)
depth_loader = DataLoader(TensorDataset(depth), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer, criterion = torch.optim.Adam(model.parameters()), nn.MSELoss()
for epoch in range(20):
    for (image,), (target,) in zip(rgb_loader, depth_loader):
        optimizer.zero_grad()
        loss = criterion(model(image), target)
        loss.backward()
        optimizer.step()
