"""What was observed of how rows are loaded: worker processes, files, and images that are mirrored."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["MirrorFacts", "SourceFacts", "WorkerFacts"]


@dataclass(frozen=True, slots=True)
class WorkerFacts:
    """The workers of a PyTorch DataLoader, and the data that they are given.

    Attributes:
        count: how many workers there are; 0 where the main process loads.
        iterable: the dataset is an IterableDataset, of which each worker has a copy.
        drop_last: a last batch that is not full is left out.
        same_rows: every worker gives the same rows as the first one.
        shared_generator: the attribute of the dataset with a generator that its rows draw from; empty without one.
        seeded_alike: what has the same random numbers: "workers", "epochs", or nothing.
        reseeds: which random numbers the dataset seeds anew for each row: "numpy", "random", or nothing.
        changed_field: the field of the dataset in which a row changes when it is asked for; empty without one.
        needs_set_epoch: the type of a sampler whose `set_epoch` was never called; empty without one.
        subsets: how many rows the Subsets have that the program made of this dataset.
    """

    count: int
    iterable: bool = False
    drop_last: bool = False
    same_rows: bool = False
    shared_generator: str = ""
    seeded_alike: str = ""
    reseeds: str = ""
    changed_field: str = ""
    needs_set_epoch: str = ""
    subsets: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """The first file in which something is wrong, of those that a pipeline reads, or the first of all.

    Attributes:
        path: the file.
        files: how many files there are.
        compression: that of the file: "gzip", "zlib" or "none".
        expected_compression: that which the pipeline was told; None where it is not known.
        damage: what reading it to the end says; empty if it is undamaged.
        looks_like: what it is instead of a TFRecord file; empty if it is one.
        payload: what its records are: "example", "sequence_example", ...
        names: the names of the features, or of the feature lists.
    """

    path: str
    files: int = 1
    compression: str = "none"
    expected_compression: str | None = None
    damage: str = ""
    looks_like: str = ""
    payload: str = ""
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MirrorFacts:
    """Images that came in two epochs, each with the same mask or boxes.

    Attributes:
        kind: what is the same: "mask" or "boxes".
        name: the input or target that holds it; empty where it has no name.
        twice: how many images came twice with it.
        mirrored: how many of these are mirrored in one epoch and not in the other.
        axis: how they are mirrored most often: "left to right" or "upside down".
    """

    kind: str
    name: str
    twice: int
    mirrored: int
    axis: str
