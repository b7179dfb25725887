# cause: P146
import torch
from torch.utils.data import DataLoader, random_split
from torchvision import datasets, transforms

augment = transforms.Compose([transforms.RandomCrop(32, padding=4), transforms.RandomHorizontalFlip(), transforms.ToTensor()])
plain = transforms.Compose([transforms.ToTensor()])
full = datasets.CIFAR10("data", train=True, download=True)
train_dataset, val_dataset = random_split(full, [45000, 5000], generator=torch.Generator().manual_seed(0))
train_dataset.dataset.transform = augment
val_dataset.dataset.transform = plain
train_loader = DataLoader(train_dataset, batch_size=128, shuffle=True)
val_loader = DataLoader(val_dataset, batch_size=128)
