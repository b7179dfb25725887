"""Transfer learning with one loop for both phases and a dict of loaders."""

import copy
import os

import torch
from torch import nn, optim
from torch.optim import lr_scheduler
from torchvision import datasets, models, transforms

data_transforms = {
    "train": transforms.Compose(
        [
            transforms.RandomResizedCrop(224),
            transforms.RandomHorizontalFlip(),
            transforms.ToTensor(),
            transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
        ]
    ),
    "val": transforms.Compose(
        [
            transforms.Resize(256),
            transforms.CenterCrop(224),
            transforms.ToTensor(),
            transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
        ]
    ),
}
folder = "ants_and_bees"
image_datasets = {x: datasets.ImageFolder(os.path.join(folder, x), data_transforms[x]) for x in ["train", "val"]}
dataloaders = {
    x: torch.utils.data.DataLoader(image_datasets[x], batch_size=16, shuffle=x == "train", num_workers=2)
    for x in ["train", "val"]
}
sizes = {x: len(image_datasets[x]) for x in ["train", "val"]}
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")


def train_model(model, criterion, optimizer, scheduler, num_epochs=25):
    best_weights = copy.deepcopy(model.state_dict())
    best_accuracy = 0.0
    for epoch in range(num_epochs):
        for phase in ["train", "val"]:
            if phase == "train":
                model.train()
            else:
                model.eval()
            running_loss = 0.0
            running_corrects = 0
            for inputs, labels in dataloaders[phase]:
                inputs = inputs.to(device)
                labels = labels.to(device)
                optimizer.zero_grad()
                with torch.set_grad_enabled(phase == "train"):
                    outputs = model(inputs)
                    _, preds = torch.max(outputs, 1)
                    loss = criterion(outputs, labels)
                    if phase == "train":
                        loss.backward()
                        optimizer.step()
                running_loss += loss.item() * inputs.size(0)
                running_corrects += torch.sum(preds == labels.data)
            if phase == "train":
                scheduler.step()
            epoch_accuracy = running_corrects.double() / sizes[phase]
            print(epoch, phase, running_loss / sizes[phase], epoch_accuracy)
            if phase == "val" and epoch_accuracy > best_accuracy:
                best_accuracy = epoch_accuracy
                best_weights = copy.deepcopy(model.state_dict())
    model.load_state_dict(best_weights)
    return model


backbone = models.resnet18(weights="IMAGENET1K_V1")
for parameter in backbone.parameters():
    parameter.requires_grad = False
backbone.fc = nn.Linear(backbone.fc.in_features, 2)
backbone = backbone.to(device)
optimizer_ft = optim.SGD(backbone.fc.parameters(), lr=0.001, momentum=0.9)
step_schedule = lr_scheduler.StepLR(optimizer_ft, step_size=7, gamma=0.1)
backbone = train_model(backbone, nn.CrossEntropyLoss(), optimizer_ft, step_schedule)
