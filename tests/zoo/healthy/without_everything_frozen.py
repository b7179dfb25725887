from tensorflow import keras

base = keras.applications.ResNet50(include_top=False, pooling="avg")
model = keras.Sequential([base, keras.layers.Dense(5, activation="softmax")])
for layer in base.layers:
    layer.trainable = False
model.compile("adam", "sparse_categorical_crossentropy")
train = keras.utils.image_dataset_from_directory("f", image_size=(224, 224))
model.fit(train.map(lambda x, y: (keras.applications.resnet50.preprocess_input(x), y)), epochs=5)
