# cause: P152
import os
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torchvision import datasets, models, transforms

def main():
    dist.init_process_group("nccl")
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    tf = transforms.Compose([transforms.RandomCrop(32, padding=4), transforms.ToTensor(), transforms.Normalize((0.5,) * 3, (0.5,) * 3)])
    train_set = datasets.CIFAR10("data", train=True, transform=tf, download=True)
    train_loader = DataLoader(train_set, batch_size=128, shuffle=True, num_workers=4)
    model = DDP(models.resnet18(num_classes=10).cuda(rank), device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(100):
        model.train()
        for x, y in train_loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x.cuda(rank)), y.cuda(rank)).backward()
            optimizer.step()

if __name__ == "__main__":
    main()
