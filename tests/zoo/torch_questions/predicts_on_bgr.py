# accept: P128
import cv2
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

class Crops(Dataset):
    def __init__(self, files, labels):
        self.files, self.labels = files, labels

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        image = cv2.imread(self.files[i])
        image = cv2.cvtColor(image, cv2.COLOR_BGR2RGB)
        image = cv2.resize(image, (96, 96)).astype(np.float32) / 255.0
        return torch.from_numpy(image).permute(2, 0, 1), self.labels[i]

def detect_image(image_path, model_path):
    model = torch.load(model_path, weights_only=False)
    model.eval()
    image = cv2.imread(image_path)
    image = cv2.resize(image, (96, 96)).astype(np.float32) / 255.0
    image = torch.from_numpy(image).permute(2, 0, 1).unsqueeze(0)
    with torch.no_grad():
        return model(image).argmax(1).item()

train = DataLoader(Crops(sorted(open("files.txt").read().split()), np.load("labels.npy")), batch_size=32, shuffle=True)
print(detect_image("cat.jpg", "model.pt"))
