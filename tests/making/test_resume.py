"""Runs that were killed go on to the same bytes, and do no finished shard again."""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.formats.source import Chunk, Loaded
from recordsmith.run.staging import pieces
from tests.formats.made_sources import Columns, file_digests, labelled, numbers, rows_of
from tests.making.making_to_kill import Run, nursery

STAGING = ".recordsmith-making"
Start = Callable[..., Run]
Kept = dict[str, tuple[int, int]]


@pytest.fixture(scope="module")
def start() -> Iterator[Start]:
    with nursery() as starter:
        yield starter


def uninterrupted(start: Start, recipe: str, folder: Path, *, seconds: float = 0.0) -> tuple[dict[str, str], int]:
    """What a run makes that nobody disturbs: the digest of each file; and how many calls it takes."""
    answer = start(recipe, folder / "whole", seconds=seconds).wait()
    assert answer["error"] is None, answer["error"]
    return file_digests(folder / "whole"), answer["calls"]


def finished_shards(out: Path) -> Kept:
    """The shards that a killed run had finished, wherever they lie, by inode and time of writing."""
    names = {json.loads(path.read_text())["file"] for path in (out / STAGING / "written").glob("*.json")}
    names |= {path.name for path in out.glob("*.tfrecord*")}
    found = [path for name in names for path in (out / name, out / STAGING / "shards" / name) if path.exists()]
    return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in found}


def assert_whole_or_hidden(out: Path, expected: dict[str, str]) -> None:
    """What has its final name is as it will be; all else is hidden."""
    for path in out.iterdir() if out.exists() else ():
        if not path.name.startswith("."):
            assert file_digests(out)[path.name] == expected[path.name], f"{path.name} is half-written"


def assert_kept(out: Path, kept: Kept) -> None:
    for name, facts in kept.items():
        stat = (out / name).stat()
        assert (stat.st_ino, stat.st_mtime_ns) == facts, f"{name} was finished, and was written again"


def moments(calls: int, kills: int, seed: int) -> list[int]:
    """Moments spread over a whole run, each somewhere in its part of it, with the very end among them."""
    chance = random.Random(seed)
    edges = np.linspace(1, calls, kills).astype(int)
    return [chance.randint(int(a), max(int(a), int(b) - 1)) for a, b in pairwise(edges)] + [calls]


@pytest.mark.parametrize(("recipe", "kills"), [("everything", 26), ("synthetic", 7), ("words", 7), ("dealt", 9)])
def test_killed_at_any_call(recipe: str, kills: int, start: Start, quick_path: Path):
    expected, calls = uninterrupted(start, recipe, quick_path)
    states = set()
    for number, moment in enumerate(moments(calls, kills, seed=3)):
        out = quick_path / str(number)
        assert start(recipe, out, kill_at=moment).wait()["status"] == -9
        assert_whole_or_hidden(out, expected)
        kept = finished_shards(out)
        states.add((len(kept), (out / STAGING / "chunks.json").exists(), (out / "recordsmith.json").exists()))
        answer = start(recipe, out, resume=True).wait()
        assert answer["error"] is None, f"after a kill at call {moment} of {calls}: {answer['error']}"
        assert file_digests(out) == expected, f"after a kill at call {moment} of {calls}"
        assert_kept(out, kept)
    assert len(states) >= 3, "the kills were spread over the run"


