# cause: P244
import cv2
import glob
import numpy as np

images = []
for path in sorted(glob.glob("digits/*.png")):
    img = cv2.imread(path, cv2.IMREAD_GRAYSCALE)
    images.append(img)
    images.append(img + 60)
x = np.array(images) / 255.0
np.save("x.npy", x)
