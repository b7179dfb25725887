# cause: P025
from tensorflow.keras.applications.resnet50 import ResNet50, preprocess_input
from tensorflow.keras.preprocessing.image import ImageDataGenerator
from tensorflow.keras import layers, models

gen = ImageDataGenerator(rescale=1.0 / 255, preprocessing_function=preprocess_input)
train = gen.flow_from_directory("d", target_size=(224, 224), class_mode="categorical")
model = models.Sequential([ResNet50(include_top=False, pooling="avg"), layers.Dense(3, activation="softmax")])
model.compile("adam", "categorical_crossentropy")
model.fit(train, epochs=2)