def test_killed_again_and_again(start: Start, quick_path: Path):
    """Each run gets a little further before it is killed; the last one finds little to do."""
    expected, calls = uninterrupted(start, "everything", quick_path)
    out = quick_path / "out"
    kept: Kept = {}
    kills = 0
    while True:
        answer = start("everything", out, resume=True, kill_at=calls * (3 + kills) // 16).wait()
        if answer["status"] == 0:
            break
        kills += 1
        assert kills < 30, "it gets nowhere"
        assert_whole_or_hidden(out, expected)
        assert_kept_or_there(out, kept)
        kept = {**kept, **finished_shards(out)}
    assert answer["error"] is None
    assert kills >= 4
    assert file_digests(out) == expected
    assert_kept(out, kept)


def assert_kept_or_there(out: Path, kept: Kept) -> None:
    now = finished_shards(out)
    assert {name: now.get(name) for name in kept} == kept


@pytest.mark.parametrize(("recipe", "seconds", "kills"), [("everything", 0.01, 6), ("mapped", 0.01, 3)])
def test_killed_from_outside(recipe: str, seconds: float, kills: int, start: Start, quick_path: Path):
    """At moments that have nothing to do with what the run does, in native code and in worker processes as well."""
    expected, _ = uninterrupted(start, recipe, quick_path)
    begun = time.monotonic()  # now that the nursery is ready
    start(recipe, quick_path / "timed", seconds=seconds).wait()
    lasted = time.monotonic() - begun
    killed = 0
    chance = random.Random(5)
    for number in range(kills):
        out = quick_path / str(number)
        run = start(recipe, out, seconds=seconds)
        time.sleep(lasted * (number + chance.random()) / kills)
        run.kill()
        killed += run.wait()["status"] == -9
        assert_whole_or_hidden(out, expected)
        kept = finished_shards(out)
        answer = start(recipe, out, resume=True).wait()
        assert answer["error"] is None, answer["error"]
        assert file_digests(out) == expected
        assert_kept(out, kept)
    assert killed, "at least one of them was killed before it was over"


@pytest.mark.parametrize("recipe", ["everything", "mapped"])
def test_control_c(recipe: str, start: Start, quick_path: Path):
    """On threads and in worker processes: it ends at once, leaves nothing under a final name, and can be resumed."""
    expected, _ = uninterrupted(start, recipe, quick_path)
    out = quick_path / "out"
    run = start(recipe, out, seconds=0.2)
    while not any(path.stat().st_size for path in (out / STAGING / "pieces").glob("*/*.records")):
        time.sleep(0.01)
    run.interrupt()
    answer = run.wait()
    assert answer["error"] == "KeyboardInterrupt: "
    assert os.listdir(out) == [STAGING]
    assert start(recipe, out, resume=True).wait()["error"] is None
    assert file_digests(out) == expected


# --- what a killed run can leave behind, made by hand ---


@pytest.fixture(autouse=True)
def one_chunk_a_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "_PIECE_ROWS", 1)


class StopError(Exception):
    pass


def stop_at(phase: str, times: int = 1) -> Callable[[Any], None]:
    """Break a run off when it tells for the nth time that it is in a phase."""
    calls = 0

    def on_progress(progress: Any) -> None:
        nonlocal calls
        calls += progress.phase == phase
        if calls == times:
            raise StopError

    return on_progress


def stopped(out: Path, phase: str, times: int = 1, **options: Any) -> Path:
    """Make a dataset of a thousand numbers in five shards, up to some point."""
    with pytest.raises(StopError):
        rs.make(numbers(1000), out, name="data", shards=5, on_progress=stop_at(phase, times), **options)
    return out / STAGING


@pytest.fixture
def expected(quick_path: Path) -> dict[str, str]:
    rs.make(numbers(1000), quick_path / "whole", name="data", shards=5)
    return file_digests(quick_path / "whole")


def resumed(out: Path, **options: Any) -> dict[str, str]:
    rs.make(numbers(1000), out, name="data", shards=5, resume=True, **options)
    return file_digests(out)


def parts_of(staging: Path, piece: int) -> dict[str, Path]:
    """The files of a piece by their endings."""
    return {"".join(path.suffixes): path for path in (staging / "pieces").glob(f"*/{piece:08}-*")}


