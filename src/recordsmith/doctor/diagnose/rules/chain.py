"""Rules on the graph of a tf.data.Dataset, read back from the object itself."""

from __future__ import annotations

from collections.abc import Iterator

from recordsmith.doctor.diagnose.observing.observations import ChainStep, Observations
from recordsmith.rules import Finding, Severity, rule

__all__ = ["CHAIN_RULES", "all_steps"]

_BATCHING = ("batch", "padded_batch", "ragged_batch")
_OPENING = ("interleave", "flat_map")  # after these, elements are rows; before them often files


@rule("T050", "fed-batch-before-shuffle", Severity.WARNING)
def batch_before_shuffle(observed: Observations) -> Iterator[Finding]:
    """The dataset is batched first and shuffled afterwards, so that only whole batches are shuffled.

    Why it matters:
        The rows within a batch stay together in every epoch, in the order of the files.

    Example:
        `dataset.batch(32).shuffle(1000)`

    Fix:
        `dataset.shuffle(10_000).batch(32)`
    """
    for chain in _chains(observed.chain):
        batched = shuffled = False
        rows = _rows_part(chain)
        for place, step in enumerate(rows):
            again = any(other.name in _BATCHING for other in rows[place:])  # then the first ones are windows
            if step.name in _BATCHING:
                batched = True
            elif step.name == "unbatch":
                batched = False
            elif step.name == "shuffle" and not batched:
                shuffled = True
            elif step.name == "shuffle" and not shuffled and not again:
                yield batch_before_shuffle.finding(
                    "Batches are shuffled, not rows: .batch() comes before .shuffle().",
                    quoted="dataset.batch(n).shuffle(m)",
                    corrected="dataset.shuffle(m).batch(n)",
                )
                break


@rule("T051", "fed-repeat-before-shuffle", Severity.WARNING)
def repeat_before_shuffle(observed: Observations) -> Iterator[Finding]:
    """The dataset is repeated first and shuffled afterwards, so that epochs run into each other.

    Why it matters:
        Around the end of an epoch some rows come twice before others have come once.

    Example:
        `dataset.repeat().shuffle(1000).batch(32)`

    Fix:
        `dataset.shuffle(1000).repeat().batch(32)`
    """
    for chain in _chains(observed.chain):
        names = [step.name for step in _rows_part(chain)]
        if (
            "repeat" in names
            and "shuffle" in names[names.index("repeat") :]
            and "shuffle" not in names[: names.index("repeat")]
        ):
            yield repeat_before_shuffle.finding(
                "Epochs run into each other: .repeat() comes before .shuffle().",
                quoted="dataset.repeat().shuffle(m)",
                corrected="dataset.shuffle(m).repeat()",
            )


@rule("T052", "shuffled-streams-zipped", Severity.ERROR)
def shuffled_streams_zipped(observed: Observations) -> Iterator[Finding]:
    """Features and labels are two datasets that are zipped after at least one of them was shuffled.

    Why it matters:
        Each stream has its own random order: nearly every example gets the label of another one, and no error is
        raised.

    Example:
        `tf.data.Dataset.zip((images.shuffle(1000), labels.shuffle(1000)))`

    Fix:
        `tf.data.Dataset.zip((images, labels)).shuffle(1000)`; better, keep both in one record.
    """
    for step in all_steps(observed.chain):
        if step.name != "zip" or len(step.branches) < 2 or any(rank is None for rank in step.ranks):
            continue
        ranks = [rank for rank in step.ranks if rank is not None]
        if min(ranks) > 1 or max(ranks) == min(ranks):
            continue  # two streams of the same kind, such as images and images, need not belong together
        orders = [
            tuple((one.buffer, one.seed, one.reshuffles) for one in branch if one.name == "shuffle")
            for branch in step.branches
        ]
        unordered = [branch for branch in step.branches if any(not one.ordered for one in branch)]
        shuffled = [order for order in orders if order]
        if not shuffled and not unordered:
            continue
        same = len(set(orders)) == 1 and all(seed is not None for order in orders for _, seed, _ in order)
        if same and not unordered:
            continue
        yield shuffled_streams_zipped.finding(
            f"{len(shuffled)} of {len(step.branches)} zipped streams are shuffled"
            f"{', each on its own' if len(shuffled) > 1 else ''}: features and labels do not stay together."
            if shuffled
            else "A zipped stream is read in its own order (deterministic=False): features and labels do not "
            "stay together.",
            quoted="tf.data.Dataset.zip((features.shuffle(n), labels.shuffle(n)))",
            corrected="tf.data.Dataset.zip((features, labels)).shuffle(n)",
        )


@rule("T053", "random-steps-cached", Severity.WARNING)
def random_steps_cached(observed: Observations) -> Iterator[Finding]:
    """A shuffle or a random augmentation comes before `.cache()`.

    Why it matters:
        The cache keeps the first result: every epoch has the same order and the same augmented images.

    Example:
        `dataset.map(augment).shuffle(1000).cache()`

    Fix:
        `dataset.cache().shuffle(1000).map(augment)`
    """
    for chain in _chains(observed.chain):
        rows = _rows_part(chain)
        names = [step.name for step in rows]
        if "cache" not in names:
            continue
        place = len(names) - 1 - names[::-1].index("cache")
        before, after = rows[:place], names[place:]
        if any(step.random for step in before):
            yield random_steps_cached.finding(
                "A map that uses random numbers comes before .cache(): every epoch has the same augmented rows.",
                corrected="dataset.cache().map(augment)",
            )
        elif any(step.name == "shuffle" for step in before) and "shuffle" not in after:
            yield random_steps_cached.finding(
                "The shuffle comes before .cache(): every epoch has the same order.",
                corrected="dataset.cache().shuffle(n)",
            )


