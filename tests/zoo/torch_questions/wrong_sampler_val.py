# accept: P109|P257
import numpy as np, torch
from torch.utils.data import DataLoader, SubsetRandomSampler
from torchvision import datasets, transforms
data = datasets.CIFAR10('data', train=True, transform=transforms.ToTensor())
idx = list(range(len(data))); np.random.shuffle(idx)
split = int(0.2 * len(data))
train_idx, valid_idx = idx[split:], idx[:split]
train_sampler = SubsetRandomSampler(train_idx)
valid_sampler = SubsetRandomSampler(valid_idx)
train_loader = DataLoader(data, batch_size=20, sampler=train_sampler)
valid_loader = DataLoader(data, batch_size=20, sampler=train_sampler)