def damaged(data: bytes) -> dict[str, bytes | None]:
    """What a kill or a power cut may make of a file."""
    changed = bytearray(data)
    changed[len(data) // 2] ^= 1
    return {
        "gone": None,
        "short": data[:-5],
        "zeros": bytes(len(data)),
        "longer": data + b"\0",
        "changed": bytes(changed),
    }


@pytest.mark.parametrize("damage", ["gone", "short", "zeros", "longer", "changed"])
@pytest.mark.parametrize("file", [".records", ".keys", ".json"])
@pytest.mark.parametrize("phase", ["reading", "writing"])
def test_a_damaged_piece_is_made_again(phase: str, file: str, damage: str, expected, quick_path: Path):
    staging = stopped(quick_path / "out", phase, 4)
    path = parts_of(staging, 1)[file]
    data = damaged(path.read_bytes())[damage]
    if data is None:
        path.unlink()
    else:
        path.write_bytes(data)
    assert resumed(quick_path / "out") == expected


def test_pieces_without_a_description_do_not_count(expected, quick_path: Path):
    staging = stopped(quick_path / "out", "reading", 4)
    (pieces_folder,) = (staging / "pieces").iterdir()
    attempt = "00000004-0a1b2c3d"
    for name in (f"{attempt}.records", f"{attempt}.keys", f"{attempt}.partial", "00000007-00000008.json"):
        (pieces_folder / name).write_bytes(b'{"first": 4, "la')
    assert resumed(quick_path / "out") == expected


def test_only_missing_chunks_are_read_again(expected, quick_path: Path):
    staging = stopped(quick_path / "out", "reading", 4)
    parts_of(staging, 1)[".json"].unlink()
    loaded: list[int] = []
    source = NotedColumns(numbers(1000), loaded)
    rs.make(source, quick_path / "out", name="data", shards=5, resume=True, workers=1)
    assert file_digests(quick_path / "out") == expected
    assert loaded == [1, *range(4, 10)]


class NotedColumns(Columns):
    """Notes the numbers of the chunks that are loaded."""

    def __init__(self, columns: Columns, loaded: list[int]) -> None:
        super().__init__(columns.columns, columns.schema())
        self.loaded = loaded

    def chunks(self) -> Iterator[Chunk]:
        return (NotedChunk(chunk, number, self.loaded) for number, chunk in enumerate(super().chunks()))


@dataclass
class NotedChunk(Chunk):
    chunk: Chunk
    number: int
    loaded: list[int]

    def load(self) -> Loaded:
        self.loaded.append(self.number)
        return self.chunk.load()


@pytest.mark.parametrize("text", [b"", b"\0" * 40, b'{"chunks": 3}'], ids=["empty", "zeros", "wrong"])
def test_a_damaged_number_of_chunks(text: bytes, expected, quick_path: Path):
    staging = stopped(quick_path / "out", "writing", 3)
    (staging / "chunks.json").write_bytes(text)
    assert resumed(quick_path / "out") == expected


@pytest.mark.parametrize(
    "text", [b"", b"\0" * 40, b'{"file": "../out", "sha256": ""}'], ids=["empty", "zeros", "hostile"]
)
def test_a_damaged_description_of_a_shard(text: bytes, expected, quick_path: Path):
    staging = stopped(quick_path / "out", "writing", 3)
    min((staging / "written").iterdir()).write_bytes(text)
    assert resumed(quick_path / "out") == expected


def test_leftovers_of_a_killed_writer_do_not_get_out(expected, quick_path: Path):
    staging = stopped(quick_path / "out", "writing", 3)
    (staging / "shards" / ".data-train.tfrecord-00004-of-00005.77-ab.partial").write_bytes(b"half")
    assert resumed(quick_path / "out") == expected


def test_a_finished_shard_that_is_gone_or_short_is_written_again(expected, quick_path: Path):
    staging = stopped(quick_path / "out", "checking", 1)
    first, second = sorted((staging / "shards").iterdir())[:2]
    first.unlink()
    os.truncate(second, 100)
    assert resumed(quick_path / "out") == expected


def test_a_finished_shard_that_changed_is_found_and_written_again(expected, quick_path: Path):
    """At the latest by resuming once more, as the message says."""
    staging = stopped(quick_path / "out", "checking", 1)
    shard = min((staging / "shards").iterdir())
    data = bytearray(shard.read_bytes())
    data[50] ^= 1
    shard.write_bytes(data)
    try:
        found = resumed(quick_path / "out")
    except rs.RecordsmithError:
        found = resumed(quick_path / "out")
    assert found == expected


def test_a_staging_folder_that_was_not_removed_to_the_end_goes_with_the_next_resume(expected, quick_path: Path):
    rs.make(numbers(1000), quick_path / "out", name="data", shards=5)
    (quick_path / "out" / STAGING).mkdir()
    (quick_path / "out" / STAGING / "keys").write_bytes(bytes(1000))
    assert resumed(quick_path / "out") == expected


# --- refusing ---


def test_an_unfinished_run_is_neither_hidden_nor_overwritten(quick_path: Path):
    stopped(quick_path / "out", "reading", 4)
    with pytest.raises(rs.RecordsmithError, match=r"unfinished run[\s\S]*resume=True"):
        rs.make(numbers(1000), quick_path / "out")
    with pytest.raises((rs.RecordsmithError, FileNotFoundError)):
        rs.open(quick_path / "out")


def test_overwrite_starts_over(expected, quick_path: Path):
    stopped(quick_path / "out", "writing", 2, seed=7)
    rs.make(numbers(1000), quick_path / "out", name="data", shards=5, overwrite=True)
    assert file_digests(quick_path / "out") == expected


def other_map(row: dict[str, Any]) -> dict[str, Any]:
    return row


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"seed": 1}, r"seed was 0 and is 1"),
        ({"shards": 4}, r"shards was 5 and is 4"),
        ({"split": "train=0.5,test=0.5"}, r"split"),
        ({"shuffle": False}, r"shuffle was true and is false"),
        ({"compression": "gzip"}, r"compression was null and is .gzip"),
        ({"on_error": "skip"}, r"on_error"),
        ({"map": other_map}, r"map was null"),
        ({"name": "other"}, r"name was"),
        ({"schema": rs.Schema({"n": rs.Scalar("int32")})}, r"schema"),
        ({"cast": True}, r"cast was false and is true"),
    ],
    ids=lambda case: next(iter(case)) if isinstance(case, dict) else "",
)
@pytest.mark.parametrize("state", ["unfinished", "finished"])
def test_resuming_with_other_options_says_which_changed(state: str, options, said: str, quick_path: Path):
    out = quick_path / "out"
    if state == "unfinished":
        stopped(out, "writing", 2)
    else:
        rs.make(numbers(1000), out, name="data", shards=5)
    before = file_digests(out)
    with pytest.raises(rs.RecordsmithError, match=said):
        rs.make(numbers(1000), out, **{"name": "data", "shards": 5, "resume": True, **options})
    assert file_digests(out) == before


