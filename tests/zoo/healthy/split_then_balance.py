"""Split first; scale and oversample by the training part only."""

import numpy as np
import tensorflow as tf
from imblearn.over_sampling import RandomOverSampler
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

x = np.random.rand(300, 4)
y = (np.arange(300) % 10 == 0).astype("int64")
x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.2, stratify=y, random_state=0)
scaler = StandardScaler()
x_train = scaler.fit_transform(x_train)
x_test = scaler.transform(x_test)
x_train, y_train = RandomOverSampler(random_state=0).fit_resample(x_train, y_train)

train = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(len(x_train)).batch(32).prefetch(1)
test = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(32)
model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(train, validation_data=test, epochs=1, verbose=0)
