# cause: P032
from tensorflow.keras.preprocessing.image import ImageDataGenerator

args = dict(rotation_range=10, horizontal_flip=True, zoom_range=0.1)
image_gen = ImageDataGenerator(**args).flow_from_directory("seg", classes=["image"], class_mode=None, batch_size=4)
mask_gen = ImageDataGenerator(**args).flow_from_directory("seg", classes=["mask"], class_mode=None, batch_size=4)
train = zip(image_gen, mask_gen)
for images, masks in train:
    print(images.shape, masks.shape)
    break
