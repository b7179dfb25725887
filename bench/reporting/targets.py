"""The targets that recordsmith is held to, with two cores and against TensorFlow's best in the same run."""

from __future__ import annotations

# Reading into numpy batches with CRC checks: times TensorFlow's best tf.data form.
READ = {"tab": 12.0, "vec": 6.0, "tok": 5.0, "img": 3.0}
# Writing from columns: times tf.train.Example + TFRecordWriter.
WRITE_COLUMNS = {"tab": 100.0, "vec": 100.0, "tok": 50.0, "img": 3.0}
# Writing from rows (Python dicts): times the same.
WRITE_ROWS = {"tab": 30.0}
# Whole datasets from columns in memory, with digests: part of the speed of plain writes by one thread. These are
# 1.6 GB/s and, with splits, a shuffle and verification, 0.9 GB/s, where plain writes do 2.58.
WRITE_EXTEND = {"vec": 1.6 / 2.58}
WRITE_MAKE = {"vec": 0.9 / 2.58}
# Making a dataset from images, resized: times a pool + cv2 + tf.train.Example. From a CSV file: times a csv +
# tf.train.Example loop.
MAKE_IMAGES = 1.5
MAKE_IMAGES_WITHOUT_IMPORTS = 1.8
MAKE_TABLE = 60.0
# Random access, 256 records a call: times array_record's best.
RANDOM = {"tab": 10.0, "vec": 10.0, "tok": 10.0, "img": 5.0}
# Shuffled: part of the speed in order. Seconds for a gigabyte in order, where parsing is the limit (4 and 3 GB/s), and
# of gzip of others, inflated (0.6 GB/s). Seconds to open a dataset and infer its schema. CPU time of padded_batch as a
# part of that of bucket_batch (1.5 times as much).
SHUFFLED = 0.8
IN_ORDER = {"tab": 1 / 4, "tok": 1 / 3}
GZIP_SECONDS = {"tab": 1 / 0.6}
OPEN_SECONDS = 0.005
BUCKETS = 1 / 1.5
# Verifying both CRCs of whole files: part of the speed at which the mapped bytes can be read at all.
VERIFY = 0.70
# Seconds of `import recordsmith` in a new process.
IMPORT_SECONDS = 0.2
# Opening and the first batch in a new process: times sooner than TensorFlow.
FIRST_BATCH = 10.0
# Feeding, shuffled and in batches: times tf.data's best form with shuffle(10,000). Images are decoded, resized to
# 224x224, flipped and changed in brightness, as float32; `large` are JPEGs of 1,600x1,200, the others of 500x375.
LOAD = {"tab": 10.0, "vec": 5.0, "tok": 4.0, "img": 2.5, "large": 3.0, "png": 2.0, "webp": 2.0}
# The own JPEG decoder: times OpenCV's for the same images and result. Smaller images than these are enlarged, which
# takes most of the time of both.
OWN_JPEG = 1.25
OWN_JPEG_FROM = 224 * 224  # pixels
# Into a framework: to_torch against a DataLoader over the package tfrecord, to_tf against tf.data's best form.
LOAD_TORCH = {"vec": 5.0}
LOAD_TF = {"tab": 2.0, "img": 1.0}
# Feeding PyTorch: times each of the libraries that do that, in their own formats.
FEED_TORCH = {"vec": 10.0, "img": 3.5}
# Into a framework: part of the speed of the same chain as numpy.
LOAD_OUTPUTS: dict[str, dict[str, float | None]] = {
    "to_keras": {"vec": 0.8, "img": 0.8},
    "to_torch": {"vec": 0.8, "img": 0.8},
    "to_tf": {"vec": None, "img": None},
    "to_jax": {"vec": None, "img": None},
}
# Memory of its own in the first half of an epoch, as a part of that in the second: it does not grow.
LOAD_FLAT = 0.9
# Seconds from opening ten million records, whose index is there, to the first batch of their shuffle.
LOAD_FIRST_BATCH = 1.0
# Collecting all facts: times a pass with tf.data and numpy that collects a part of them.
FACTS = {"tab": 5.0}
# `rs.check` of cached files with two cores, in GB/s.
CHECK = {"tab": 1.0, "vec": 1.5, "tok": 0.8, "img": 3.0}
# Memory over half of the shards as a part of that over all: it does not grow.
FACTS_FLAT = 0.8
# Seconds from the start of the viewer's server to its first page, and to the first hits of a filter.
VIEW_FIRST_PAGE = 1.0
VIEW_FIRST_HITS = 1.0
# Loading from an object store, shuffled, first and second epoch: times each of the others.
REMOTE = 1.0
# The same behind a latency of 20 or 100 ms: part of its speed without it, where the bandwidth is the same; and where it
# is that of a line of 1 Gbit/s, part of a plain download.
REMOTE_LATENCY = 0.8
# On the same Ray: times Ray Data's read_tfrecords and write_tfrecords.
RAY_READ = 40.0
RAY_WRITE = 20.0
# rs.make of a million rows with engine="ray" on one node: part of the speed of engine="local".
RAY_MAKE = 1 / 1.3
# The time per value of the smallest dataset as a part of that of the largest: the cost grows no faster than the data.
GROWTH = 0.8
