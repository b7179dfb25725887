"""A run whose staging is saved remotely continues on another machine."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.run.progress import Progress
from recordsmith.storage.objects import open_folder
from tests.run.publishing.test_destination import in_force, local_files

pytest.importorskip("obstore")

KILLED = """
import sys
import recordsmith as rs
from recordsmith.run.staging import saved_staging
saved_staging._SECONDS = 0.02
rs.make(sys.argv[1], sys.argv[2], name="a", shards=2, staging=sys.argv[3])
"""


def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("RECORDSMITH_CACHE", str(tmp_path / name))


@pytest.fixture
def source(tmp_path: Path) -> str:
    np.savez(tmp_path / "source.npz", n=np.arange(50_000), x=np.random.default_rng(0).random((50_000, 64)))
    return str(tmp_path / "source.npz")


def test_a_failed_run_continues_on_another_machine(
    s3_url: str, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(progress: Progress) -> None:
        if progress.phase == "writing":
            raise MemoryError

    machine(tmp_path, monkeypatch, "first")
    url, staging = f"{s3_url}/data", f"{s3_url}/staging"
    with pytest.raises(MemoryError):
        rs.make(source, url, name="a", staging=staging, on_progress=fail)
    machine(tmp_path, monkeypatch, "second")
    with pytest.raises(rs.RecordsmithError, match="unfinished run"):
        rs.make(source, url, name="a", staging=staging)
    phases: list[str] = []
    rs.make(
        source, url, name="a", staging=staging, resume=True, on_progress=lambda progress: phases.append(progress.phase)
    )
    assert "writing" in phases
    assert "reading" not in phases  # it was staged already
    rs.make(source, tmp_path / "local", name="a")
    assert in_force(url) == local_files(tmp_path / "local")
    assert list(open_folder(staging).walk()) == []


def test_a_killed_run_continues_on_another_machine(
    s3_url: str, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine(tmp_path, monkeypatch, "first")
    url, staging = f"{s3_url}/data", f"{s3_url}/staging"
    process = subprocess.Popen([sys.executable, "-c", KILLED, source, url, staging])
    try:
        while not any("/pieces/" in facts.key for facts in open_folder(staging).walk()):
            if process.poll() is not None:
                break
            time.sleep(0.01)
    finally:
        process.kill()
        process.wait()
    machine(tmp_path, monkeypatch, "second")
    rs.make(source, url, name="a", shards=2, staging=staging, resume=True)
    rs.make(source, tmp_path / "local", name="a", shards=2)
    assert in_force(url) == local_files(tmp_path / "local")
    assert list(open_folder(staging).walk()) == []


def test_what_another_machine_has_finished_is_not_made_again(
    s3_url: str, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Progress) -> None:
        raise MemoryError

    machine(tmp_path, monkeypatch, "first")
    url, staging = f"{s3_url}/data", f"{s3_url}/staging"
    with pytest.raises(MemoryError):
        rs.make(source, url, name="a", staging=staging, on_progress=fail)
    made = rs.make(source, url, name="a", staging=tmp_path / "other")
    machine(tmp_path, monkeypatch, "second")
    assert rs.make(source, url, name="a", staging=staging, resume=True) == made
    assert list(open_folder(staging).walk()) == []


def test_starting_over_drops_what_was_saved(
    s3_url: str, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Progress) -> None:
        raise MemoryError

    machine(tmp_path, monkeypatch, "first")
    url, staging = f"{s3_url}/data", f"{s3_url}/staging"
    with pytest.raises(MemoryError):
        rs.make(source, url, name="a", seed=1, staging=staging, on_progress=fail)
    machine(tmp_path, monkeypatch, "second")
    with pytest.raises(MemoryError):
        rs.make(source, url, name="b", seed=2, staging=staging, on_progress=fail, overwrite=True)
    machine(tmp_path, monkeypatch, "third")
    with pytest.raises(rs.RecordsmithError, match="other options"):
        rs.make(source, url, name="a", seed=1, staging=staging, resume=True)
    rs.make(source, url, name="b", seed=2, staging=staging, resume=True)
    rs.make(source, tmp_path / "local", name="b", seed=2)
    assert in_force(url) == local_files(tmp_path / "local")


def test_only_runs_that_can_be_resumed_are_saved(s3_url: str, tmp_path: Path) -> None:
    with pytest.raises(rs.RecordsmithError, match="local"):
        rs.write(f"{s3_url}/data", rs.Schema({"n": rs.Scalar("int64")}), staging=f"{s3_url}/staging")
    with pytest.raises(rs.RecordsmithError, match="output at a URL"):
        rs.make([{"n": 1}], tmp_path / "data", staging=tmp_path / "staging")
