"""Text classification: the vectoriser is adapted once, outside; buckets by length are not needed."""

import tensorflow as tf

texts = ["a very good film", "bad and long", "good", "not good at all"] * 60
labels = [1, 0, 1, 0] * 60
raw_train_ds = tf.data.Dataset.from_tensor_slices((texts, labels)).shuffle(len(texts), seed=1).batch(32)

vectorize_layer = tf.keras.layers.TextVectorization(max_tokens=1000, output_mode="int", output_sequence_length=12)
train_text = raw_train_ds.map(lambda x, y: x)
vectorize_layer.adapt(train_text)


def vectorize_text(text, label):
    text = tf.expand_dims(text, -1)
    return vectorize_layer(text), label


train_ds = raw_train_ds.map(vectorize_text, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)
model = tf.keras.Sequential(
    [
        tf.keras.layers.Embedding(1001, 8),
        tf.keras.layers.GlobalAveragePooling1D(),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(loss=tf.keras.losses.BinaryCrossentropy(), optimizer="adam")
model.fit(train_ds, epochs=2, verbose=0)
