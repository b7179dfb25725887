# cause: P122
import os

from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms


class Roads(Dataset):
    def __init__(self, folder):
        self.folder = folder
        self.names = sorted(os.listdir(os.path.join(folder, "images")))
        self.augment = transforms.Compose(
            [transforms.RandomHorizontalFlip(), transforms.RandomCrop(256), transforms.ToTensor()]
        )

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        image = Image.open(os.path.join(self.folder, "images", self.names[index]))
        mask = Image.open(os.path.join(self.folder, "masks", self.names[index]))
        return self.augment(image), self.augment(mask)


loader = DataLoader(Roads("roads"), batch_size=8, shuffle=True)
