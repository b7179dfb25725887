# cause: P210
from tensorflow import keras

(x_train, y_train), (x_test, y_test) = keras.datasets.mnist.load_data()
x_train = x_train.reshape(60000, 784).astype("float32") / 255
x_test = x_test.reshape(10000, 784).astype("float32")
model = keras.Sequential([keras.layers.Dense(512, activation="relu"), keras.layers.Dense(10, activation="softmax")])
model.compile("rmsprop", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x_train, y_train, epochs=3, batch_size=128)
print(model.evaluate(x_test, y_test))
