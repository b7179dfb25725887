# cause: P232
from tensorflow import keras

train = keras.utils.image_dataset_from_directory("f", image_size=(224, 224))
base = keras.applications.EfficientNetB0(include_top=False, pooling="avg")
base.trainable = False
model = keras.Sequential([base, keras.layers.Dense(5, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(train, epochs=5)
base.trainable = True
model.fit(train, epochs=10)
