# accept: P104
import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms
tf = transforms.ToTensor()
loaders = {"train": DataLoader(datasets.SVHN("d", "train", transform=tf), 64, shuffle=True), "test": DataLoader(datasets.SVHN("d", "test", transform=tf), 64)}
net = nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))
opt = torch.optim.Adam(net.parameters())
def run(split):
    hits = count = 0
    for x, y in loaders[split]:
        out = net(x)
        if split == "train":
            opt.zero_grad()
            nn.functional.cross_entropy(out, y).backward()
            opt.step()
        hits += (out.argmax(1) == y).sum().item(); count += len(y)
    return hits / count
for epoch in range(5):
    print(run("train"), run("test"))
