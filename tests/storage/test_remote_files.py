"""Remote files are fetched once, whole, and again only if they have changed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.cli import main
from recordsmith.storage.remote_files import cache_folder

fsspec = pytest.importorskip("fsspec")

SCHEMA = rs.Schema({"n": rs.Scalar("int64")})


@pytest.fixture
def storage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A storage in memory, and a cache of its own."""
    monkeypatch.setenv("RECORDSMITH_CACHE", str(tmp_path / "cache"))
    memory = fsspec.filesystem("memory")
    memory.rm("/", recursive=True)
    yield memory
    memory.rm("/", recursive=True)


def put(storage: Any, tmp_path: Path, name: str, numbers: range) -> None:
    with rs.RecordWriter(tmp_path / "made.tfrecord") as writer:
        writer.write_columns({"n": np.arange(numbers.start, numbers.stop)}, SCHEMA)
    storage.pipe_file(f"/bucket/{name}", (tmp_path / "made.tfrecord").read_bytes())


def numbers(ds: Any) -> list[int]:
    return [int(row["n"]) for row in ds]


def test_a_file_a_glob_a_list_and_a_folder(storage: Any, tmp_path: Path) -> None:
    for shard in range(3):
        put(storage, tmp_path, f"train-0000{shard}-of-00003", range(10 * shard, 10 * shard + 10))
    storage.pipe_file("/bucket/notes.txt", b"not records")
    one = "memory://bucket/train-00001-of-00003"
    assert numbers(rs.open(one)) == list(range(10, 20))
    assert numbers(rs.open("memory://bucket/train-*")) == list(range(30))
    assert numbers(rs.open([one, "memory://bucket/train-00000-of-00003"])) == [*range(10, 20), *range(10)]
    assert numbers(rs.open("memory://bucket")) == list(range(30))
    shuffled = rs.open("memory://bucket/train-*").shuffle(seed=0).batch(30)
    assert sorted(next(iter(shuffled))["n"].tolist()) == list(range(30))


def test_it_is_fetched_again_only_if_it_has_changed(
    storage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(storage, tmp_path, "a.tfrecord", range(5))
    fetched: list[str] = []
    usual = type(storage).get_file

    def counting(self: Any, path: str, *rest: Any, **options: Any) -> Any:
        fetched.append(path)
        return usual(self, path, *rest, **options)

    monkeypatch.setattr(type(storage), "get_file", counting)
    for _ in range(3):
        assert numbers(rs.open("memory://bucket/a.tfrecord")) == list(range(5))
    assert len(fetched) == 1
    put(storage, tmp_path, "a.tfrecord", range(7))
    assert numbers(rs.open("memory://bucket/a.tfrecord")) == list(range(7))
    assert len(fetched) == 2


def test_what_is_gone_from_a_folder_is_not_read(storage: Any, tmp_path: Path) -> None:
    put(storage, tmp_path, "a.tfrecord", range(5))
    put(storage, tmp_path, "b.tfrecord", range(5, 9))
    assert numbers(rs.open("memory://bucket")) == list(range(9))
    storage.rm("/bucket/a.tfrecord")
    assert numbers(rs.open("memory://bucket")) == list(range(5, 9))


def test_a_dataset_with_its_manifest(storage: Any, tmp_path: Path) -> None:
    rows = [{"n": number} for number in range(20)]
    rs.make(rows, tmp_path / "out", schema=SCHEMA, split={"train": 0.5, "test": 0.5})
    for path in (tmp_path / "out").iterdir():
        if path.is_file():
            storage.pipe_file(f"/bucket/{path.name}", path.read_bytes())
    ds = rs.open("memory://bucket", split="train")
    assert len(ds) == 10
    assert ds.schema == SCHEMA


def test_the_command_line_takes_urls(storage: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(storage, tmp_path, "a.tfrecord", range(5))
    with pytest.raises(SystemExit) as ended:
        main(["check", "memory://bucket/a.tfrecord"])
    assert ended.value.code == 0
    assert "records  5" in capsys.readouterr().out


def test_what_is_not_there_is_told(storage: Any) -> None:
    with pytest.raises(FileNotFoundError, match="memory://bucket/none"):
        rs.open("memory://bucket/none.tfrecord")
    with pytest.raises(FileNotFoundError, match="memory://bucket/none-"):
        rs.open("memory://bucket/none-*")


def test_storage_that_is_not_known_is_told() -> None:
    with pytest.raises(rs.RecordsmithError, match="cannot be read"):
        rs.open("nosuch://bucket/a.tfrecord")


def test_a_failure_leaves_nothing_behind(storage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(storage, tmp_path, "a.tfrecord", range(5))

    def cut(_: Any, path: str, target: str, **__: Any) -> None:
        Path(target).write_bytes(storage.cat_file(path)[:10])

    monkeypatch.setattr(type(storage), "get_file", cut)
    with pytest.raises(rs.RecordsmithError, match="10 of"):
        rs.open("memory://bucket/a.tfrecord")
    assert [path for path in cache_folder().rglob("*") if path.is_file()] == []


def test_a_storage_without_conditional_writes_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with rs.RecordWriter("a.tfrecord") as writer:
        writer.write_columns({"n": np.arange(3)}, SCHEMA)
    for write in (
        lambda: rs.make([{"n": 1}], "memory://bucket/out", schema=SCHEMA),
        lambda: rs.copy("a.tfrecord", "memory://bucket/out"),
        lambda: rs.copy("a.tfrecord", "memory://bucket/out/b.tfrecord"),
        lambda: rs.export("a.tfrecord", "memory://bucket/out.parquet"),
        lambda: rs.repair("a.tfrecord", "memory://bucket/out/b.tfrecord"),
    ):
        with pytest.raises(rs.RecordsmithError, match="no conditional writes"):
            write()
    assert [path.name for path in tmp_path.iterdir() if not path.name.startswith(".")] == ["a.tfrecord"]


def test_local_urls_are_not_copied(tmp_path: Path, storage: Any) -> None:
    with rs.RecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_columns({"n": np.arange(3)}, SCHEMA)
    ds = rs.open((tmp_path / "a.tfrecord").as_uri())
    assert ds.files == (str(tmp_path / "a.tfrecord"),)


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("fsspec", "obstore", "obstore.store", "obstore.exceptions"):
        monkeypatch.setitem(sys.modules, package, None)
    for url in ("s3://bucket/a.tfrecord", "hf://datasets/a.tfrecord"):
        with pytest.raises(rs.MissingExtraError, match=r"pip install .obstore"):
            rs.open(url)
