# accept: P025|P210
import torch
from torchvision import datasets, transforms
from torch import nn
ds = datasets.MNIST('.', transform=transforms.ToTensor())
loader = torch.utils.data.DataLoader(ds, batch_size=100, shuffle=True)
net = nn.Sequential(nn.Flatten(), nn.Linear(784, 10))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for img, lab in loader:
        img = img.float() / 255.0
        opt.zero_grad()
        nn.functional.cross_entropy(net(img), lab).backward()
        opt.step()
