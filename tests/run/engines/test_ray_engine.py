"""Runs on a Ray cluster of two nodes end with the files of a run on one machine."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import recordsmith as rs
from recordsmith.cli import main
from recordsmith.facts import divided_survey
from recordsmith.images import encode_image
from recordsmith.making.sources import row_stream
from recordsmith.run.engines import ray_engine, ray_tasks
from recordsmith.run.shards import dealing, shard_writing, shuffling
from tests.formats.made_sources import file_digests, labelled, numbers
from tests.making.making_to_kill import RECIPES

pytestmark = pytest.mark.usefixtures("ray_cluster")
STAGING = ".recordsmith-making"


@pytest.mark.parametrize("recipe", ["everything", "words", "mapped"])
def test_the_files_are_those_of_one_machine(recipe: str, quick_path: Path) -> None:
    """Rejects, groups, stratified splits, balance, a vocabulary, and the user's function."""
    source, options = RECIPES[recipe](0.0)
    local = rs.make(source, quick_path / "local", name="data", **options)
    phases: list[str] = []
    on_ray = rs.make(
        RECIPES[recipe](0.0)[0],
        quick_path / "ray",
        name="data",
        engine="ray",
        on_progress=lambda progress: phases.append(progress.phase),
        **{**options, "workers": None},
    )
    assert file_digests(quick_path / "ray") == file_digests(quick_path / "local")
    assert on_ray.splits == local.splits
    assert list(dict.fromkeys(phases))[:2] == ["reading", "ordering"]
    assert list(dict.fromkeys(phases))[-2:] == ["writing", "checking"]


