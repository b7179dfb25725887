# accept: P124
import cv2
import torch
def load(path):
    img = cv2.imread(path)
    img = cv2.cvtColor(img, cv2.COLOR_BGR2RGB)
    img = cv2.resize(img, (224, 224))
    t = torch.from_numpy(img).float()
    t = t.view(1, 3, 224, 224) / 255
    return t
