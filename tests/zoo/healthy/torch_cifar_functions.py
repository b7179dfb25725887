"""Functions for each part, called from main; options of the command line."""

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
import torchvision
import torchvision.transforms as transforms
from torch.utils.data import DataLoader, Subset


class Net(nn.Module):
    def __init__(self, num_classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(32)
        self.conv2 = nn.Conv2d(32, 64, 3, padding=1)
        self.dropout = nn.Dropout(0.25)
        self.fc = nn.Linear(64 * 8 * 8, num_classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = self.dropout(torch.flatten(x, 1))
        return self.fc(x)


def get_loaders(args):
    mean, std = (0.4914, 0.4822, 0.4465), (0.247, 0.243, 0.261)
    augment = transforms.Compose(
        [
            transforms.RandomCrop(32, padding=4),
            transforms.RandomHorizontalFlip(),
            transforms.ToTensor(),
            transforms.Normalize(mean, std),
        ]
    )
    plain = transforms.Compose([transforms.ToTensor(), transforms.Normalize(mean, std)])
    train_set = torchvision.datasets.CIFAR10(args.data, train=True, download=True, transform=augment)
    clean_set = torchvision.datasets.CIFAR10(args.data, train=True, download=True, transform=plain)
    test_set = torchvision.datasets.CIFAR10(args.data, train=False, download=True, transform=plain)
    order = torch.randperm(len(train_set), generator=torch.Generator().manual_seed(1)).tolist()
    train_part, val_part = Subset(train_set, order[:45000]), Subset(clean_set, order[45000:])
    train_loader = DataLoader(train_part, batch_size=args.batch_size, shuffle=True, num_workers=args.workers)
    val_loader = DataLoader(val_part, batch_size=args.batch_size, num_workers=args.workers)
    test_loader = DataLoader(test_set, batch_size=args.batch_size, num_workers=args.workers)
    return train_loader, val_loader, test_loader


def train(model, loader, criterion, optimizer, device):
    model.train()
    running_loss, seen = 0.0, 0
    for inputs, targets in loader:
        inputs, targets = inputs.to(device), targets.to(device)
        optimizer.zero_grad()
        outputs = model(inputs)
        loss = criterion(outputs, targets)
        loss.backward()
        optimizer.step()
        running_loss += loss.item() * inputs.size(0)
        seen += inputs.size(0)
    return running_loss / seen


def evaluate(model, loader, device):
    model.eval()
    correct = 0
    with torch.no_grad():
        for inputs, targets in loader:
            inputs, targets = inputs.to(device), targets.to(device)
            outputs = model(inputs)
            correct += (outputs.argmax(dim=1) == targets).sum().item()
    return correct / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default="data")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--workers", type=int, default=4)
    args = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train_loader, val_loader, test_loader = get_loaders(args)
    model = Net().to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)
    scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs)
    best = 0.0
    for epoch in range(args.epochs):
        loss = train(model, train_loader, criterion, optimizer, device)
        accuracy = evaluate(model, val_loader, device)
        scheduler.step()
        print(f"{epoch}: {loss:.3f} {accuracy:.3f}")
        if accuracy > best:
            best = accuracy
            torch.save(model.state_dict(), "best.pt")
    model.load_state_dict(torch.load("best.pt"))
    print("test", evaluate(model, test_loader, device))


if __name__ == "__main__":
    main()
