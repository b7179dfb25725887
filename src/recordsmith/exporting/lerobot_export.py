"""`rs.export(..., to="lerobot")`: episodes as a folder of LeRobot."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable

from recordsmith.dataset import StoredDataset
from recordsmith.dataset.layout import DatasetLayout
from recordsmith.errors import RecordsmithError, advise
from recordsmith.formats.lerobot.layout import is_lerobot
from recordsmith.formats.lerobot.writer import LeRobotWriter
from recordsmith.schema import Schema

__all__ = ["export_episodes"]


def export_episodes(
    splits: dict[str, tuple[str, ...]],
    schema: Schema,
    out: str,
    *,
    overwrite: bool,
    report: Callable[[int, int], object],
) -> tuple[int, int, tuple[str, ...]]:
    """Write episodes, and return how many there are, the bytes of all files, and the features that were left out.

    Args:
        splits: the files of each split, in the order in which their episodes are numbered.
        schema: what is in a record.
        out: the folder; it gets its name when it is whole.
        overwrite: replace a folder of that name.
        report: is called with how many episodes are done, and how many there are.
    """
    exists = os.path.lexists(out)
    if exists and not (overwrite and is_lerobot(out)):
        raise RecordsmithError(
            "The output already exists.",
            path=out,
            advice="Choose another folder."
            if overwrite
            else advise("Choose another folder, or replace a LeRobot folder with {overwrite}.", overwrite=True),
        )
    parent = os.path.dirname(os.path.abspath(out))
    os.makedirs(parent, exist_ok=True)
    part = tempfile.mkdtemp(prefix=f".{os.path.basename(out)}.", suffix=".partial", dir=parent)
    try:
        writer = LeRobotWriter(part, schema)
        try:
            datasets = {name: StoredDataset(DatasetLayout(files), schema=schema) for name, files in splits.items()}
            total = sum(map(len, datasets.values()))
            done, ranges = 0, {}
            for name, dataset in datasets.items():
                first = done
                for row in dataset:
                    writer.add(row)
                    done += 1
                    report(done, total)
                ranges[name] = f"{first}:{done}"
            writer.finish(ranges)
        finally:
            writer.close()
        size = sum(os.path.getsize(os.path.join(place, name)) for place, _, names in os.walk(part) for name in names)
        os.chmod(part, 0o755)  # noqa: S103 - as a folder made by mkdir; the temporary one is for its owner alone
        old = f"{part}.old"
        if exists:
            os.rename(out, old)
        os.rename(part, out)
        shutil.rmtree(old, ignore_errors=True)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    return done, size, writer.left_out
