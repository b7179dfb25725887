# cause: P129
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = 10
data = TensorDataset(torch.randn(512, 16), torch.randint(0, 4, (512,)))
loader = DataLoader(data, batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.AdamW(model.parameters())
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.01, epochs=EPOCHS, steps_per_epoch=len(loader))
for epoch in range(EPOCHS):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    schedule.step()
