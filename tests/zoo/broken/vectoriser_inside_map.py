# cause: P012
# It never ends: TensorFlow hangs in adapt.
import tensorflow as tf

texts = tf.constant(["a good film", "a bad film", "good", "bad"] * 50)
labels = tf.constant([1, 0, 1, 0] * 50)


def vectorise(text, label):
    layer = tf.keras.layers.TextVectorization(max_tokens=100, output_sequence_length=8)
    layer.adapt(tf.data.Dataset.from_tensors(text))
    return layer(text), label


dataset = tf.data.Dataset.from_tensor_slices((texts, labels)).shuffle(200)
dataset = dataset.map(vectorise, num_parallel_calls=tf.data.AUTOTUNE).batch(16).prefetch(1)
model = tf.keras.Sequential(
    [
        tf.keras.layers.Embedding(100, 8),
        tf.keras.layers.GlobalAveragePooling1D(),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile("adam", "binary_crossentropy")
model.fit(dataset, epochs=1)
