# cause: P143
import os
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms as T

class AnodetDataset(Dataset):
    def __init__(self, image_dir, mask_dir):
        self.image_dir, self.mask_dir = image_dir, mask_dir
        self.image_names = sorted(os.listdir(image_dir))
        self.mask_names = sorted(os.listdir(mask_dir))
        self.image_transforms = T.Compose([T.Resize(224), T.CenterCrop(224), T.ToTensor(),
                                           T.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])
        self.mask_transforms = T.Compose([T.Resize(224, interpolation=T.InterpolationMode.NEAREST), T.CenterCrop(224), T.ToTensor()])

    def __len__(self):
        return len(self.image_names)

    def __getitem__(self, idx):
        image = Image.open(os.path.join(self.image_dir, self.image_names[idx])).convert("RGB")
        mask = Image.open(os.path.join(self.mask_dir, self.mask_names[idx])).convert("L")
        image = self.image_transforms(image)
        mask = self.mask_transforms(image)
        return image, mask

loader = DataLoader(AnodetDataset("bottle/images", "bottle/masks"), batch_size=8)
