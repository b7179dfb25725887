"""Two models and two optimizers in one loop."""

import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

prepare = transforms.Compose([transforms.Resize(32), transforms.ToTensor(), transforms.Normalize([0.5], [0.5])])
dataloader = DataLoader(datasets.MNIST("data", download=True, transform=prepare), batch_size=64, shuffle=True)
generator = nn.Sequential(nn.Linear(100, 256), nn.LeakyReLU(0.2), nn.Linear(256, 1024), nn.Tanh())
discriminator = nn.Sequential(nn.Linear(1024, 256), nn.LeakyReLU(0.2), nn.Linear(256, 1), nn.Sigmoid())
g_optimizer = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
d_optimizer = torch.optim.Adam(discriminator.parameters(), lr=2e-4, betas=(0.5, 0.999))
adversarial_loss = nn.BCELoss()

for epoch in range(50):
    for images, _ in dataloader:
        real = images.flatten(1)
        ones, zeros = torch.ones(len(real), 1), torch.zeros(len(real), 1)
        fake = generator(torch.randn(len(real), 100))

        g_optimizer.zero_grad()
        g_loss = adversarial_loss(discriminator(fake), ones)
        g_loss.backward()
        g_optimizer.step()

        d_optimizer.zero_grad()
        d_loss = adversarial_loss(discriminator(real), ones) + adversarial_loss(discriminator(fake.detach()), zeros)
        d_loss.backward()
        d_optimizer.step()
    print(epoch, g_loss.item(), d_loss.item())
