# cause: P025
from tensorflow.keras.applications import EfficientNetB0
from tensorflow.keras.preprocessing.image import ImageDataGenerator
from tensorflow.keras import layers, Model

gen = ImageDataGenerator(rescale=1.0 / 255, horizontal_flip=True)
train = gen.flow_from_directory("food/train", target_size=(224, 224), class_mode="sparse")
base = EfficientNetB0(include_top=False, weights="imagenet", input_shape=(224, 224, 3), pooling="avg")
base.trainable = False
out = layers.Dense(11, activation="softmax")(base.output)
model = Model(base.input, out)
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(train, epochs=6)
