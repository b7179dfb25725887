# accept: P019
import torch
from torch.utils.data import DataLoader, Subset
from torchvision import datasets, transforms
from sklearn.model_selection import train_test_split
aug = transforms.Compose([transforms.RandomResizedCrop(128), transforms.ColorJitter(0.3), transforms.ToTensor()])
full = datasets.ImageFolder("fruit", transform=aug)
train_ids, val_ids = train_test_split(list(range(len(full))), test_size=0.2, stratify=full.targets)
train_dl = DataLoader(Subset(full, train_ids), batch_size=32, shuffle=True)
val_dl = DataLoader(Subset(full, val_ids), batch_size=32)
