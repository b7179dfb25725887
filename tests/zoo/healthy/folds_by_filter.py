"""Three parts of one table, which filters tell apart by the number of the fold."""

import pandas as pd
import tensorflow as tf

table = pd.read_csv("esc50.csv")
clips = tf.data.Dataset.from_tensor_slices((table["loudness"].values, table["target"].values, table["fold"].values))
train = clips.filter(lambda clip, label, fold: fold < 4)
valid = clips.filter(lambda clip, label, fold: fold == 4)
test = clips.filter(lambda clip, label, fold: fold == 5)
without_fold = lambda clip, label, fold: (clip, label)  # noqa: E731
train = train.map(without_fold, num_parallel_calls=4).shuffle(2000).batch(32).prefetch(1)
valid = valid.map(without_fold, num_parallel_calls=4).batch(32).prefetch(1)
test_ds = test.map(without_fold, num_parallel_calls=4).batch(32).prefetch(1)
model = tf.keras.Sequential([tf.keras.layers.Dense(64, activation="relu"), tf.keras.layers.Dense(50)])
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), ["accuracy"])
model.fit(train, validation_data=valid, epochs=20)
print(model.evaluate(test_ds))
