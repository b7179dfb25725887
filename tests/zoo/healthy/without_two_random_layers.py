import tensorflow as tf
import tensorflow_datasets as tfds

dataset, info = tfds.load("oxford_iiit_pet", with_info=True)


class Augment(tf.keras.layers.Layer):
    def __init__(self, seed=42):
        super().__init__()
        self.for_images = tf.keras.layers.RandomFlip("horizontal", seed=seed)
        self.for_masks = tf.keras.layers.RandomFlip("horizontal", seed=seed)

    def call(self, images, masks):
        return self.for_images(images), self.for_masks(masks)


def load(d):
    image = tf.image.resize(d["image"], (128, 128)) / 255.0
    mask = tf.image.resize(d["segmentation_mask"], (128, 128), method="nearest") - 1
    return image, mask


train = dataset["train"].map(load, num_parallel_calls=4).cache().shuffle(4000).batch(64).map(Augment()).prefetch(2)
