# cause: P126
import os

from PIL import Image
from torch.utils.data import Dataset
from torchvision import transforms


class Folders(Dataset):
    def __init__(self, root):
        self.class_to_index = {name: number for number, name in enumerate(os.listdir(root))}
        self.samples = []
        for name, number in self.class_to_index.items():
            for file in sorted(os.listdir(os.path.join(root, name))):
                self.samples.append((os.path.join(root, name, file), number))
        self.transform = transforms.Compose([transforms.Resize((64, 64)), transforms.ToTensor()])

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        path, label = self.samples[index]
        return self.transform(Image.open(path)), label
