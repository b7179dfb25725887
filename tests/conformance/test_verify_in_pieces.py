"""One large file verified by several threads: the same count and the same error as by one, wherever it is cut.

The threads begin at places that look like a record's header. What looks like one may lie inside a record: here whole
files of records do.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import recordsmith as rs
from tests.made_records import file_bytes

TOTAL = 17 << 20  # enough for four threads
INNER = file_bytes([bytes([n]) * (n * 7 % 50) for n in range(200)])  # a file of records


def payloads(kind: str) -> list[bytes]:
    random = Random(kind)
    match kind:
        case "small":
            return [random.randbytes(random.randrange(200)) for _ in range(100_000)] + [bytes(7 << 20)]
        case "large":
            return [random.randbytes(random.randrange(3 << 20)) for _ in range(14)]
        case "files in records":
            return [INNER * random.randrange(1, 20) for _ in range(TOTAL // len(INNER) // 9)]
        case "one record full of files":
            return [b"before", INNER * (TOTAL // len(INNER)), b"after"]
        case "a file cut in the middle of a header":
            return [INNER[: random.randrange(len(INNER))] * 10 for _ in range(TOTAL // len(INNER) // 4)]
    return [bytes(TOTAL)]


KINDS = [
    "small",
    "large",
    "files in records",
    "one record full of files",
    "a file cut in the middle of a header",
    "one record of zeros",
]


@pytest.fixture(scope="module", params=KINDS)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    path = tmp_path_factory.mktemp("large") / "data.tfrecord"
    records = payloads(request.param)
    with rs.RecordWriter(path, sync=False) as writer:
        for payload in records:
            writer.write(payload)
    assert path.stat().st_size > TOTAL - (2 << 20)
    return path, len(records)


def test_all_threads_together_count_all_records(made: tuple[Path, int]):
    path, count = made
    for threads in range(1, 6):
        assert rs.open(path).verify(threads) == count


def outcome(path: Path, threads: int) -> tuple[type[Exception], str] | int:
    try:
        return rs.open(path).verify(threads)
    except rs.RecordsmithError as error:
        return type(error), str(error)


def test_damage_is_told_as_by_one_thread(made: tuple[Path, int], tmp_path: Path):
    path, _ = made
    content = bytearray(path.read_bytes())
    random = Random(1)
    damaged = tmp_path / "damaged.tfrecord"
    for _ in range(6):
        places = [random.randrange(len(content)) for _ in range(random.randint(1, 3))]
        for place in places:
            content[place] ^= 1
        damaged.write_bytes(content)
        expected = outcome(damaged, 1)
        assert not isinstance(expected, int)
        for threads in (2, 4):
            assert outcome(damaged, threads) == expected
        for place in places:
            content[place] ^= 1


def test_a_cut_is_told_as_by_one_thread(made: tuple[Path, int], tmp_path: Path):
    path, _ = made
    content = path.read_bytes()
    cut = tmp_path / "cut.tfrecord"
    for size in (len(content) - 1, len(content) - 5000, len(content) // 2, len(content) // 4 * 3 + 1):
        cut.write_bytes(content[:size])
        expected = outcome(cut, 1)
        for threads in (2, 4):
            assert outcome(cut, threads) == expected
