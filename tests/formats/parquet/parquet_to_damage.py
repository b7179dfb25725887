"""Makes rows of a Parquet file that is damaged at one place after the other; run in a process of its own.

Each case prints a line: "sound", "named" (an error that names the file), or what else happened.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import recordsmith as rs


def cases(whole: bytes, step: int) -> list[bytes]:
    found = []
    for place in range(0, len(whole), step):
        found.append(whole[:place])
        found.extend(whole[:place] + bytes([whole[place] ^ flip]) + whole[place + 1 :] for flip in (0xFF, 0x01))
    return found


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(folder: str, step: int, first: int) -> None:
    path = Path(folder) / "a.parquet"
    columns = {"n": [1, 2, 3] * 20, "s": ["a", "bb", None] * 20, "l": [[1, 2], [3], []] * 20, "d": [{"x": 0.5}] * 60}
    pq.write_table(pa.table(columns), path, row_group_size=30)
    for number, data in enumerate(cases(path.read_bytes(), step)):
        if number < first:
            continue
        path.write_bytes(data)
        try:
            source = rs.sources.parquet(path)
            source.schema()
            for chunk in source.chunks():
                chunk.load()
            say(f"{number} sound")
        except rs.RecordsmithError as error:
            say(f"{number} named" if error.path == str(path) else f"{number} no path: {error.problem}")
        except Exception as error:  # noqa: BLE001 - whatever it is, the test shows it
            say(f"{number} {error!r}")
    say("done")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
