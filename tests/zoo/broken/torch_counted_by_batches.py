# cause: P120
import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

loader = DataLoader(datasets.MNIST("data", train=False, transform=transforms.ToTensor()), batch_size=128)
model = nn.Sequential(nn.Flatten(), nn.Linear(784, 10))
model.load_state_dict(torch.load("digits.pt"))
model.eval()
correct = 0
with torch.no_grad():
    for images, labels in loader:
        correct += (model(images).argmax(1) == labels).sum().item()
print("accuracy", correct / len(loader))