@rule("T054", "fed-without-prefetch", Severity.INFO)
def no_prefetch(observed: Observations) -> Iterator[Finding]:
    """The dataset does not prefetch.

    Why it matters:
        While the model computes, no batch is prepared, and while a batch is prepared, the model waits.

    Example:
        `dataset.map(parse).batch(32)` as the whole pipeline.

    Fix:
        `.prefetch(tf.data.AUTOTUNE)` as the last step.
    """
    if len(observed.chain) > 1 and not any(step.name == "prefetch" for step in observed.chain[-3:]):
        yield no_prefetch.finding("The dataset ends without .prefetch().", corrected=".prefetch(tf.data.AUTOTUNE)")


@rule("T055", "map-one-by-one", Severity.INFO)
def map_one_by_one(observed: Observations) -> Iterator[Finding]:
    """A map processes one row at a time.

    Why it matters:
        One core decodes and augments, and the others are idle.

    Example:
        `dataset.map(decode_and_resize)`

    Fix:
        `dataset.map(decode_and_resize, num_parallel_calls=tf.data.AUTOTUNE)`
    """
    rows = _rows_part(observed.chain)
    batched = next((place for place, step in enumerate(rows) if step.name in _BATCHING), 0)
    maps = [step for step in rows[:batched] if step.name == "map"]
    if maps and not any(step.parallel for step in maps):
        yield map_one_by_one.finding(
            f"{len(maps)} .map() {'works' if len(maps) == 1 else 'work'} on one row at a time.",
            corrected="dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE)",
        )


@rule("T056", "split-after-reshuffle", Severity.WARNING)
def split_after_reshuffle(observed: Observations) -> Iterator[Finding]:
    """A part is taken with `take` or `skip` after a shuffle that gives another order in each epoch.

    It is an info where only a small part is taken, as for a look at some rows.

    Why it matters:
        Each epoch takes other rows: what is validated in one epoch is trained on in the next, and the validation data
        leaks into training.

    Example:
        `dataset = dataset.shuffle(1000)`, `train = dataset.take(800)`, `val = dataset.skip(800)`.

    Fix:
        `dataset.shuffle(1000, reshuffle_each_iteration=False)` before the split, and another `.shuffle(1000)` for the
        training part after it.
    """
    for chain in _chains(observed.chain):
        shuffled = False
        for step in _rows_part(chain):
            if step.name == "shuffle":
                shuffled = shuffled or step.reshuffles
            elif step.name in ("repeat", "cache"):
                shuffled = False  # a part of endless rows is an epoch, and a cache keeps the first order
            elif step.name in ("take", "skip") and shuffled and step.count:
                if step.below is not None and (step.count >= step.below or step.count < 0):
                    continue
                known = step.below is not None and step.count >= 0.4 * step.below
                yield split_after_reshuffle.finding(
                    f".{step.name}({step.count}) comes after a shuffle that takes another order in each epoch: if the "
                    "other rows are used for validation, they leak into training.",
                    corrected="dataset.shuffle(n, reshuffle_each_iteration=False)",
                    severity=Severity.WARNING if known or step.name == "skip" else Severity.INFO,
                )
                break


@rule("T057", "augmentation-repeats", Severity.WARNING)
def augmentation_repeats(observed: Observations) -> Iterator[Finding]:
    """A map draws random numbers, and two epochs still have exactly the same rows.

    Why it matters:
        Each row is augmented in the same way in every epoch: the model sees one version of it, and overfits as without
        augmentation.

    Example:
        `tf.image.stateless_random_flip_left_right(image, seed=(1, 2))`: a constant seed gives the same flip for every
        image; a seed that is drawn in Python is a constant of the graph.

    Fix:
        Take the seed from `tf.data.Dataset.counter()` or a `tf.random.Generator`, or use the functions that are not
        stateless: `tf.image.random_flip_left_right(image)`.
    """
    if observed.frozen_augmentation and not any(step.name == "cache" for step in all_steps(observed.chain)):
        yield augmentation_repeats.finding(
            f"{observed.frozen_augmentation} draws random numbers, and both epochs have the same rows: the "
            "augmentation is the same in every epoch."
        )


def _rows_part(chain: tuple[ChainStep, ...]) -> tuple[ChainStep, ...]:
    """Return the steps after the last one that opens files or windows, whose elements are rows."""
    places = [place for place, step in enumerate(chain) if step.name in _OPENING]
    return chain[places[-1] :] if places else chain


def _chains(chain: tuple[ChainStep, ...]) -> Iterator[tuple[ChainStep, ...]]:
    """Yield the chain, and those of the branches that are zipped in it."""
    if chain:
        yield chain
    for step in chain:
        for branch in step.branches:
            yield from _chains(branch)


def all_steps(chain: tuple[ChainStep, ...]) -> Iterator[ChainStep]:
    """Yield the steps of a chain and of all that is put together in it.

    >>> [step.name for step in all_steps((ChainStep("source"), ChainStep("batch")))]
    ['source', 'batch']
    """
    for one in _chains(chain):
        yield from one


CHAIN_RULES = (
    batch_before_shuffle,
    repeat_before_shuffle,
    shuffled_streams_zipped,
    random_steps_cached,
    no_prefetch,
    map_one_by_one,
    split_after_reshuffle,
    augmentation_repeats,
)
