from tensorflow import keras
from tensorflow.keras import layers
from tensorflow.keras.preprocessing.image import ImageDataGenerator

gen = ImageDataGenerator(rescale=1 / 255.0)
train = gen.flow_from_directory("pets/train", target_size=(150, 150), batch_size=20, class_mode="categorical")
model = keras.Sequential(
    [
        layers.Input((150, 150, 3)),
        layers.Conv2D(16, 3, activation="relu"),
        layers.Flatten(),
        layers.Dense(2, activation="softmax"),
    ]
)
model.compile(loss="categorical_crossentropy", optimizer="rmsprop", metrics=["acc"])
model.fit(train, epochs=10)
