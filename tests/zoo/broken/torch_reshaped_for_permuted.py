# cause: P124
import numpy as np
import torch
from PIL import Image
from torch.utils.data import Dataset


class Pets(Dataset):
    def __init__(self, paths, labels):
        self.paths, self.labels = paths, labels

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        image = np.array(Image.open(self.paths[index]).convert("RGB").resize((128, 128)))
        return torch.from_numpy(image.reshape(3, 128, 128)).float() / 255, self.labels[index]
