# cause: P125
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

prepare = transforms.Compose(
    [transforms.Resize(256), transforms.CenterCrop(224), transforms.Normalize([0.5], [0.5]), transforms.ToTensor()]
)
loader = DataLoader(datasets.ImageFolder("plants", transform=prepare), batch_size=32, shuffle=True)
