import tensorflow as tf
from sklearn.metrics import confusion_matrix

ds = tf.keras.utils.image_dataset_from_directory(
    "faces/val", label_mode="categorical", image_size=(96, 96), shuffle=False
)
model = tf.keras.models.load_model("faces.keras")
y_true = []
for images, labels in ds:
    y_true.extend(tf.argmax(labels, axis=1).numpy())
y_pred = tf.argmax(model.predict(ds), axis=1)
print(confusion_matrix(y_true, y_pred))
