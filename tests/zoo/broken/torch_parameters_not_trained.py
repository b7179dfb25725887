# cause: P117
import torch
from torch import nn
from torchvision import models

model = models.resnet18(weights="DEFAULT")
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
model.fc = nn.Linear(model.fc.in_features, 7)
criterion = nn.CrossEntropyLoss()


def train(loader):
    model.train()
    for images, labels in loader:
        optimizer.zero_grad()
        criterion(model(images), labels).backward()
        optimizer.step()
