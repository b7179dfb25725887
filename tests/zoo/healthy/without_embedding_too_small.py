import numpy as np
from tensorflow import keras

texts, y = open("t.txt").read().splitlines(), np.load("y.npy")
tok = keras.preprocessing.text.Tokenizer()
tok.fit_on_texts(texts)
x = keras.preprocessing.sequence.pad_sequences(tok.texts_to_sequences(texts), maxlen=50)
model = keras.Sequential(
    [
        keras.layers.Embedding(len(tok.word_index) + 1, 32),
        keras.layers.LSTM(16),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile("adam", "binary_crossentropy")
model.fit(x, y)
