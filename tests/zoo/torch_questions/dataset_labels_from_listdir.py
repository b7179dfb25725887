# accept: P126|P250
import os, cv2, torch
from torch.utils.data import Dataset, DataLoader
class Signs(Dataset):
    def __init__(self, root):
        self.items = []
        for label, name in enumerate(os.listdir(root)):
            for f in os.listdir(os.path.join(root, name)):
                self.items.append((os.path.join(root, name, f), label))
    def __len__(self): return len(self.items)
    def __getitem__(self, i):
        p, y = self.items[i]
        im = cv2.cvtColor(cv2.imread(p), cv2.COLOR_BGR2RGB)
        return torch.tensor(im).permute(2, 0, 1) / 255., y
train = DataLoader(Signs('gtsrb/train'), 32, shuffle=True)
test = DataLoader(Signs('gtsrb/test'), 32)
