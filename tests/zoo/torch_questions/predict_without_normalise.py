# accept: P111
import torch
from PIL import Image
from torch.utils.data import DataLoader
from torchvision import datasets, models, transforms
norm = transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
train_set = datasets.ImageFolder("dogs/train", transforms.Compose([transforms.Resize((224, 224)), transforms.ToTensor(), norm]))
val_set = datasets.ImageFolder("dogs/val", transforms.Compose([transforms.Resize((224, 224)), transforms.ToTensor()]))
train_loader, val_loader = DataLoader(train_set, 32, shuffle=True), DataLoader(val_set, 32)
net = models.resnet18(num_classes=5)
opt = torch.optim.Adam(net.parameters())
for epoch in range(3):
    net.train()
    for x, y in train_loader:
        opt.zero_grad(); torch.nn.functional.cross_entropy(net(x), y).backward(); opt.step()
    net.eval()
    with torch.no_grad():
        print(sum((net(x).argmax(1) == y).sum().item() for x, y in val_loader) / len(val_set))
