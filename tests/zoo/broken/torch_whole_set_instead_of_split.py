# cause: P109
import torch
from torch import nn
from torch.utils.data import DataLoader, random_split
from torchvision import datasets, transforms

data = datasets.ImageFolder("flowers", transforms.Compose([transforms.Resize((64, 64)), transforms.ToTensor()]))
train_data, val_data = random_split(data, [0.8, 0.2])
train_loader = DataLoader(data, batch_size=32, shuffle=True)
val_loader = DataLoader(val_data, batch_size=32)
model = nn.Sequential(nn.Flatten(), nn.Linear(64 * 64 * 3, 5))
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(10):
    for images, labels in train_loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