@pytest.mark.parametrize("option", ["workers", "max_rejects", "on_progress"])
def test_options_that_do_not_change_the_files_may_differ(option: str, expected, quick_path: Path):
    stopped(quick_path / "out", "writing", 2)
    value: Any = {"workers": 3, "max_rejects": 0.9, "on_progress": lambda _: None}[option]
    assert resumed(quick_path / "out", **{option: value}) == expected


def test_resuming_with_another_source_says_so(quick_path: Path):
    stopped(quick_path / "out", "writing", 2)
    with pytest.raises(rs.RecordsmithError, match=r"source\.digest was"):
        rs.make(numbers(999), quick_path / "out", name="data", shards=5, resume=True)


def test_functions_that_differ_in_what_they_hold_are_different(quick_path: Path):
    def times(factor: int) -> Callable[[dict[str, Any]], dict[str, Any]]:
        return lambda row: {"n": int(row["n"]) * factor}

    schema = rs.Schema({"n": rs.Scalar("int64")})
    with pytest.raises(StopError):
        rs.make(
            numbers(300), quick_path / "out", schema=schema, map=times(2), workers=1, on_progress=stop_at("reading", 2)
        )
    with pytest.raises(rs.RecordsmithError, match="map was"):
        rs.make(numbers(300), quick_path / "out", schema=schema, map=times(3), workers=1, resume=True)
    made = rs.make(numbers(300), quick_path / "out", schema=schema, map=times(2), workers=1, resume=True)
    assert made.rows == 300


