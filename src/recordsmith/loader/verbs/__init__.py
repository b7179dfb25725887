"""The verbs of a chain, one file each: a method that makes a new loader, and what it does to the plan."""

from typing import Generic, TypeVar

from recordsmith.loader.verbs.batches.batch import BatchVerb
from recordsmith.loader.verbs.batches.bucket_batch import BucketBatchVerb
from recordsmith.loader.verbs.batches.pack import PackVerb
from recordsmith.loader.verbs.batches.padded_batch import PaddedBatchVerb
from recordsmith.loader.verbs.batches.prefetch import PrefetchVerb
from recordsmith.loader.verbs.chain import LoaderT
from recordsmith.loader.verbs.order.balance import BalanceVerb
from recordsmith.loader.verbs.order.mix import MixVerb
from recordsmith.loader.verbs.order.part import PartVerb
from recordsmith.loader.verbs.order.repeat import RepeatVerb
from recordsmith.loader.verbs.order.shard import ShardVerb
from recordsmith.loader.verbs.order.shuffle import ShuffleVerb
from recordsmith.loader.verbs.rows.audio import AudioVerb
from recordsmith.loader.verbs.rows.filter import FilterVerb
from recordsmith.loader.verbs.rows.images import ImagesVerb
from recordsmith.loader.verbs.rows.map import MapVerb
from recordsmith.loader.verbs.rows.pairs import PairsVerb
from recordsmith.loader.verbs.rows.vectorize import VectorizeVerb

__all__ = ["Verbs"]

MappedT = TypeVar("MappedT")
PairsT = TypeVar("PairsT")


class Verbs(
    FilterVerb[LoaderT],
    MapVerb[MappedT],
    ImagesVerb[LoaderT],
    AudioVerb[LoaderT],
    ShuffleVerb[LoaderT],
    ShardVerb[LoaderT],
    BalanceVerb[LoaderT],
    MixVerb[LoaderT],
    VectorizeVerb[LoaderT],
    PackVerb[LoaderT],
    PartVerb[LoaderT],
    RepeatVerb[LoaderT],
    BatchVerb[LoaderT],
    PaddedBatchVerb[LoaderT],
    BucketBatchVerb[LoaderT],
    PrefetchVerb[LoaderT],
    PairsVerb[PairsT],
    Generic[LoaderT, MappedT, PairsT],
):
    """The verbs that a dataset and a loader share. Each returns a new loader and changes nothing.

    For type checkers, `map` and `pairs` return loaders of other items than the chain before them.
    """
