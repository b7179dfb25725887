# cause: P289
import numpy as np
import pandas as pd
from tensorflow import keras
from tensorflow.keras.preprocessing.sequence import pad_sequences
from tensorflow.keras.preprocessing.text import Tokenizer

table = pd.read_csv("reviews.csv")
vectors = np.load("vectors.npy", allow_pickle=True).item()
tokenizer, other = Tokenizer(5000), Tokenizer(5000)
tokenizer.fit_on_texts(table["text"])
other.fit_on_texts(list(vectors))
matrix = np.zeros((5000, 100))
for word, number in other.word_index.items():
    if number < 5000:
        matrix[number] = vectors[word]
x = pad_sequences(tokenizer.texts_to_sequences(table["text"]), maxlen=80)
model = keras.Sequential([keras.layers.Embedding(5000, 100, weights=[matrix], trainable=False),
                          keras.layers.GlobalAveragePooling1D(), keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(x, table["stars"].values > 3, epochs=5)
