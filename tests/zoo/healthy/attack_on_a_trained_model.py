"""Gradients of an input: nothing is trained, so the network runs in inference mode on purpose."""

import tensorflow as tf

network = tf.keras.applications.MobileNetV2(weights="imagenet")
network.trainable = False
loss_of = tf.keras.losses.CategoricalCrossentropy()


def perturbation(image, label):
    with tf.GradientTape() as tape:
        tape.watch(image)
        prediction = network(image)
        loss = loss_of(label, prediction)
    return tf.sign(tape.gradient(loss, image))


picture = tf.io.decode_jpeg(tf.io.read_file("labrador.jpg"), channels=3)
picture = tf.keras.applications.mobilenet_v2.preprocess_input(tf.image.resize(tf.cast(picture, tf.float32), (224, 224)))
print(perturbation(picture[None], tf.one_hot([208], 1000)))
