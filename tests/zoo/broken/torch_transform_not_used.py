# cause: P145
import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

tf_train = transforms.Compose([transforms.Resize((128, 128)), transforms.RandomHorizontalFlip(0.5),
                               transforms.RandomRotation(15), transforms.ToTensor()])
tf_val = transforms.Compose([transforms.Resize((128, 128)), transforms.ToTensor()])
train_dataset = datasets.ImageFolder("glands/train", tf_val)
val_dataset = datasets.ImageFolder("glands/val", tf_val)
dataloader = DataLoader(train_dataset, batch_size=4, shuffle=True)
valloader = DataLoader(val_dataset, 1)
model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 2))
optimizer, criterion = torch.optim.Adam(model.parameters(), lr=1e-3), nn.CrossEntropyLoss()
for epoch in range(400):
    for X_batch, y_batch in dataloader:
        optimizer.zero_grad()
        criterion(model(X_batch), y_batch).backward()
        optimizer.step()
