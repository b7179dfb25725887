# accept: P122|P032
import os, random
import numpy as np
import torch
from PIL import Image
from torch.utils.data import Dataset, DataLoader
import torchvision.transforms as T
class LesionData(Dataset):
    def __init__(self, root):
        self.root = root
        self.ids = sorted(os.listdir(root + '/img'))
        self.img_tf = T.Compose([T.Resize((256, 256)), T.RandomHorizontalFlip(), T.RandomRotation(20), T.ToTensor()])
        self.mask_tf = T.Compose([T.Resize((256, 256), interpolation=T.InterpolationMode.NEAREST), T.ToTensor()])
    def __len__(self): return len(self.ids)
    def __getitem__(self, i):
        img = Image.open(os.path.join(self.root, 'img', self.ids[i])).convert('RGB')
        mask = Image.open(os.path.join(self.root, 'mask', self.ids[i])).convert('L')
        return self.img_tf(img), self.mask_tf(mask)
dl = DataLoader(LesionData('isic'), batch_size=4, shuffle=True)
