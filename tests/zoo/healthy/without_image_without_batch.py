import cv2
from tensorflow.keras.models import load_model

model = load_model("digits.h5")
img = cv2.cvtColor(cv2.imread("7.png"), cv2.COLOR_BGR2RGB)
img = cv2.resize(img, (32, 32)).astype("float32") / 255.0
print(model.predict(img[None]).argmax())
