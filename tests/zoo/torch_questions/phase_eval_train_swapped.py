# accept: P103|P104
import torch
from torch import nn
def train_model(model, dataloaders, criterion, optimizer, num_epochs):
    for epoch in range(num_epochs):
        for phase in ['train', 'val']:
            if phase == 'val':
                model.train()
            else:
                model.eval()
            for inputs, labels in dataloaders[phase]:
                optimizer.zero_grad()
                with torch.set_grad_enabled(phase == 'train'):
                    loss = criterion(model(inputs), labels)
                    if phase == 'train':
                        loss.backward()
                        optimizer.step()
