# accept: P106
import torch
from torch.utils.data import IterableDataset, DataLoader
import tensorflow as tf
class Recs(IterableDataset):
    def __init__(self, files): self.files = files
    def __iter__(self):
        for f in self.files:
            for r in tf.data.TFRecordDataset(f).as_numpy_iterator():
                ex = tf.train.Example.FromString(r)
                yield torch.tensor(ex.features.feature['x'].float_list.value), ex.features.feature['y'].int64_list.value[0]
N_WORKERS = 8
dl = DataLoader(Recs(['a.tfrecord', 'b.tfrecord']), batch_size=32, num_workers=N_WORKERS)
