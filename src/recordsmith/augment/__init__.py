"""Random changes to images during training: what `.images(augment=[...])` takes.

    augment = rs.augment
    ds.images(size=(224, 224), scale=1 / 255, augment=[augment.flip_left_right(), augment.brightness(0.2)])

Each is a small frozen object, which says what may happen, and `apply(image, rng)`, which does it to one image. In a
loader the random numbers depend on the seed, the epoch and the record alone.
"""

from recordsmith.augment.augmentation import Augmentation, Random, RandomStream, random_keys
from recordsmith.augment.colour import Brightness, Contrast, Saturation
from recordsmith.augment.geometry import Crop, FlipLeftRight, FlipUpDown, Rotation

flip_left_right = FlipLeftRight
flip_up_down = FlipUpDown
crop = Crop
rotation = Rotation
brightness = Brightness
contrast = Contrast
saturation = Saturation

__all__ = [
    "Augmentation",
    "Brightness",
    "Contrast",
    "Crop",
    "FlipLeftRight",
    "FlipUpDown",
    "Random",
    "RandomStream",
    "Rotation",
    "Saturation",
    "brightness",
    "contrast",
    "crop",
    "flip_left_right",
    "flip_up_down",
    "random_keys",
    "rotation",
    "saturation",
]