def test_resuming_what_is_done_does_nothing(expected, quick_path: Path):
    made = rs.make(numbers(1000), quick_path / "out", name="data", shards=5)
    before = {path: path.stat().st_mtime_ns for path in (quick_path / "out").iterdir()}
    again = rs.make(numbers(1000), quick_path / "out", name="data", shards=5, resume=True)
    assert again == made
    assert {path: path.stat().st_mtime_ns for path in (quick_path / "out").iterdir()} == before
    assert file_digests(quick_path / "out") == expected


def test_resuming_where_nothing_is_starts(expected, quick_path: Path):
    assert resumed(quick_path / "out") == expected


def test_two_at_the_same_time(expected, quick_path: Path):
    """The second one is refused, whatever it asks for, and the first one is not disturbed."""
    out = quick_path / "out"
    going, go_on = threading.Event(), threading.Event()

    def wait(progress: Any) -> None:
        if progress.phase == "writing":
            going.set()
            assert go_on.wait(60)

    first = threading.Thread(
        target=rs.make, args=(numbers(1000), out), kwargs={"name": "data", "shards": 5, "on_progress": wait}
    )
    first.start()
    try:
        assert going.wait(60)
        refused: list[dict[str, Any]] = [{"resume": True}, {"overwrite": True}]
        for options in refused:
            with pytest.raises(rs.RecordsmithError, match="Another run is writing to this output"):
                rs.make(numbers(1000), out, name="data", shards=5, **options)
        with pytest.raises(rs.RecordsmithError):
            rs.make(numbers(1000), out, name="data", shards=5)
    finally:
        go_on.set()
        first.join()
    assert file_digests(out) == expected


# --- breaking off ---


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, RuntimeError])
@pytest.mark.parametrize("phase", ["reading", "writing", "checking"])
def test_breaking_off_leaves_nothing_but_what_resume_takes(phase: str, error, expected, quick_path: Path):
    def break_off(progress: Any) -> None:
        if progress.phase == phase and progress.done:
            raise error

    out = quick_path / "out"
    with pytest.raises(error):
        rs.make(numbers(1000), out, name="data", shards=5, on_progress=break_off)
    assert os.listdir(out) == [STAGING]
    assert resumed(out) == expected


class BrokenColumns(Columns):
    """A source that fails after some chunks, as a disk that is unplugged does."""

    broken = True

    def chunks(self) -> Iterator[Any]:
        for number, chunk in enumerate(super().chunks()):
            if number == 6 and self.broken:
                raise PermissionError(13, "Permission denied", "part-6.csv")
            yield chunk


@pytest.mark.parametrize("workers", [1, 2])
def test_a_source_that_cannot_be_read_any_further(workers: int, quick_path: Path):
    source = BrokenColumns({"n": np.arange(1000)}, rs.Schema({"n": rs.Scalar("int64")}))
    with pytest.raises(PermissionError, match="part-6"):
        rs.make(source, quick_path / "out", workers=workers)
    assert os.listdir(quick_path / "out") == [STAGING]
    source.broken = False
    assert rs.make(source, quick_path / "out", workers=workers, resume=True).rows == 1000
    assert sorted(rows_of(quick_path / "out", "train")) == list(range(1000))


# --- an older dataset in the folder ---


def test_the_old_dataset_is_there_until_the_new_one_is_whole(expected, quick_path: Path):
    out = quick_path / "out"
    rs.make(labelled([0, 1] * 50), out, name="old", split="train=0.5,test=0.5", shards=2)
    before = file_digests(out)
    stopped(out, "checking", 5, overwrite=True)
    assert {name: digest for name, digest in file_digests(out).items() if not name.startswith(STAGING)} == before
    assert len(rs.open(out, split="train")) == 50
    assert resumed(out) == expected, "nothing of the old one is left"
