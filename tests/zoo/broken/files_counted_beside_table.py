# cause: P049
import os
import numpy as np
import pandas as pd
from PIL import Image

table = pd.read_csv("train.csv")
X, y = [], []
for i, name in enumerate(os.listdir("train_images")):
    X.append(np.array(Image.open(os.path.join("train_images", name)).resize((64, 64))))
    y.append(table["label"].iloc[i])
np.savez("d.npz", x=np.array(X), y=np.array(y))
