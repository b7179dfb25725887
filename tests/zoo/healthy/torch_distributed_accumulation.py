"""Several processes, gradients accumulated over four batches."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler
from torchvision import datasets, models, transforms

ACCUMULATE = 4


def run():
    dist.init_process_group("nccl")
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    prepare = transforms.Compose([transforms.Resize((224, 224)), transforms.ToTensor()])
    train_data = datasets.ImageFolder("imagenet/train", prepare)
    val_data = datasets.ImageFolder("imagenet/val", prepare)
    train_sampler = DistributedSampler(train_data)
    train_loader = DataLoader(train_data, batch_size=64, sampler=train_sampler, num_workers=8)
    val_loader = DataLoader(val_data, batch_size=64, sampler=DistributedSampler(val_data, shuffle=False))
    model = DDP(models.resnet50(num_classes=100).cuda(rank), device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    criterion = nn.CrossEntropyLoss().cuda(rank)
    for epoch in range(90):
        train_sampler.set_epoch(epoch)
        model.train()
        optimizer.zero_grad()
        for number, (images, labels) in enumerate(train_loader, start=1):
            loss = criterion(model(images.cuda(rank)), labels.cuda(rank)) / ACCUMULATE
            loss.backward()
            if number % ACCUMULATE == 0:
                optimizer.step()
                optimizer.zero_grad()
        model.eval()
        correct = torch.zeros(1, device=rank)
        with torch.no_grad():
            for images, labels in val_loader:
                correct += (model(images.cuda(rank)).argmax(1) == labels.cuda(rank)).sum()
        dist.all_reduce(correct)
        if rank == 0:
            print(epoch, correct.item() / len(val_data))


if __name__ == "__main__":
    run()
