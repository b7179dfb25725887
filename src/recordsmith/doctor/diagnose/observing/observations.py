"""What was observed of a pipeline: frozen dataclasses that the rules look at, which read and train nothing themselves.

Observations
├── epochs     EpochFacts     how many batches and rows each sampled epoch had, and how long they took
├── columns    ColumnFacts    every input and target: dtype, shape, values, images
├── labels     LabelFacts     the classes, and how they are spread over the batches
├── order      OrderFacts     the same order, the same batch again
├── chain      ChainStep      the transformations of a tf.data.Dataset, from the source to the batches
├── records    RecordFacts    what arrived of the records on disk, and whether labels stayed with their features
├── model      ModelFacts     what it expects, what it answers, what its loss is
├── signal     SignalFacts    what training a copy of it showed
├── workers    WorkerFacts    the workers of a DataLoader, and the random numbers that they draw
├── mirrored   MirrorFacts    images that came again mirrored, without their masks or boxes
├── source     SourceFacts    a file that the pipeline reads, where something is wrong with what arrives
└── validation ValidationFacts  how the validation data differs from the training data
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from recordsmith.doctor.diagnose.observing.loading_facts import MirrorFacts, SourceFacts, WorkerFacts
from recordsmith.doctor.diagnose.observing.model_facts import ModelFacts, SignalFacts
from recordsmith.doctor.diagnose.observing.validation_facts import ValidationFacts
from recordsmith.facts.value_facts import Histogram

__all__ = [
    "ChainStep",
    "ColumnFacts",
    "EpochFacts",
    "ImageFacts",
    "LabelFacts",
    "MirrorFacts",
    "Observations",
    "OrderFacts",
    "PairExample",
    "RecordFacts",
    "SourceFacts",
    "WorkerFacts",
]


def with_class_name(label: object, names: tuple[str, ...]) -> str:
    """Write the number of a class with its name, where it has one.

    >>> with_class_name(1, ("cat", "dog")), with_class_name("dog", ("cat", "dog"))
    ('1 (dog)', 'dog')
    """
    text = str(label)
    known = text.isdecimal() and int(text) < len(names) and names[int(text)] != text
    return f"{text} ({names[int(text)]})" if known else text


@dataclass(frozen=True, slots=True)
class EpochFacts:
    """One sampled epoch.

    Attributes:
        batches: how many were sampled.
        rows: in all of them.
        whole: the pipeline ended; otherwise sampling stopped first.
        seconds: what waiting for the batches took, without the first, which begins the work.
    """

    batches: int
    rows: int
    whole: bool
    seconds: float = 0.0

    @property
    def seconds_per_batch(self) -> float | None:
        """What a batch took on average; None with fewer than two."""
        return self.seconds / (self.batches - 1) if self.batches > 1 else None


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """What images look like.

    Attributes:
        looked_at: how many.
        flat: how many have one value throughout.
        blank: how many of these are completely black or white: at an end of all values.
        extreme: the share of all values that are the smallest or the largest possible.
        within: how much values differ within an image: the mean of the images' deviations.
        between: how much the images' means differ.
        other_layout: another way to read the same values, in which neighbours are far more alike: "channels first",
            "width before height"; empty where the images are best as they are.
        smoother: how much more alike: the mean difference of neighbours in that layout relative to this one.
        jumps: the share of neighbours that differ by more than half the range of a byte; 0 where values are not bytes.
        wrapping: how much less neighbours differ if 0 follows 255: small where values overflowed.
    """

    looked_at: int
    flat: int = 0
    blank: int = 0
    extreme: float = 0.0
    within: float = 0.0
    between: float = 0.0
    other_layout: str = ""
    smoother: float = 1.0
    jumps: float = 0.0
    wrapping: float = 1.0


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """One input or target, over all sampled batches.

    Attributes:
        name: its name; empty where inputs or target have none.
        role: "input" or "target".
        dtype: as numpy calls it; "text" for strings, "mixed" where batches differ.
        shape: of a row, with None where it varies.
        rows: how many were looked at.
        batched: it has a dimension for the rows; False where one element is one row.
        ragged: rows have different lengths within a batch.
        values: how many numbers, NaN and infinities included.
        nan, infinite: how many.
        min, max, mean, deviation: of the finite values; None without any.
        zeros: how many are 0.
        integral: all finite values are whole numbers.
        distinct: how many different values, at most 1,001.
        constant_columns: for rows that are vectors: how many positions have the same value in every row.
        largest_spread: for vectors: the largest deviation of a position, and its largest mean, whichever is larger.
        bits_of: what the bytes seem to be really: such as "float32 read as uint8"; empty where nothing speaks for it.
        one_hot: "one" where each row has a single 1 and else 0; "some-empty" where some rows have none;
            "shares" where rows are parts of 1; empty otherwise.
        empty_rows: rows of a one-hot target without a 1.
        several_rows: rows of zeros and ones with more than one 1.
        fractions: for a target of whole numbers, the share of values that are not whole; 0 for other targets.
        corners: the rows of a target are boxes in pixels, each given by two corners.
        padding: for rows of ids, the share of zeros at their ends.
        image: what images look like; None where it is none.
        without_tokens: rows of ids, or of a mask, that are nothing but padding, or have no value at all.
        histogram: of the finite values.

    >>> ColumnFacts("x", "input", "float32", (4,), 32).shown
    "input 'x'"
    >>> ColumnFacts("", "target", "int64", (), 32).shown
    'the target'
    """

    name: str
    role: Literal["input", "target"]
    dtype: str
    shape: tuple[int | None, ...]
    rows: int
    batched: bool = True
    ragged: bool = False
    values: int = 0
    nan: int = 0
    infinite: int = 0
    min: float | None = None
    max: float | None = None
    mean: float | None = None
    deviation: float | None = None
    zeros: int = 0
    integral: bool = False
    distinct: int = 0
    constant_columns: int = 0
    largest_spread: float = 0.0
    bits_of: str = ""
    one_hot: str = ""
    empty_rows: int = 0
    several_rows: int = 0
    fractions: float = 0.0
    corners: bool = False
    padding: float = 0.0
    image: ImageFacts | None = None
    without_tokens: int = 0
    histogram: Histogram | None = None

    @property
    def shown(self) -> str:
        """What to call it in a sentence."""
        return f"{self.role} {self.name!r}" if self.name else f"the {self.role}"

    @property
    def numeric(self) -> bool:
        """Whether it holds numbers."""
        return self.dtype not in ("text", "object", "mixed")


@dataclass(frozen=True, slots=True)
class LabelFacts:
    """The classes of the sampled rows, and how they are spread over the batches.

    Attributes:
        kind: "classes", or "numbers" for a target that is measured, not chosen.
        rows: how many labels.
        counts: how often each class came, by its value; the most common first, at most 1,000.
        least, greatest: the smallest and largest class, where classes are numbers.
        whole: they are those of a whole epoch.
        batches: how many batches the figures below are from.
        spread: how different the mix of labels is from batch to batch: the mean share of a batch's rows that would
            have to change to have the mix of all: 0 is even.
        expected_spread: what it would be after a true shuffle.
        chance: how probable a spread like this is after a true shuffle, by trying shuffles; 1 where too little was
            drawn to tell.
        single_label_batches: batches in which all rows have the same label.
        trend: the rank correlation of the target with the position, for numbers.

    >>> LabelFacts("classes", 4, {"0": 3, "1": 1}).classes
    2
    """

    kind: Literal["classes", "numbers"]
    rows: int
    counts: dict[str, int] = field(default_factory=dict)
    least: int | None = None
    greatest: int | None = None
    whole: bool = False
    batches: int = 0
    spread: float = 0.0
    expected_spread: float = 0.0
    chance: float = 1.0
    single_label_batches: int = 0
    trend: float = 0.0

    @property
    def classes(self) -> int:
        """How many classes came."""
        return len(self.counts)


@dataclass(frozen=True, slots=True)
class OrderFacts:
    """How the epochs compare.

    Attributes:
        same_order: both epochs had the same rows in the same order; None where that is not known.
        by: what shows it: "content" or "labels".
        batches: how many batches could be compared.
        same_batch: all sampled batches hold the same rows.
        rows: how many different rows the first epoch had, by their content.
        twice: how many rows came once in each of two epochs, with unchanged inputs.
        relabelled: how many of these had another target the second time.
        same_targets: the targets of these rows are the same ones in both epochs, all together.
    """

    same_order: bool | None = None
    by: str = ""
    batches: int = 0
    same_batch: bool = False
    rows: int = 0
    twice: int = 0
    relabelled: int = 0
    same_targets: bool = False


@dataclass(frozen=True, slots=True)
class ChainStep:
    """A transformation of a tf.data.Dataset.

    Attributes:
        name: as tf.data calls it: "map", "shuffle", "batch", ...; "source" for what reads.
        buffer: the buffer of a shuffle.
        count: how often a repeat repeats (-1 without end), or how many a take takes or a skip skips.
        below: for a take or skip, how many elements there are before it; None where that is not known.
        parallel: a map or interleave works on several at once.
        ordered: False where it gives elements in another order from run to run.
        random: a map draws random numbers.
        reshuffles: a shuffle takes another order each time.
        seed: the seeds of a shuffle; None without.
        branches: the chains that are put together, in a zip, a mixture or a concatenation.
        ranks: for each branch of a zip the rank of its only tensor; None where it has several tensors.
    """

    name: str
    buffer: int | None = None
    count: int | None = None
    below: int | None = None
    parallel: bool = False
    ordered: bool = True
    random: bool = False
    reshuffles: bool = True
    seed: tuple[int, int] | None = None
    branches: tuple[tuple[ChainStep, ...], ...] = ()
    ranks: tuple[int | None, ...] = ()


@dataclass(frozen=True, slots=True)
class PairExample:
    """An element whose label is not that of its record."""

    path: str
    record: int
    stored: str
    fed: str
    sureness: float = 1.0


@dataclass(frozen=True, slots=True)
class RecordFacts:
    """What arrived, compared with the records on disk.

    Attributes:
        path: where they are.
        count: how many records there are.
        looked_at: how many were read to be compared with.
        names: their features.
        feature: the feature by which elements were found again; empty where none could be.
        how: "index", "content" (equal values after `change`), "nearest" (the most similar one), or "" without any.
        change: what was undone to find the content: "divided by 255", "cast to float64", ...
        found: elements that were found again.
        elements: how many elements were looked up.
        sureness: how sure the matches are, from 0 to 1.
        label: the feature that the label was compared with; empty where there is none.
        compared: elements whose label was compared.
        agree: those whose label is that of their record.
        by_chance: the share that would agree if labels had been dealt at random.
        mapping: consistent renamings of labels, such as 1 for 'cat'; empty where labels came as they are.
        examples: some elements with another label.
        different: how many different records came in the whole epoch; None where it was not read to its end.
        repeated: how many elements of it were repetitions.
        stored_classes: how many records each class has, by its value as it would be fed; empty where not known.
        class_names: the names of the classes, where the label is declared with some.
        longest_run: the longest run of equal labels in file order.
        file_order: the elements came in the order of the files.
        extreme: for images on disk, as ImageFacts.extreme.
        flat: for images on disk: the share with one colour throughout.
        jumps: for images on disk, as ImageFacts.jumps.
        coloured: how many colour images were compared with their records.
        swapped: how many of them have red where the record has blue.
        wrapped: how many images are a record's with a number added, of which some pixels overflowed a byte.
    """

    path: str
    count: int
    looked_at: int = 0
    names: tuple[str, ...] = ()
    feature: str = ""
    how: str = ""
    change: str = ""
    found: int = 0
    elements: int = 0
    sureness: float = 0.0
    label: str = ""
    compared: int = 0
    agree: int = 0
    by_chance: float = 0.0
    mapping: dict[str, str] = field(default_factory=dict)
    examples: tuple[PairExample, ...] = ()
    different: int | None = None
    repeated: int = 0
    stored_classes: dict[str, int] = field(default_factory=dict)
    class_names: tuple[str, ...] = ()
    longest_run: int = 0
    file_order: bool = False
    extreme: float | None = None
    flat: float | None = None
    jumps: float | None = None
    coloured: int = 0
    swapped: int = 0
    wrapped: int = 0

    def named(self, label: object) -> str:
        """Write a label with the name of its class, where it has one.

        >>> RecordFacts("data", 10, class_names=("cat", "dog")).named(1)
        '1 (dog)'
        """
        return with_class_name(label, self.class_names)


@dataclass(frozen=True, slots=True)
class Observations:
    """All of it.

    Attributes:
        kind: what the pipeline is: "a recordsmith loader", "a tf.data.Dataset", "a PyTorch DataLoader", "an iterable".
        epochs: the sampled epochs.
        form: "pair" (inputs, target), "inputs" alone, or "pair and more".
        failure: what the pipeline raised; empty if nothing.
        columns: all inputs and targets.
        unequal_rows: a batch whose inputs and target have different numbers of rows, as (inputs, target).
        batch_sizes: rows in the sampled batches, without the last of a whole epoch.
        last_batch: rows in the last batch of a whole epoch; None where it was not reached.
        leaks: inputs that hold the target itself.
        endless: the pipeline repeats without end.
        fixed: it is a list, which cannot come in another order.
        sharded: it feeds only one of several ranks' share.
        hangs: where the pipeline is that gave no batch in time; None if it did not hang.
        time_limit: the time that it had for that, in seconds.
        workers: the workers of a DataLoader; None without one.
        source: a file that it reads, where something is wrong with what arrives.
        mirrored: images that are mirrored without their masks or boxes; None where none is.
        same_inputs: pairs of inputs that are the same in every row.
        class_names: the names of the classes by their numbers, where the pipeline or the records know them.
        frozen_augmentation: what is random in the pipeline, where both epochs still have the same rows.
        validation: how the validation data differs; None without it.
        slowest: the step of the chain that takes most of the time; empty where it was not measured.
        notes: what could not be looked at, and why.
    """

    kind: str
    epochs: tuple[EpochFacts, ...] = ()
    form: str = "pair"
    failure: str = ""
    columns: tuple[ColumnFacts, ...] = ()
    unequal_rows: tuple[int, int] | None = None
    batch_sizes: tuple[int, ...] = ()
    last_batch: int | None = None
    leaks: tuple[str, ...] = ()
    endless: bool = False
    fixed: bool = False
    sharded: bool = False
    labels: LabelFacts | None = None
    order: OrderFacts | None = None
    chain: tuple[ChainStep, ...] = ()
    records: RecordFacts | None = None
    model: ModelFacts | None = None
    signal: SignalFacts | None = None
    hangs: str | None = None
    time_limit: float = 60
    workers: WorkerFacts | None = None
    source: SourceFacts | None = None
    mirrored: MirrorFacts | None = None
    same_inputs: tuple[tuple[str, str], ...] = ()
    class_names: tuple[str, ...] = ()
    frozen_augmentation: str = ""
    validation: ValidationFacts | None = None
    slowest: str = ""
    notes: tuple[str, ...] = ()

    @property
    def inputs(self) -> tuple[ColumnFacts, ...]:
        """The inputs."""
        return tuple(column for column in self.columns if column.role == "input")

    @property
    def targets(self) -> tuple[ColumnFacts, ...]:
        """The targets; most pipelines have one."""
        return tuple(column for column in self.columns if column.role == "target")

    @property
    def target(self) -> ColumnFacts | None:
        """The only target; None where there is none, or several."""
        return self.targets[0] if len(self.targets) == 1 else None

    def named(self, label: object) -> str:
        """Write a label with the name of its class, where it is known.

        >>> Observations("a list", class_names=("cat", "dog")).named(1)
        '1 (dog)'
        """
        return with_class_name(label, self.class_names)

    def column(self, name: str) -> ColumnFacts | None:
        """Return an input or target by its name."""
        return next((one for one in self.columns if one.name == name), None)
