# cause: P045
# situation: E4
import numpy as np
import tensorflow as tf
from imblearn.over_sampling import RandomOverSampler
from sklearn.model_selection import train_test_split

x = np.random.rand(300, 4).astype("float32")
y = (np.arange(300) % 10 == 0).astype("int64")
x_balanced, y_balanced = RandomOverSampler(random_state=0).fit_resample(x, y)
x_train, x_test, y_train, y_test = train_test_split(x_balanced, y_balanced, test_size=0.2, random_state=0)

train = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(1000).batch(32).prefetch(1)
test = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(32)
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(train, validation_data=test, epochs=1, verbose=0)
