"""Text generation: batch cuts the text into windows, which are shuffled and batched again."""

import tensorflow as tf

text = "to be or not to be that is the question " * 200
vocab = sorted(set(text))
ids_from_chars = tf.keras.layers.StringLookup(vocabulary=list(vocab), mask_token=None)
all_ids = ids_from_chars(tf.strings.unicode_split(text, "UTF-8"))
ids_dataset = tf.data.Dataset.from_tensor_slices(all_ids)

seq_length = 40
sequences = ids_dataset.batch(seq_length + 1, drop_remainder=True)
for seq in sequences.take(1):
    print(seq.shape)


def split_input_target(sequence):
    return sequence[:-1], sequence[1:]


BATCH_SIZE = 16
BUFFER_SIZE = 10000
dataset = sequences.map(split_input_target)
dataset = dataset.shuffle(BUFFER_SIZE).batch(BATCH_SIZE, drop_remainder=True).prefetch(tf.data.experimental.AUTOTUNE)

model = tf.keras.Sequential(
    [
        tf.keras.layers.Embedding(len(vocab) + 1, 8),
        tf.keras.layers.GRU(16, return_sequences=True),
        tf.keras.layers.Dense(len(vocab) + 1),
    ]
)
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(dataset, epochs=1, verbose=0)
