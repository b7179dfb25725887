from tensorflow.keras.preprocessing.image import ImageDataGenerator
from tensorflow import keras

datagen = ImageDataGenerator(
    rescale=1.0 / 255, rotation_range=40, zoom_range=0.2, horizontal_flip=True, validation_split=0.2
)
plain = ImageDataGenerator(rescale=1.0 / 255, validation_split=0.2)
train = datagen.flow_from_directory("xray", target_size=(128, 128), class_mode="binary", subset="training")
val = plain.flow_from_directory("xray", target_size=(128, 128), class_mode="binary", subset="validation")
model = keras.Sequential(
    [keras.layers.Conv2D(8, 3, activation="relu"), keras.layers.Flatten(), keras.layers.Dense(1, activation="sigmoid")]
)
model.compile("adam", "binary_crossentropy")
model.fit(train, validation_data=val, epochs=3)
