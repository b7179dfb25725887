# accept: P110
import torch
from torchvision import datasets, transforms
from torch import nn
tf = transforms.ToTensor()
trainset = datasets.FashionMNIST('~/.pytorch', download=True, train=False, transform=tf)
trainloader = torch.utils.data.DataLoader(trainset, batch_size=64, shuffle=True)
model = nn.Sequential(nn.Flatten(), nn.Linear(784, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.003)
for e in range(5):
    for images, labels in trainloader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
