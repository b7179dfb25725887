"""to_tf(graph=True): the chain built from TensorFlow's own operations, which run without recordsmith.

The form is the one that tf.data's guides recommend: files read in parallel where their order does not matter, records
shuffled and repeated while they are still bytes, images decoded one by one in parallel, batched, whole batches parsed
at once and in parallel, and a prefetch at the end. Without a shuffle the rows are in recordsmith's order; with one they
are in TensorFlow's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recordsmith.dataset import StoredDataset
from recordsmith.errors import PipelineError
from recordsmith.loader.engine.feeding import batch_count
from recordsmith.loader.frameworks.tensorflow.graph_images import decoded_image
from recordsmith.loader.frameworks.tensorflow.graph_verbs import padded, paired, vectorized
from recordsmith.loader.order.buffer_shuffle import BufferShuffled
from recordsmith.loader.order.record_order import ENDLESS, AllRecords, Order, Part, Repeated, Shard, Shuffled
from recordsmith.loader.plan import BatchChange, Batching, Plan, RowChange
from recordsmith.loader.verbs.batches.padded_batch import PaddedBatching
from recordsmith.loader.verbs.rows.images import ImagesDecoded
from recordsmith.loader.verbs.rows.pairs import Paired
from recordsmith.loader.verbs.rows.select import Selected
from recordsmith.loader.verbs.rows.vectorize import Vectorized
from recordsmith.schema import Schema
from recordsmith.schema.export.tensorflow_features import import_tensorflow

__all__ = ["in_tensorflow_graph"]

_VERBS = (
    "batch",
    "images",
    "padded_batch",
    "pairs",
    "prefetch",
    "repeat",
    "select",
    "shard",
    "shuffle",
    "skip",
    "take",
    "vectorize",
)
_BATCH_FIRST = "Write .batch(n) before .to_tf()."
_BUFFER = 10_000  # rows that are shuffled among each other where the chain says nothing: what people write
_COMPRESSIONS = {"none": "", "gzip": "GZIP", "zlib": "ZLIB"}

Step = Callable[[dict[str, Any]], Any]


def in_tensorflow_graph(plan: Plan) -> Any:
    """Return a tf.data.Dataset of a chain's batches, made by TensorFlow; see `Loader.to_tf`."""
    tf = import_tensorflow("Loader.to_tf")
    _check(plan)
    batching = plan.batched(_BATCH_FIRST)
    plain = tf.autograph.experimental.do_not_convert  # there is nothing to convert, and that takes time
    schema = plan.datasets[0].schema
    decoding = [change for change in plan.changes if isinstance(change, ImagesDecoded)]
    if any(change.followers for change in decoding):
        raise _refused("Boxes or masks that move with their image", "Use .to_tf() without graph=True.")
    image_features = {change.feature: decoded_image(change, schema[change.feature]) for change in decoding}
    encoded = Schema({name: schema[name] for name in image_features})
    others = Schema({name: feature for name, feature in schema.items() if name not in image_features})
    steps = _steps(plan, batching)

    @plain  # type: ignore[untyped-decorator] # TensorFlow is optional
    def decoded(serialized: Any) -> Any:
        row = encoded.parse_tf(serialized)
        return serialized, {name: pixels_of(row[name]) for name, pixels_of in image_features.items()}

    @plain  # type: ignore[untyped-decorator] # TensorFlow is optional
    def made(serialized: Any, pixels: dict[str, Any] | None = None) -> Any:
        batch: Any = {**others.parse_tf(serialized), **(pixels or {})}
        batch = {name: batch[name] for name in schema}
        for step in steps:
            batch = step(batch)
        return batch

    records = _Records(tf, plan.datasets[0]).of(plan.order)
    if image_features:
        records = records.map(decoded, num_parallel_calls=tf.data.AUTOTUNE)
    batches = _part_of_epoch(plan, records.batch(batching.size, drop_remainder=batching.drop_last))
    batches = batches.map(made, num_parallel_calls=tf.data.AUTOTUNE)
    if plan.epochs_fed != 1:
        batches = batches.repeat(plan.epochs_fed)
    return batches if plan.ahead == 0 else batches.prefetch(tf.data.AUTOTUNE if plan.ahead is None else plan.ahead)


def _check(plan: Plan) -> None:
    for verb in plan.verbs:
        if verb["verb"] not in _VERBS:
            raise _refused(f".{verb['verb']}()", "Do it when the dataset is made, or use .to_tf() without graph=True.")
    if plan.skipped is not None:
        raise _refused('on_error="skip"', "Repair the files, or use .to_tf() without graph=True.")
    if any(isinstance(change, Paired) and change.with_index for change in plan.batch_changes):
        raise _refused("pairs(with_index=True)", "Use .to_tf() without graph=True.")
    if any(isinstance(change, Paired) and change.class_weights is not None for change in plan.batch_changes):
        raise _refused("pairs(class_weight=)", "Give the class weights to Keras: model.fit(class_weight=...).")


