import os
import numpy as np
from tensorflow import keras


class Pairs(keras.utils.Sequence):
    def __init__(self, image_dir, mask_dir, batch_size=4):
        self.images = [os.path.join(image_dir, f) for f in sorted(os.listdir(image_dir))]
        self.masks = [os.path.join(mask_dir, f) for f in sorted(os.listdir(mask_dir))]
        self.batch_size = batch_size

    def __len__(self):
        return len(self.images) // self.batch_size

    def __getitem__(self, i):
        part = slice(i * self.batch_size, (i + 1) * self.batch_size)
        x = np.stack([np.load(p) for p in self.images[part]])
        y = np.stack([np.load(p) for p in self.masks[part]])
        return x, y


train = Pairs("img", "msk")