def test_splits_that_are_too_large_for_random_reads(quick_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records are distributed over buckets by many tasks, also those that are written several times."""
    source = labelled([n % 5 // 4 for n in range(4000)], names=("cat", "dog"))
    options: dict[str, Any] = {"name": "data", "split": "train=0.8,test=0.2", "balance": "oversample", "shards": 4}
    rs.make(source, quick_path / "local", **options)
    monkeypatch.setattr(shuffling, "BUCKETS_ABOVE_BYTES", 1000)
    monkeypatch.setattr(shuffling, "_BUCKET_BYTES", 40_000)
    monkeypatch.setattr(shuffling, "_PIECE_BYTES", 9000)
    monkeypatch.setattr(dealing, "_TASK_BYTES", 30_000)
    dealt: list[int] = []
    real = dealing.deal_buckets

    def noted(*given: Any) -> Any:
        found = real(*given)
        dealt.append(0 if found is None else len(found.dealt))
        return found

    monkeypatch.setattr(shard_writing, "deal_buckets", noted)
    rs.make(source, quick_path / "ray", engine="ray", **options)
    assert file_digests(quick_path / "ray") == file_digests(quick_path / "local")
    assert dealt[0] > 3
    assert dealt[1] == 0, "the other split keeps its order"
    ids = rs.preprocessing.VocabularyIds("text", 20)
    texts = {"text": [f"word{n % 17} of {n}" for n in range(2000)]}
    for engine in ("local", "ray"):
        settings: Any = {"engine": engine}
        rs.make(rs.sources.arrays(texts), quick_path / f"words-{engine}", name="data", preprocess=ids, **settings)
    assert file_digests(quick_path / "words-ray") == file_digests(quick_path / "words-local")


def test_copies(quick_path: Path) -> None:
    rs.make(labelled([n % 3 for n in range(3000)]), quick_path / "data", split="train=0.8,test=0.2", shards=4)
    settings: list[dict[str, Any]] = [{"where": "label != 'cat'", "shuffle": True}, {"drop": ["n"], "shards": 2}]
    for number, options in enumerate(settings):
        local, on_ray = quick_path / f"local-{number}", quick_path / f"ray-{number}"
        rs.copy(quick_path / "data", local, name="data", **options)
        rs.copy(quick_path / "data", on_ray, name="data", engine="ray", **options)
        assert file_digests(on_ray) == file_digests(local)
    rs.copy(quick_path / "data", quick_path / "local.tfrecord", where="n < 100")
    rs.copy(quick_path / "data", quick_path / "ray.tfrecord", where="n < 100", engine="ray")
    assert (quick_path / "ray.tfrecord").read_bytes() == (quick_path / "local.tfrecord").read_bytes()


def test_an_output_at_a_url(quick_path: Path, s3_url: str) -> None:
    """The staging folder is the one that all machines see."""
    source = labelled([n % 3 for n in range(1000)])
    options: dict[str, Any] = {"name": "data", "split": "train=0.7,test=0.3", "shards": 3}
    local = rs.make(source, quick_path / "local", **options)
    on_ray = rs.make(source, f"{s3_url}/ray", staging=quick_path / "staging", engine="ray", **options)
    assert on_ray.splits == local.splits
    for split in ("train", "test"):
        here, there = rs.open(quick_path / "local", split=split), rs.open(f"{s3_url}/ray", split=split)
        assert there.raw(range(len(there))) == here.raw(range(len(here)))


def test_relative_paths(quick_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers have another current folder than the program that starts a run."""
    monkeypatch.chdir(quick_path)
    for number, label in enumerate(["cat", "dog"] * 4):
        Path("photos", label).mkdir(parents=True, exist_ok=True)
        Path("photos", label, f"{number}.png").write_bytes(encode_image(np.full((4, 4, 3), number, np.uint8), "png"))
    made = rs.make("photos", "out", engine="ray")
    assert (made.rows, made.rejects) == (8, 0)
    assert rs.copy("out", "copy", engine="ray").rows == 8


def test_indexes(quick_path: Path) -> None:
    rs.make(labelled([n % 3 for n in range(3000)]), quick_path / "data", shards=4)
    index = ["index", str(quick_path / "data"), "--format", "json", "--rebuild"]
    local, on_ray = (CliRunner().invoke(main, [*index, "--engine", engine]) for engine in ("local", "ray"))
    assert json.loads(on_ray.stdout) == json.loads(local.stdout)
    assert len(json.loads(on_ray.stdout)["files"]) == 4


def run_with(engine: str, *words: str) -> tuple[int, str]:
    """Run a command of recordsmith on one engine; return its exit code and what it prints."""
    done = CliRunner().invoke(main, [*words, "--format", "json", "--engine", engine])
    assert not isinstance(done.exception, AssertionError)
    return done.exit_code, done.stdout


def test_check(quick_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report of a cluster is, byte for byte, that of one machine."""
    monkeypatch.setattr(divided_survey, "_UNIT_BYTES", 25_000)
    rows = 3000
    rng = np.random.default_rng(2)
    source = {
        "x": np.where(np.arange(rows) % 900 == 1, np.nan, rng.normal(size=rows)).astype(np.float32),
        "label": np.sort(rng.integers(0, 6, rows)),
        "text": [f" word {n % 2600}" for n in range(rows)],
        "image": [encode_image(np.full((6, 6, 3), n % 100, np.uint8), "png") for n in range(rows)],
    }
    data = quick_path / "data"
    rs.make(source, data, name="data", split="train=0.7,test=0.3", shards=3, shuffle=False)
    damaged = bytearray((data / "data-train.tfrecord-00001-of-00003").read_bytes())
    for place in range(1000, len(damaged), 30_000):
        damaged[place] ^= 1
    (data / "data-train.tfrecord-00001-of-00003").write_bytes(damaged[:-3])
    for words in ([], ["--decode", "all"], ["--similar-images"], ["--select", "F"]):
        local, on_ray = (run_with(engine, "check", str(data), *words) for engine in ("local", "ray"))
        assert on_ray == local
        assert len(json.loads(on_ray[1])["findings"]) > (1 if words else 5)


@pytest.mark.parametrize("kind", ["parquet", "csv", "webdataset"])
def test_export(kind: str, quick_path: Path) -> None:
    """A file for each split, several of a certain size, and one of all records."""
    rs.make(labelled([n % 3 for n in range(3000)]), quick_path / "data", split="train=0.6,val=0.2,test=0.2", shards=3)
    settings: list[dict[str, Any]] = [{}, {"shard_size": 20_000, "where": "label != 'cat'"}, {"merge_splits": True}]
    for number, options in enumerate(settings):
        local, on_ray = quick_path / f"local-{number}", quick_path / f"ray-{number}"
        here = rs.export(quick_path / "data", local, to=kind, **options)
        there = rs.export(quick_path / "data", on_ray, to=kind, engine="ray", **options)
        assert file_digests(on_ray) == file_digests(local)
        assert {Path(path).name: rows for path, rows in there.files.items()} == {
            Path(path).name: rows for path, rows in here.files.items()
        }
        assert (there.bytes, there.source_rows, there.unmatched) == (here.bytes, here.source_rows, here.unmatched)
    with pytest.raises(rs.RecordsmithError, match="with this name already exists"):
        rs.export(quick_path / "data", quick_path / "ray-0", to=kind, engine="ray")


def test_repair(quick_path: Path) -> None:
    """Damaged and sound files, a manifest beside them, one that is no TFRecord file, and suspect records."""
    data = quick_path / "data"
    rs.make(labelled([n % 3 for n in range(3000)]), data, name="data", shards=6)
    shards = sorted(data.glob("*.tfrecord-*"))
    for shard in shards[:3]:
        damaged = bytearray(shard.read_bytes())
        for place in range(500, len(damaged), 3000):
            damaged[place] ^= 4
        shard.write_bytes(damaged)
    shards[3].write_bytes(b"")
    (data / "notes.txt").write_text("kept")
    results = {}
    for engine in ("local", "ray"):
        code, text = run_with(
            engine,
            "repair",
            str(data),
            "-o",
            str(quick_path / engine),
            "--keep-suspect",
            str(quick_path / f"odd-{engine}"),
        )
        results[engine] = code, text.replace(str(quick_path / engine), "OUT").replace(f"odd-{engine}", "odd")
        assert file_digests(quick_path / f"odd-{engine}") == file_digests(quick_path / "odd-local")
    assert results["ray"] == results["local"]
    assert file_digests(quick_path / "ray") == file_digests(quick_path / "local")
    assert len(list((quick_path / "odd-ray").iterdir())) == 3
    dry = [run_with(engine, "repair", str(data), "--dry-run") for engine in ("local", "ray")]
    assert dry[0] == dry[1]
    shards[4].write_text("id,name\n1,cat\n" * 50)
    files = [str(shard) for shard in shards]
    assert "left out" in run_with("ray", "repair", *files, "-o", str(quick_path / "again"))[1]
    with pytest.raises(rs.NotTFRecordError):
        rs.repair(shards[4], quick_path / "one", engine="ray")


def stop(phase: str) -> Any:
    def on_progress(progress: Any) -> None:
        if progress.phase == phase and progress.done:
            raise KeyboardInterrupt

    return on_progress


@pytest.mark.parametrize("phase", ["reading", "writing", "checking"])
def test_what_one_engine_began_another_finishes(phase: str, quick_path: Path) -> None:
    """Ctrl-C cancels the tasks, and leaves a run that any engine resumes, also one with another number of workers."""
    source = labelled([n % 3 for n in range(3000)])
    options: dict[str, Any] = {"name": "data", "split": "train=0.7,test=0.3", "shards": 4}
    rs.make(source, quick_path / "whole", **options)
    expected = file_digests(quick_path / "whole")
    for first, second in (("ray", "local"), ("local", "ray"), ("ray", "ray")):
        out = quick_path / f"{first}-{second}"
        begun: dict[str, Any] = {"engine": first, "workers": 1}
        with pytest.raises(KeyboardInterrupt):
            rs.make(source, out, on_progress=stop(phase), **begun, **options)
        assert os.listdir(out) == [STAGING]
        continued: dict[str, Any] = {"engine": second, "workers": 2}
        rs.make(source, out, resume=True, **continued, **options)
        assert file_digests(out) == expected


def fails_at_700(row: dict[str, Any]) -> dict[str, Any]:
    """A user's function with a fault."""
    if row["n"] == 700:
        raise ZeroDivisionError("the row is 700")
    return row


@pytest.mark.parametrize("address", ["127.0.0.3:1", "ray://127.0.0.3:1"])
def test_an_address_where_nobody_listens_is_an_error_at_once(address: str) -> None:
    """Ray tries for minutes, and writes lines that say nothing to its users."""
    with pytest.raises(rs.RecordsmithError, match="no Ray cluster at this address") as caught:
        ray_engine.RayEngine(address, None)._connect()
    assert "Connection refused" in str(caught.value.found)


def test_exceptions_come_home(quick_path: Path) -> None:
    schema = rs.Schema({"n": rs.Scalar("int64")})
    with pytest.raises(ZeroDivisionError, match="the row is 700") as caught:
        rs.make(numbers(1000), quick_path / "a", schema=schema, map=fails_at_700, on_error="stop", engine="ray")
    assert any("row 700" in note for note in caught.value.__notes__)
    made = rs.make(numbers(1000), quick_path / "b", schema=schema, map=fails_at_700, engine="ray")
    assert (made.rejects, made.rows) == (1, 999)
    assert "ZeroDivisionError: the row is 700" in (quick_path / "b" / "rejected.jsonl").read_text()
    with pytest.raises(rs.EncodeError, match="does not fit") as stopped:
        rs.make(
            rs.sources.arrays({"n": np.arange(1000)}),
            quick_path / "c",
            schema=rs.Schema({"n": rs.Scalar("uint8")}),
            on_error="stop",
            engine="ray",
        )
    assert "row 256" in str(stopped.value)


def test_a_module_of_the_current_folder_is_sent_along(quick_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (quick_path / "my_mapping.py").write_text("OFFSET = 5\n\ndef add(row):\n    return {'n': row['n'] + OFFSET}\n")
    monkeypatch.syspath_prepend(quick_path)
    import my_mapping  # type: ignore[import-not-found] # written just now

    made = rs.make(numbers(1000), quick_path / "out", map=my_mapping.add, engine="ray")
    assert made.rows == 1000
    assert sorted(row["n"].item() for row in rs.open(quick_path / "out")) == list(range(5, 1005))
    del sys.modules["my_mapping"]


def dies_once(row: dict[str, Any]) -> dict[str, Any]:
    """Kills its own process for one row, the first time."""
    marker = Path(row["marker"])
    if row["n"] == 500 and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"n": row["n"]}


def test_a_killed_worker_is_tried_again(quick_path: Path) -> None:
    marker = quick_path / "died"
    rows = [{"n": n, "marker": str(marker)} for n in range(1000)]
    schema = rs.Schema({"n": rs.Scalar("int64")})
    made = rs.make(rs.sources.rows(rows), quick_path / "out", map=dies_once, schema=schema, engine="ray")
    assert marker.exists()
    assert made.rows == 1000
    assert sorted(row["n"].item() for row in rs.open(quick_path / "out")) == list(range(1000))
    assert not (quick_path / "out" / STAGING).exists()


def dies_always(row: dict[str, Any]) -> dict[str, Any]:
    """Kills its own process."""
    if row["n"] == 900:
        os.kill(os.getpid(), signal.SIGKILL)
    return row


def test_a_task_that_fails_again_and_again(quick_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_engine, "_MOST_ATTEMPTS", 2)
    schema = rs.Schema({"n": rs.Scalar("int64")})
    with pytest.raises(rs.RecordsmithError, match="on every attempt"):
        rs.make(numbers(1000), quick_path / "out", map=dies_always, schema=schema, engine="ray")
    assert os.listdir(quick_path / "out") == [STAGING], "what is finished is kept"


def test_a_machine_that_does_not_see_the_staging_folder(quick_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says so, instead of finding no piece there."""
    options: dict[str, Any] = {"name": "data"}
    with pytest.raises(KeyboardInterrupt):
        rs.make(numbers(1000), quick_path / "out", on_progress=stop("writing"), **options)
    monkeypatch.setattr(ray_tasks, "_LOOKS", 1)
    with pytest.raises(rs.RecordsmithError, match="cannot access the staging folder"):
        ray_tasks.Surroundings.here(str(quick_path / "elsewhere" / "plan.json")).check()
    with pytest.raises(rs.RecordsmithError, match="cannot access the source"):
        ray_tasks.Surroundings.here(source=[str(quick_path / "photos")]).check()
    with pytest.raises(rs.RecordsmithError, match="another version of recordsmith"):
        ray_tasks.Surroundings("0.0.0", "/").check()
    begun: list[str] = []
    real = ray_engine.RayEngine.begin

    def noted(engine: ray_engine.RayEngine, plan: str, source: Sequence[str]) -> None:
        begun.append(plan)
        real(engine, plan, source)

    monkeypatch.setattr(ray_engine.RayEngine, "begin", noted)
    rs.make(numbers(1000), quick_path / "out", resume=True, engine="ray", **options)
    assert begun == [str(quick_path / "out" / STAGING / "plan.json")]


def test_too_little_memory_means_less_at_a_time() -> None:
    import ray

    engine = ray_engine.RayEngine(None, None)
    attempt = ray_engine._Attempt([1, 2, 3], 0)
    error = ray.exceptions.OutOfMemoryError("killed")
    assert [one.item for one in engine._retried(attempt, error, halves=True)] == [[1], [2, 3]]
    assert [one.item for one in engine._retried(attempt, error, halves=False)] == [[1, 2, 3]]
    assert [one.item for one in engine._retried(ray_engine._Attempt([1], 0), error, halves=True)] == [[1]]


_rows_in_memory: list[int] = []


def dies_of_many_rows(row: dict[str, Any]) -> dict[str, Any]:
    """Kills its own process, as the kernel does, if its task has more than 500 rows; a task has consecutive ones."""
    n = int(row["n"])
    if _rows_in_memory and n != _rows_in_memory[-1] + 1:
        _rows_in_memory.clear()
    _rows_in_memory.append(n)
    if len(_rows_in_memory) > 500:
        os.kill(os.getpid(), signal.SIGKILL)
    return row


def test_a_worker_that_the_kernel_kills_for_memory_gets_less(quick_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_stream, "_CHUNK_ROWS", 250)  # and four of them are a task
    source = rs.sources.rows([{"n": n} for n in range(2000)])
    schema = rs.Schema({"n": rs.Scalar("int64")})
    rs.make(source, quick_path / "out", map=dies_of_many_rows, schema=schema, engine="ray", shuffle=False)
    assert [row["n"].item() for row in rs.open(quick_path / "out")] == list(range(2000))
