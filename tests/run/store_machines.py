"""Machines that share nothing but object storage: folders of their own, which are gone when their work is done.

    python -m tests.run.store_machines '{"recipe": ..., "out": ..., "options": {...}, "kill_at": 17}'

makes a dataset, or a part of it, in a process of its own. With `kill_at` it kills itself before that many-th request
that changes something in the store.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import recordsmith as rs
from recordsmith.storage.objects import open_folder, read_published
from recordsmith.storage.objects.obstore_folder import ObstoreFolder
from tests.making.making_to_kill import RECIPES, ROOT

if TYPE_CHECKING:
    import pytest


def in_force(url: str) -> dict[str, str]:
    """Return the digests of the files in force, each of which is what recordsmith.json says."""
    published = read_published(open_folder(url))
    assert published is not None
    folder = open_folder(published.url(url))
    found = {name: hashlib.sha256(b"".join(folder.stream(name))).hexdigest() for name in published.files}
    assert found == {name: file.sha256 for name, file in published.files.items()}
    return found


def left_over(url: str, staging: str | None = None) -> list[str]:
    """Return what is in the store beside the version in force: objects, and unfinished uploads."""
    folder = open_folder(url)
    published = read_published(folder)
    expected = {"recordsmith.json"} if published else set()
    expected |= {f"{published.folder}/{name}" for name in published.files} if published else set()
    expected |= {f"{os.path.dirname(key)}/.recordsmith/{os.path.basename(key)}.index" for key in expected}
    found = [facts.key for facts in folder.walk() if facts.key not in expected]
    places = [folder] if staging is None else [folder, open_folder(staging)]
    if staging is not None:
        found += [facts.key for facts in places[1].walk()]
    return found + [f"{place.url}: an upload" for place in places for _ in range(place.abort_uploads("") or 0)]


@contextlib.contextmanager
def machine(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Be another machine: its folder does not exist before, and not afterwards."""
    folder.mkdir()
    for variable in ("RECORDSMITH_CACHE", "HOME", "TMPDIR"):
        monkeypatch.setenv(variable, str(folder))
    try:
        yield
    finally:
        names = [path.name for path in folder.rglob("*") if path.is_file()]
        shutil.rmtree(folder)
    # A thread may still write a block of the cache, under another name.
    kept = [name for name in names if not name.endswith(".lock") and ".block" not in name and name != "used"]
    assert not kept, "a machine keeps nothing but its cache"


def started(folder: Path, **order: Any) -> subprocess.Popen[str]:
    """Start a machine of its own: a process with its own folders."""
    folder.mkdir()
    environment = {**os.environ, **dict.fromkeys(("RECORDSMITH_CACHE", "HOME", "TMPDIR"), str(folder))}
    command = [sys.executable, "-m", "tests.run.store_machines", json.dumps(order)]
    return subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)


def ended(folder: Path, process: subprocess.Popen[str]) -> int:
    """Wait for a machine, and remove its folders."""
    _, errors = process.communicate()
    shutil.rmtree(folder)
    assert process.returncode in (0, -signal.SIGKILL), errors[-3000:]
    return process.returncode


def killing(at: int) -> None:
    """Kill this process before its many-th request that changes something."""
    calls = 0

    def counted(name: str) -> None:
        usual = getattr(ObstoreFolder, name)

        def call(self: Any, *given: Any, **options: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == at:
                os.kill(os.getpid(), signal.SIGKILL)
            return usual(self, *given, **options)

        setattr(ObstoreFolder, name, call)

    for name in ("put", "upload", "delete"):
        counted(name)


def main(order: dict[str, Any]) -> None:
    """Do what a line says."""
    if "kill_at" in order:
        killing(order["kill_at"])
    source, options = RECIPES[order["recipe"]](0.0)
    rs.make(source, order["out"], name="data", **{**options, **order["options"]})


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
