"""The verbs of a chain, one file each: a method that makes a new loader, and what it does to the plan."""

from recordsmith.loader.verbs.balance import BalanceVerb
from recordsmith.loader.verbs.batch import BatchVerb
from recordsmith.loader.verbs.bucket_batch import BucketBatchVerb
from recordsmith.loader.verbs.chain import LoaderT
from recordsmith.loader.verbs.filter import FilterVerb
from recordsmith.loader.verbs.images import ImagesVerb
from recordsmith.loader.verbs.map import MapVerb
from recordsmith.loader.verbs.mix import MixVerb
from recordsmith.loader.verbs.padded_batch import PaddedBatchVerb
from recordsmith.loader.verbs.pairs import PairsVerb
from recordsmith.loader.verbs.part import PartVerb
from recordsmith.loader.verbs.prefetch import PrefetchVerb
from recordsmith.loader.verbs.repeat import RepeatVerb
from recordsmith.loader.verbs.select import SelectVerb
from recordsmith.loader.verbs.shard import ShardVerb
from recordsmith.loader.verbs.shuffle import ShuffleVerb
from recordsmith.loader.verbs.vectorize import VectorizeVerb

__all__ = ["Verbs"]


class Verbs(
    SelectVerb[LoaderT],
    FilterVerb[LoaderT],
    MapVerb[LoaderT],
    ImagesVerb[LoaderT],
    ShuffleVerb[LoaderT],
    ShardVerb[LoaderT],
    BalanceVerb[LoaderT],
    MixVerb[LoaderT],
    VectorizeVerb[LoaderT],
    PartVerb[LoaderT],
    RepeatVerb[LoaderT],
    BatchVerb[LoaderT],
    PaddedBatchVerb[LoaderT],
    BucketBatchVerb[LoaderT],
    PrefetchVerb[LoaderT],
    PairsVerb[LoaderT],
):
    """All verbs, which a dataset and a loader share. Each returns a new loader and changes nothing."""
