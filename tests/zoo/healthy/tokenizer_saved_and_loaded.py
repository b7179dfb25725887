"""The tokenizer that numbers the texts was saved after it had filled the embedding: it is the same one."""

import pickle

import numpy as np
import pandas as pd
import tensorflow as tf

articles = pd.read_csv("articles.csv")
tokenizer = tf.keras.preprocessing.text.Tokenizer(num_words=20_000)
tokenizer.fit_on_texts(articles["title"])
vectors = dict(np.load("vectors.npz"))
matrix = np.zeros((20_000, 100))
for word, number in tokenizer.word_index.items():
    if word in vectors and number < len(matrix):
        matrix[number] = vectors[word]
with open("tokenizer.pickle", "wb") as file:
    pickle.dump(tokenizer, file)

with open("tokenizer.pickle", "rb") as file:
    tokenizer = pickle.load(file)
texts = tf.keras.utils.pad_sequences(tokenizer.texts_to_sequences(articles["title"]), maxlen=30)
embedding = tf.keras.layers.Embedding(20_000, 100, weights=[matrix], trainable=False)
output = tf.keras.layers.Dense(1, activation="sigmoid")
model = tf.keras.Sequential([embedding, tf.keras.layers.GlobalAveragePooling1D(), output])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(texts, articles["is_news"].to_numpy(), epochs=3)
