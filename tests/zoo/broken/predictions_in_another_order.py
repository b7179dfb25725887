# cause: P201
import numpy as np
from sklearn.metrics import classification_report, confusion_matrix
from tensorflow.keras.models import load_model
from tensorflow.keras.preprocessing.image import ImageDataGenerator

test_gen = ImageDataGenerator(rescale=1.0 / 255).flow_from_directory(
    "test", target_size=(224, 224), batch_size=9, class_mode="categorical"
)
model = load_model("vgg.h5")
y_pred = np.argmax(model.predict(test_gen), axis=1)
print(confusion_matrix(test_gen.classes, y_pred))
print(classification_report(test_gen.classes, y_pred, target_names=list(test_gen.class_indices)))
