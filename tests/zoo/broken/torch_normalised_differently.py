# cause: P111
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

train_transform = transforms.Compose(
    [
        transforms.RandomResizedCrop(224),
        transforms.ToTensor(),
        transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
    ]
)
train_loader = DataLoader(datasets.ImageFolder("birds/train", train_transform), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Flatten(), nn.Linear(224 * 224 * 3, 20))
optimizer = torch.optim.Adam(model.parameters())
for images, labels in train_loader:
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(images), labels).backward()
    optimizer.step()


def predict(path):
    prepare = transforms.Compose([transforms.Resize((224, 224)), transforms.ToTensor()])
    model.eval()
    with torch.no_grad():
        return model(prepare(Image.open(path)).unsqueeze(0)).argmax(1).item()


print(predict("bird.jpg"))
