"""Two networks are tried on the same labels, whose numbers hold for this run and are not kept."""

import numpy as np


class Network:
    def __init__(self, reviews, labels, width):
        label_words = set()
        for label in labels:
            label_words.add(label)
        self.label_number = {}
        for number, label in enumerate(list(label_words)):
            self.label_number[label] = number
        self.weights = np.random.default_rng(0).normal(size=(width, len(self.label_number)))


reviews = open("reviews.txt").read().splitlines()
labels = open("labels.txt").read().splitlines()
small = Network(reviews[:-1000], labels[:-1000], 10)
large = Network(reviews[:-1000], labels[:-1000], 100)
