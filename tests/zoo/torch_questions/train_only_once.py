# accept: P103
import torch
from torch import nn
from torch.utils.data import DataLoader, random_split
from torchvision import datasets, transforms
data = datasets.CIFAR10("d", transform=transforms.ToTensor())
a, b = random_split(data, [45000, 5000])
dl_a, dl_b = DataLoader(a, 128, shuffle=True), DataLoader(b, 128)
net = nn.Sequential(nn.Flatten(), nn.Linear(3072, 128), nn.ReLU(), nn.Dropout(), nn.Linear(128, 10))
opt = torch.optim.SGD(net.parameters(), 0.01)
def score(model, loader):
    model.eval()
    with torch.no_grad():
        return sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
for epoch in range(10):
    for x, y in dl_a:
        opt.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        opt.step()
    print(score(net, dl_b))
