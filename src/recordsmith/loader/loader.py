"""Loader: a chain of verbs over a dataset, iterated for batches or rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, NoReturn, Self, TypeAlias, TypeVar

from recordsmith.errors import PipelineError
from recordsmith.loader.engine.feeding import feed
from recordsmith.loader.engine.row_access import rows_in
from recordsmith.loader.frameworks.torch_states import loader_state
from recordsmith.loader.notebook import loader_html
from recordsmith.loader.order.shuffle_quality import ShuffleQuality, shuffle_quality
from recordsmith.loader.pair_proof import verify_pairs
from recordsmith.loader.plan import Batching, Plan
from recordsmith.loader.progress.source_counts import rows_by_source
from recordsmith.loader.session import Session
from recordsmith.loader.skipping import Skipped
from recordsmith.loader.state import shown_verb
from recordsmith.loader.verbs import Verbs
from recordsmith.loader.verbs.batches.pack import Efficiency, Packed
from recordsmith.loader.verbs.rows.select import SelectVerb
from recordsmith.viewing import View, viewer
from recordsmith.workers.forking import in_own_process

if TYPE_CHECKING:
    import tensorflow as tf

    from recordsmith.loader.frameworks.tensorflow.checkpoint import CheckpointedPlace
    from recordsmith.loader.frameworks.to_jax import JaxBatches
    from recordsmith.loader.frameworks.to_keras import KerasBatches
    from recordsmith.loader.frameworks.to_torch import TorchBatches

__all__ = ["Loader", "Pair"]

Item_co = TypeVar("Item_co", covariant=True)
Pair: TypeAlias = tuple[Any, ...]  # (inputs, target), and the numbers of the records if they were asked for

_ROWS_AT_ONCE = 256
_HEAVY_ROWS_AT_ONCE = 16


class NotAnArrayError(PipelineError, AttributeError):
    """A loader was used as an array. Also an AttributeError, so that it counts as having no shape."""

    def __init__(self) -> None:
        super().__init__(
            "A loader gives batches; it is not an array.",
            advice="For Keras write model.fit(loader.to_keras()), or loader.to_tf() on TensorFlow. For an array of all "
            "rows put the batches together: np.concatenate([batch['x'] for batch in loader]).",
        )


class NotASequenceError(PipelineError, TypeError):
    """A loader was used as a list. Also a TypeError, as Python raises it."""

    def __init__(self, place: Any) -> None:
        super().__init__(
            "A loader cannot be indexed: it yields batches one after the other.",
            found=f"loader[{place!r}]",
            advice="The first batch is next(iter(loader)). A DataLoader of PyTorch takes loader.to_torch() with "
            "batch_size=None. Rows by number are in the dataset: rs.open(...)[0].",
        )


class Loader(SelectVerb["Loader[Item_co]"], Verbs["Loader[Item_co]", "Loader[Any]", "Loader[Pair]"], Generic[Item_co]):
    """A chain of verbs over a dataset. A verb returns a new loader. Each iteration is an epoch.

    For type checkers it says what it iterates over: `Loader[dict[str, Any]]` gives rows or batches, and
    `Loader[tuple[Any, ...]]`, after `.pairs()`, tuples.

    >>> import recordsmith as rs, tempfile
    >>> path = tempfile.mkdtemp() + "/data.tfrecord"
    >>> with rs.RecordWriter(path) as writer:
    ...     writer.write_columns({"n": range(6)}, rs.Schema({"n": rs.Scalar("int64")}))
    >>> loader = rs.open(path).shuffle(seed=0).batch(3)
    >>> len(loader), sorted(n for batch in loader for n in batch["n"].tolist())
    (2, [0, 1, 2, 3, 4, 5])
    """

    def __init__(self, plan: Plan) -> None:
        self._session = Session(plan)

    @property
    def plan(self) -> Plan:
        """The plan that the chain of verbs describes."""
        return self._session.plan

    def _then(self, plan: Plan) -> Loader[Any]:
        return Loader(plan)

    @property
    def session(self) -> Session:
        """What this loader and its outputs share: the plan, how far the consumer has come, what was skipped."""
        return self._session

    @property
    def skipped(self) -> Skipped:
        """What `on_error="skip"` has skipped so far: `.count`, and the `.first` records with their reasons."""
        return self._session.skipped

    @property
    def packing(self) -> Efficiency:
        """How much of the rows that `.pack()` made so far is tokens: `.share`, `.tokens` and `.rows`."""
        packed = [change for change in self.plan.changes if isinstance(change, Packed)]
        return packed[0].efficiency if packed else Efficiency()

    def rows_by_source(self) -> list[int]:
        """Return how many rows of each dataset the consumer has received in this epoch, in the order of `mix`.

        It is computed from the position in the epoch, for chains that do not leave out or pack rows.
        """
        return rows_by_source(self.plan, self._session.place())

    @property
    def shuffle_quality(self) -> ShuffleQuality:
        """How well the rows are mixed: the kind of shuffle, how many rows at a time, and a measure of it.

        >>> import recordsmith as rs, tempfile
        >>> path = tempfile.mkdtemp() + "/data.tfrecord"
        >>> with rs.RecordWriter(path) as writer:
        ...     writer.write_columns({"n": range(1000)}, rs.Schema({"n": rs.Scalar("int64")}))
        >>> print(rs.open(path).shuffle(seed=0).batch(10).shuffle_quality)
        exact: all 1,000 rows are mixed
        """
        return shuffle_quality(self.plan.order)

    def __len__(self) -> int:
        return len(self._session)

    def __getitem__(self, place: Any) -> NoReturn:
        raise NotASequenceError(place)

    def __iter__(self) -> Iterator[Item_co]:
        return in_own_process(self._rows()) if self.plan.batching is None else self._batches()

    def _batches(self) -> Iterator[Any]:
        yield from self._session.feed(self._session.begin())

    def _rows(self) -> Iterator[Any]:
        plan = replace(self.plan, batching=Batching(_HEAVY_ROWS_AT_ONCE if self.plan.heavy else _ROWS_AT_ONCE))
        for batch, _ in feed(plan, self._session.begin()):
            yield from rows_in(batch)

    def verify_pairs(self, n: int = 1000) -> int:
        """Check that inputs and targets belong together: read the records of the first n rows again and compare.

        Returns the number of compared rows. It needs `.pairs()`, uses the first epoch, and does not change the state.
        """
        return verify_pairs(self.plan, n)

    def to_tf(self, *, graph: bool = False) -> tf.data.Dataset[Any]:
        """Return a tf.data.Dataset of the batches, for Keras and for your own loops. Needs the extra "tensorflow".

        Each iteration is a new epoch, also if `to_tf` is called again for it. Arrays come as tensors with their static
        shapes, `Ragged` as RaggedTensor, byte strings and text as strings, `SparseColumn` as SparseTensor,
        `PackedColumn` as a dict, as `Schema.parse_tf` makes them.

        Args:
            graph: build the chain from TensorFlow's own operations, which need neither recordsmith nor this process:
                for tf.distribute, TPUs and the tf.data service. It is slower, shuffles through a buffer, and verbs
                without a counterpart are an error.

        >>> import recordsmith as rs, tempfile
        >>> path = tempfile.mkdtemp() + "/data.tfrecord"
        >>> with rs.RecordWriter(path) as writer:
        ...     writer.write_columns({"n": range(6)}, rs.Schema({"n": rs.Scalar("int64")}))
        >>> rs.open(path).batch(3, drop_last=True).to_tf().element_spec
        {'n': TensorSpec(shape=(3,), dtype=tf.int64, name=None)}
        """
        if graph:
            from recordsmith.loader.frameworks.tensorflow.graph import in_tensorflow_graph

            return in_tensorflow_graph(self.plan)
        from recordsmith.loader.frameworks.tensorflow.to_tf import to_tensorflow

        return to_tensorflow(self._session)

    def to_torch(self) -> TorchBatches:
        """Return a torch IterableDataset of the batches, for `DataLoader(dataset, batch_size=None)`. Needs PyTorch.

        Each iteration is a new epoch, also if the dataset or the DataLoader is created again for it. Arrays come as
        tensors that share their memory, text as lists. With worker processes, each makes its share of the batches, and
        they come in the same order.

        >>> import recordsmith as rs, tempfile
        >>> path = tempfile.mkdtemp() + "/data.tfrecord"
        >>> with rs.RecordWriter(path) as writer:
        ...     writer.write_columns({"n": range(6)}, rs.Schema({"n": rs.Scalar("int64")}))
        >>> [batch["n"].tolist() for batch in rs.open(path).batch(3).to_torch()]
        [[0, 1, 2], [3, 4, 5]]
        """
        from recordsmith.loader.frameworks.to_torch import TorchBatches

        return TorchBatches(self._session)

    def to_keras(self) -> KerasBatches:
        """Return a keras.utils.PyDataset of the batches, for `model.fit` on every backend. Needs Keras 3.

        It needs no TensorFlow. Where Keras runs on TensorFlow, `to_tf` is faster.
        """
        from recordsmith.loader.frameworks.to_keras import KerasBatches

        return KerasBatches(self._session)

    def __array__(self, *_: Any, **__: Any) -> Any:
        """Explain that a loader is not an array: Keras and numpy would try to make one of it."""
        raise NotAnArrayError

    @property
    def shape(self) -> tuple[int, ...]:
        """Nothing: the error that Keras meets first in `model.fit(loader)` explains what to write."""
        raise NotAnArrayError

    def to_jax(self, *, device: Any = None, ahead: int = 2) -> JaxBatches:
        """Return an iterable of the batches as JAX arrays on a device. Needs JAX.

        Each iteration is a new epoch, also if `to_jax` is called again for it.

        Args:
            device: a device or a sharding, as jax.device_put takes it; None: JAX's default device.
            ahead: how many batches are sent to the device before they are asked for.

        >>> import recordsmith as rs, tempfile
        >>> path = tempfile.mkdtemp() + "/data.tfrecord"
        >>> with rs.RecordWriter(path) as writer:
        ...     writer.write_columns({"x": [0.5, 1.5]}, rs.Schema({"x": rs.Scalar("float32")}))
        >>> [float(batch["x"].sum()) for batch in rs.open(path).batch(2).to_jax()]
        [2.0]
        """
        from recordsmith.loader.frameworks.to_jax import to_jax

        return to_jax(self._session, device=device, ahead=ahead)

    def view(self, batches: int = 4) -> View:
        """Show the next batches in the browser, next to the records that they come from. Needs the extra "view".

        Images are shown as they arrive and as they are stored, with the targets and in the order of the batches. The
        position of the loader does not change. The viewer runs in the background until `.stop()` of the result, or
        until the program ends. A notebook shows it in a frame; elsewhere open its `.url`.

        Args:
            batches: how many batches are shown; at most 96 rows of them.
        """
        return viewer().view_loader(self, batches)

    def state(self) -> dict[str, Any]:
        """Return the position of the consumer, JSON-ready. Batches that were read ahead do not count.

        It is the same whether the loader itself is iterated over or what `to_tf`, `to_torch` or `to_jax` made from it.
        It is not known while worker processes of PyTorch's DataLoader make the batches: then it is an error.
        """
        return self._session.state()

    def restore(self, state: Mapping[str, Any]) -> Self:
        """Start the next iteration at the position of a loader with the same chain and data. Returns the loader.

        The batch size and the number of ranks may differ: the rest of the epoch is then divided again, in the
        same order. The state of a StatefulDataLoader around what `to_torch` returned can be given too.

        >>> import recordsmith as rs, tempfile
        >>> path = tempfile.mkdtemp() + "/data.tfrecord"
        >>> with rs.RecordWriter(path) as writer:
        ...     writer.write_columns({"n": range(6)}, rs.Schema({"n": rs.Scalar("int64")}))
        >>> loader = rs.open(path).batch(2)
        >>> _ = next(iter(loader))
        >>> [batch["n"].tolist() for batch in rs.open(path).batch(3).restore(loader.state())]
        [[2, 3, 4], [5]]
        """
        self._session.restore(loader_state(state))
        return self

    def state_dict(self) -> dict[str, Any]:
        """Return `state()`, under the name that PyTorch and others look for."""
        return self.state()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Call `restore(state)`, under the name that PyTorch and others look for."""
        self.restore(state)

    def tf_state(self) -> CheckpointedPlace:
        """Return an object that tf.train.Checkpoint saves and restores: the position of the consumer.

        Restore the checkpoint first, and then call `to_tf()`.

        >>> import recordsmith as rs, tempfile, tensorflow as tf
        >>> folder = tempfile.mkdtemp()
        >>> with rs.RecordWriter(f"{folder}/data.tfrecord") as writer:
        ...     writer.write_columns({"n": range(6)}, rs.Schema({"n": rs.Scalar("int64")}))
        >>> loader = rs.open(f"{folder}/data.tfrecord").batch(2)
        >>> _ = next(iter(loader.to_tf()))
        >>> saved = tf.train.Checkpoint(data=loader.tf_state()).save(f"{folder}/checkpoint")
        >>> again = rs.open(f"{folder}/data.tfrecord").batch(2)
        >>> _ = tf.train.Checkpoint(data=again.tf_state()).restore(saved)
        >>> [batch["n"].numpy().tolist() for batch in again.to_tf()]
        [[2, 3], [4, 5]]
        """
        from recordsmith.loader.frameworks.tensorflow.checkpoint import CheckpointedPlace

        return CheckpointedPlace(self._session)

    def set_epoch(self, epoch: int) -> None:
        """Set the number of the next epoch, counted from 0. An epoch restored in the middle continues."""
        self._session.set_epoch(epoch)

    def __repr__(self) -> str:
        chain = "".join(f".{shown_verb(verb)}" for verb in self.plan.verbs)
        return f"<recordsmith.Loader {self.plan.datasets[0]!r}{chain}>"

    def _repr_html_(self) -> str:
        return loader_html(self._session, repr(self.plan.datasets[0]))
