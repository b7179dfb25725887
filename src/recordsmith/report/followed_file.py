"""What the doctor understood of a file: how far its code was followed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recordsmith.wording.numbers import count_text

__all__ = ["FollowedFile", "followed_lines"]

_MOST_LINES = 20
_MOST_NAMED = 4


@dataclass(frozen=True, slots=True)
class FollowedFile:
    """How far the code of one file was followed.

    Attributes:
        path: the file.
        datasets: how many datasets and loaders were followed.
        trained_on: how many of them a model is trained on.
        arrays: how many calls train a model on arrays or tables.
        models: how many models are compiled or trained.
        readers: how many calls of parsers were understood.
        writers: how many places build records.
        splits: how many calls split data into parts.
        not_understood: what gives data or trains and could not be followed, as "`load_data()` from `mylib`".
        stopped: why the file was not followed to its end; empty if it was.
    """

    path: str
    datasets: int = 0
    trained_on: int = 0
    arrays: int = 0
    models: int = 0
    readers: int = 0
    writers: int = 0
    splits: int = 0
    not_understood: tuple[str, ...] = ()
    stopped: str = ""

    @property
    def nothing(self) -> bool:
        """Nothing was followed that a rule could say something about."""
        return not (self.datasets or self.models or self.readers or self.writers or self.splits)

    @property
    def words(self) -> str:
        """Say it in one line.

        >>> FollowedFile("train.py", 3, 1, not_understood=("`load_data()` from `mylib`",)).words
        '3 datasets followed, 1 trained on; not understood: `load_data()` from `mylib`'
        >>> FollowedFile("names.py").words
        'no dataset, model, reader or writer followed'
        """
        parts = []
        if self.datasets:
            parts.append(f"{count_text(self.datasets, 'dataset')} followed")
            parts += [f"{self.trained_on:,} trained on"] if self.trained_on else []
        counts = (
            (self.arrays, "training on arrays", "trainings on arrays"),
            (self.models, "model"),
            (self.readers, "parser"),
            (self.writers, "kind of record", "kinds of record"),
            (self.splits, "split"),
        )
        parts += [count_text(count, *names) for count, *names in counts if count]
        text = ", ".join(parts) or "no dataset, model, reader or writer followed"
        if self.not_understood:
            more = len(self.not_understood) - _MOST_NAMED
            listed = ", ".join(self.not_understood[:_MOST_NAMED])
            text += f"; not understood: {listed}{f' and {more} more' if more > 0 else ''}"
        return f"{text}; {self.stopped}" if self.stopped else text


def followed_lines(files: Sequence[FollowedFile]) -> list[str]:
    """Say of each file how far it was followed; of many, the ones that matter, and how many others there are.

    >>> followed_lines([FollowedFile("a.py", 2, 1)])
    ['Understood: 2 datasets followed, 1 trained on']
    """
    if len(files) == 1:
        return [f"Understood: {files[0].words}"]
    told = [one for one in files if not one.nothing or one.not_understood or one.stopped]
    lines = [f"{one.path}: {one.words}" for one in told[:_MOST_LINES]]
    if len(told) > _MOST_LINES:
        rest = told[_MOST_LINES:]
        datasets, trained_on = sum(one.datasets for one in rest), sum(one.trained_on for one in rest)
        together = f"{count_text(datasets, 'dataset')} followed, {trained_on:,} trained on"
        lines.append(f"{count_text(len(rest), 'more file')}: {together}")
    others = len(files) - len(told)
    if others:
        lines.append(f"{count_text(others, 'file')} without a dataset, model, reader or writer")
    return lines
