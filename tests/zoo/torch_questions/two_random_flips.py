# accept: P122|P032
import random
import torchvision.transforms.functional as TF
from PIL import Image
from torch.utils.data import Dataset
class Scenes(Dataset):
    def __init__(self, files, masks):
        self.files, self.masks = files, masks
    def __len__(self):
        return len(self.files)
    def __getitem__(self, k):
        image = Image.open(self.files[k])
        mask = Image.open(self.masks[k])
        if random.random() > 0.5:
            image = TF.hflip(image)
        if random.random() > 0.5:
            mask = TF.hflip(mask)
        return TF.to_tensor(image), TF.to_tensor(mask)
