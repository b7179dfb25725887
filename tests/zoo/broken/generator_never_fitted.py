# cause: P283
from tensorflow import keras
from tensorflow.keras.preprocessing.image import ImageDataGenerator

(x_train, y_train), _ = keras.datasets.cifar10.load_data()
generator = ImageDataGenerator(featurewise_center=True, featurewise_std_normalization=True, horizontal_flip=True)
model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(10, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(generator.flow(x_train, y_train, batch_size=64), epochs=5)
