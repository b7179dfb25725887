"""One name for each thing of a library, however a program spells it."""

from __future__ import annotations

import re

__all__ = ["canonical"]

# What TensorFlow 1 and `compat` call otherwise; the usual name of today is what rules look for.
_RENAMED = {
    "tensorflow.python_io.TFRecordWriter": "tensorflow.io.TFRecordWriter",
    "tensorflow.python_io.TFRecordOptions": "tensorflow.io.TFRecordOptions",
    "tensorflow.python_io.tf_record_iterator": "tensorflow.io.tf_record_iterator",
    "tensorflow.parse_single_example": "tensorflow.io.parse_single_example",
    "tensorflow.parse_example": "tensorflow.io.parse_example",
    "tensorflow.parse_single_sequence_example": "tensorflow.io.parse_single_sequence_example",
    "tensorflow.parse_tensor": "tensorflow.io.parse_tensor",
    "tensorflow.FixedLenFeature": "tensorflow.io.FixedLenFeature",
    "tensorflow.VarLenFeature": "tensorflow.io.VarLenFeature",
    "tensorflow.SparseFeature": "tensorflow.io.SparseFeature",
    "tensorflow.FixedLenSequenceFeature": "tensorflow.io.FixedLenSequenceFeature",
    "tensorflow.decode_raw": "tensorflow.io.decode_raw",
    "tensorflow.decode_csv": "tensorflow.io.decode_csv",
    "tensorflow.read_file": "tensorflow.io.read_file",
    "tensorflow.random_uniform": "tensorflow.random.uniform",
    "tensorflow.random_normal": "tensorflow.random.normal",
    "tensorflow.random_shuffle": "tensorflow.random.shuffle",
    "tensorflow.random_crop": "tensorflow.image.random_crop",
    "tensorflow.py_func": "tensorflow.py_function",
    "tensorflow.numpy_function": "tensorflow.py_function",
    "tensorflow.gfile.Glob": "tensorflow.io.gfile.glob",
    "tensorflow.gfile.GFile": "tensorflow.io.gfile.GFile",
    "tensorflow.gfile.FastGFile": "tensorflow.io.gfile.GFile",
    "tensorflow.gfile.Open": "tensorflow.io.gfile.GFile",
    "tensorflow.saturate_cast": "tensorflow.cast",
    "tensorflow.to_float": "tensorflow.cast",
    "tensorflow.image.resize_images": "tensorflow.image.resize",
    "tensorflow.sparse_tensor_to_dense": "tensorflow.sparse.to_dense",
    "tensorflow.data.experimental.AUTOTUNE": "tensorflow.data.AUTOTUNE",
    "tensorflow.data.experimental.sample_from_datasets": "tensorflow.data.Dataset.sample_from_datasets",
    "tensorflow.data.experimental.choose_from_datasets": "tensorflow.data.Dataset.choose_from_datasets",
    "keras.preprocessing.image_dataset_from_directory": "keras.utils.image_dataset_from_directory",
    "keras.preprocessing.text_dataset_from_directory": "keras.utils.text_dataset_from_directory",
    "keras.preprocessing.timeseries_dataset_from_array": "keras.utils.timeseries_dataset_from_array",
    "keras.utils.to_categorical": "keras.utils.to_categorical",
}

_IMAGE_DECODERS = re.compile(r"tensorflow\.(?:image|io)\.(decode_(?:jpeg|png|image|bmp|gif|and_crop_jpeg|webp))")
_KERAS = re.compile(r"^(?:tensorflow\.(?:python\.)?keras|tf_keras|keras)\.(?:api\.(?:_v2\.)?(?:keras\.)?)?")
# Where Keras kept its layers and tools before.
_OLD_KERAS = (
    (re.compile(r"^keras_preprocessing\."), "keras.preprocessing."),
    (re.compile(r"^keras\.utils\.(np_utils|data_utils|generic_utils)\."), "keras.utils."),
    (
        re.compile(
            r"^keras\.layers\.(core|convolutional|pooling|recurrent|normalization|embeddings|merge|wrappers|noise"
            r"|advanced_activations|preprocessing|reshaping|rnn|regularization|activation|attention)(\.[a-z_]\w*)*\."
        ),
        "keras.layers.",
    ),
    (re.compile(r"^keras\.layers\.Convolution(\dD)$"), r"keras.layers.Conv\1"),
    (
        re.compile(r"^keras\.optimizers\.(optimizer_v2|legacy|optimizer_experimental)(\.[a-z_]\w*)*\."),
        "keras.optimizers.",
    ),
)

# PyTorch and what belongs to it: the modules that a public name is defined in, and the two names of Lightning.
_TORCH = (
    (re.compile(r"^torch\.nn\.modules(\.[a-z]\w*)*\."), "torch.nn."),
    (re.compile(r"^torch\.utils\.data\.(dataset|dataloader|sampler|distributed)\."), "torch.utils.data."),
    (re.compile(r"^torchvision\.transforms\.(v2|transforms)\.(?!functional)"), "torchvision.transforms."),
    (re.compile(r"^torchvision\.transforms\.v2\.functional"), "torchvision.transforms.functional"),
    (re.compile(r"^torchvision\.datasets\.(mnist|cifar|folder)\."), "torchvision.datasets."),
    (re.compile(r"^torch\.optim\.(?!lr_scheduler|swa_utils)[a-z]\w*\."), "torch.optim."),
    (re.compile(r"^albumentations\.(augmentations|core|pytorch|imgaug)(\.[a-z]\w*)*\."), "albumentations."),
    (re.compile(r"^lightning\.(pytorch\.)?(core\.|callbacks\.)?"), "pytorch_lightning."),
)


def canonical(path: str) -> str:
    """Return the usual name of today for a dotted name.

    >>> canonical("tensorflow.compat.v1.python_io.TFRecordWriter")
    'tensorflow.io.TFRecordWriter'
    >>> canonical("tensorflow.image.decode_jpeg")
    'tensorflow.io.decode_jpeg'
    >>> canonical("tensorflow.keras.layers.experimental.preprocessing.RandomFlip")
    'keras.layers.RandomFlip'
    >>> canonical("keras.layers.convolutional.Convolution2D")
    'keras.layers.Conv2D'
    >>> canonical("torchvision.transforms.v2.Compose"), canonical("torch.nn.modules.loss.MSELoss")
    ('torchvision.transforms.Compose', 'torch.nn.MSELoss')
    """
    if path == "tf" or path.startswith("tf."):
        path = "tensorflow" + path[2:]
    path = path.replace("tensorflow.compat.v1", "tensorflow").replace("tensorflow.compat.v2", "tensorflow")
    path = _KERAS.sub("keras.", path)
    path = path.replace("keras.layers.experimental.preprocessing.", "keras.layers.")
    if path.startswith("keras"):
        for pattern, usual in _OLD_KERAS:
            path = pattern.sub(usual, path)
    path = path.replace("keras.preprocessing.image.image_dataset", "keras.preprocessing.image_dataset")
    path = path.replace("tensorflow.contrib.data.", "tensorflow.data.experimental.")
    image = _IMAGE_DECODERS.fullmatch(path)
    if image:
        return f"tensorflow.io.{image[1]}"
    if path.startswith("np."):
        path = "numpy" + path[2:]
    if path.startswith(("torch", "lightning.", "albumentations.")):
        for pattern, usual in _TORCH:
            path = pattern.sub(usual, path)
        return path
    if path.startswith(("jax.numpy.", "tensorflow.experimental.numpy.")):
        return path
    return _RENAMED.get(path, path)