def _refused(what: str, advice: str) -> PipelineError:
    return PipelineError(f"{what} has no counterpart in TensorFlow's own operations.", advice=advice)


class _Records:
    """The order of a chain, as operations on serialized records."""

    def __init__(self, tf: Any, dataset: StoredDataset) -> None:
        self._tf = tf
        self._dataset = dataset

    def of(self, order: Order) -> Any:
        """Return the records in an order."""
        if isinstance(order, AllRecords):
            return self._all(in_file_order=True)
        if isinstance(order, (Shuffled, BufferShuffled)):
            return self._shuffled(order)
        if isinstance(order, Part):
            part = self.of(order.inner).skip(order.start)
            return part if order.stop >= ENDLESS else part.take(order.stop - order.start)
        if isinstance(order, Repeated):
            return self.of(order.inner).repeat(order.times)
        if isinstance(order, Shard):
            return self._shard(order)
        raise _refused(f"The order {type(order).__name__}", "Use .to_tf() without graph=True.")

    def _all(self, *, in_file_order: bool, seed: int | None = None, again: bool = True) -> Any:
        tf, dataset = self._tf, self._dataset
        rows = dataset.record_range()
        kinds = {index.compression for index in dataset.places().indexes}
        if len(kinds) > 1:
            raise PipelineError(
                "TensorFlow reads files of one compression at a time.",
                found=", ".join(sorted(kinds)),
                advice="Open the files of each compression separately.",
            )
        compression = _COMPRESSIONS[kinds.pop() if kinds else "none"]
        total = dataset.places().records
        if rows.step != 1:
            raise _refused("A dataset of every n-th record", "Use .shard(), or .to_tf() without graph=True.")
        if in_file_order or len(rows) < total:
            records = tf.data.TFRecordDataset(list(dataset.files), compression_type=compression)
            return records if len(rows) == total else records.skip(rows.start).take(len(rows))
        files = tf.data.Dataset.from_tensor_slices(list(dataset.files))
        if len(dataset.files) > 1:
            files = files.shuffle(len(dataset.files), seed=seed, reshuffle_each_iteration=again)
        return tf.data.TFRecordDataset(files, compression_type=compression, num_parallel_reads=tf.data.AUTOTUNE)

    def _shuffled(self, order: Shuffled | BufferShuffled) -> Any:
        buffer = order.buffer if isinstance(order, BufferShuffled) else max(1, min(_BUFFER, order.length))
        settings = {"seed": order.seed, "reshuffle_each_iteration": order.reshuffle}
        if isinstance(order.inner, AllRecords) and isinstance(order, Shuffled):
            records = self._all(in_file_order=False, seed=order.seed, again=order.reshuffle)
        else:
            records = self.of(order.inner)
        return records.shuffle(buffer, **settings)

    def _shard(self, order: Shard) -> Any:
        records = self.of(order.inner)
        if order.remainder == "repeat":
            raise _refused('shard(remainder="repeat")', 'Write remainder="drop".')
        if order.remainder == "drop" and order.inner.length < ENDLESS:
            records = records.take(order.inner.length // order.world * order.world)
        return records.shard(order.world, order.rank)


def _part_of_epoch(plan: Plan, batches: Any) -> Any:
    """Leave those batches of an epoch that the chain has, and give every rank the same number of them."""
    start, stop = plan.batches_taken
    if plan.even_world is not None and plan.order.length < ENDLESS:
        batching = plan.batched(_BATCH_FIRST)
        whole, rest = divmod(plan.order.length, batching.size)
        there, wanted = whole if batching.drop_last else whole + (rest > 0), batch_count(plan) + start
        if there < wanted:
            raise _refused(
                "shard() that divides batches so that all ranks have the same number", 'Write remainder="drop".'
            )
        stop = wanted if there > wanted else stop
    if start:
        batches = batches.skip(start)
    return batches if stop is None else batches.take(max(0, stop - start))


def _steps(plan: Plan, batching: Batching) -> list[Step]:
    """Return what is done to a batch after parsing, in order."""
    steps: list[Step] = [_row_step(change) for change in plan.changes if not isinstance(change, ImagesDecoded)]
    if isinstance(batching, PaddedBatching):
        steps.append(padded(batching, plan.features or {}))
    elif type(batching) is not Batching:
        raise _refused(type(batching).__name__, "Use .padded_batch(), or .to_tf() without graph=True.")
    return [*steps, *(_batch_step(change) for change in plan.batch_changes)]


def _row_step(change: RowChange) -> Step:
    if isinstance(change, Selected):
        return _selected(change.names)
    if isinstance(change, Vectorized):
        return vectorized(change.feature, change.into, change.vocabulary)
    raise _refused(type(change).__name__, "Use .to_tf() without graph=True.")


def _batch_step(change: BatchChange) -> Step:
    if isinstance(change, Selected):
        return _selected(change.names)
    if isinstance(change, Paired):
        return paired(change)
    raise _refused(type(change).__name__, "Use .to_tf() without graph=True.")


def _selected(names: tuple[str, ...]) -> Step:
    return lambda batch: {name: batch[name] for name in names}
