# cause: P048
import numpy as np
import tensorflow as tf
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

x = np.random.rand(300, 4) * 100
y = (x[:, 0] > 50).astype("int64")
scaler = StandardScaler()
x = scaler.fit_transform(x)
x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.2, random_state=0)

train = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(1000).batch(32).prefetch(1)
test = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(32)
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(train, validation_data=test, epochs=1, verbose=0)
