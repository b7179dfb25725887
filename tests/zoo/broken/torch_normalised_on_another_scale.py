# cause: P132
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

prepare = transforms.Compose(
    [
        transforms.Resize((224, 224)),
        transforms.ToTensor(),
        transforms.Normalize(mean=[123.675, 116.28, 103.53], std=[58.395, 57.12, 57.375]),
    ]
)
loader = DataLoader(datasets.ImageFolder("food", prepare), batch_size=32, shuffle=True)
