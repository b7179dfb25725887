# accept: P111
import torch
import torchvision.transforms as T
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder

def train(model, root):
    transform = T.Compose([T.RandomResizedCrop(640), T.RandomHorizontalFlip(), T.ToTensor(),
                           T.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225])])
    train_loader = DataLoader(ImageFolder(root, transform), batch_size=16, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    model.train()
    for images, labels in train_loader:
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

def process_image(model, device, file_path, size=(640, 640)):
    im_pil = Image.open(file_path).convert("RGB")
    transforms = T.Compose([T.Resize(size), T.ToTensor()])
    im_data = transforms(im_pil).unsqueeze(0).to(device)
    model.eval()
    with torch.no_grad():
        return model(im_data).softmax(1)

model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4))
train(model, "photos")
print(process_image(model, "cpu", "one.jpg"))
