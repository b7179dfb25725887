"""Descriptions that are wrong, by accident or on purpose, end in words: never in a crash or outside of the output.

The long run: RECORDSMITH_FUZZ_SECONDS=600 pytest -m proof tests/dataset/test_hostile_descriptions.py
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click.testing
import numpy as np
import pytest

import recordsmith as rs
from recordsmith.cli import main
from recordsmith.copying import copy_dataset
from recordsmith.copying.export import export_dataset
from recordsmith.findings import Baseline
from recordsmith.images import encode_image
from recordsmith.repairing import repair
from recordsmith.text import Vocabulary

from .hostile_documents import mutated

SCHEMA = rs.Schema(
    {
        "n": rs.Scalar("int64", min=0, max=100),
        "label": rs.Label(["cat", "dog"]),
        "text": rs.Text(one_of=["a", "b"]),
        "pixels": rs.Tensor("uint8", (2, 2)),
        "list": rs.Tensor("float32", (None,)),
        "image": rs.Image(2, 2, channels=3),
    }
)
PNG = encode_image(np.zeros((2, 2, 3), np.uint8), "png")
DESCRIPTIONS = ("recordsmith.json", "features.json", "dataset_info.json")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("source") / "data"
    row = {"n": 1, "label": 1, "text": "a", "pixels": [[1, 2], [3, 4]], "list": [1.0, 2.0], "image": PNG}
    for split in ("train", "test"):
        with rs.write(folder, SCHEMA, name="pets", split=split) as writer:
            for n in range(4):
                writer.add({**row, "n": n})
    (folder / "vocabulary.json").write_text(Vocabulary(["cat"]).to_text())
    manifest = json.loads((folder / "recordsmith.json").read_text())
    manifest["made"]["files"].append("vocabulary.json")
    manifest["made"]["outcome"] = {"source_rows": 8, "reasons": [{"count": 1, "reason": "a", "example": "b"}]}
    manifest["provenance"] = ["n"]
    (folder / "recordsmith.json").write_text(json.dumps(manifest))
    return folder


@pytest.fixture(autouse=True)
def _no_endless_work() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError("a description leads to endless work")

    before = signal.signal(signal.SIGALRM, stop)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def everything(folder: Path, out: Path, rng: random.Random, steps: int | None) -> None:
    """Do what one does with a dataset, or some of it; only errors of recordsmith and of the system may come."""

    def command(*arguments: object) -> None:
        result = click.testing.CliRunner().invoke(main, [str(argument) for argument in arguments])
        assert "a fault of recordsmith itself" not in result.stderr, (arguments, result.stderr)
        assert "rule-failed" not in result.stdout, (arguments, result.stdout)
        assert result.exit_code in (0, 1, 2), (arguments, result.exception)

    def read() -> None:
        dataset = rs.open(folder)
        for number, _ in zip(range(3), dataset, strict=False):
            dataset[number]
        dataset.schema.diff(SCHEMA)

    known = out / "known.json"
    actions: list[Any] = [
        read,
        lambda: rs.Schema.from_tfds(folder),
        lambda: rs.check(folder),
        lambda: copy_dataset(folder, out / "copied"),
        lambda: copy_dataset(folder, out / "shuffled", shuffle=True, split="train=0.5,test=0.5"),
        lambda: export_dataset(folder, out / "exported", kind=rng.choice(["csv", "jsonl", "parquet", "webdataset"])),
        lambda: repair(folder, out / "repaired"),
        lambda: Baseline.load(known),
        lambda: Vocabulary.load(folder / "vocabulary.json"),
        lambda: command("show", folder, "--format", rng.choice(["text", "json"])),
        lambda: command("check", folder, "--format", "json"),
        lambda: command("schema", folder, "--format", rng.choice(["text", "table", "json", "tfds", "tfmd", "python"])),
        lambda: command("schema", folder / rng.choice(DESCRIPTIONS)),
        lambda: command("copy", folder, "-o", out / "copied2"),
        lambda: command("export", folder, "-o", out / "exported2", "--to", "jsonl"),
        lambda: command("repair", folder, "-o", out / "repaired2"),
        lambda: command("make", folder, "-o", out / "made"),
        lambda: command("check", folder, "--baseline", known),
    ]
    for action in actions if steps is None else rng.sample(actions, steps):
        signal.alarm(120)
        error: Exception | None = None
        try:
            action()
        except (rs.RecordsmithError, OSError) as raised:
            error = raised
        assert not isinstance(error, TimeoutError), action
        assert all(line.isprintable() for line in str(error).split("\n"))


def tree(folder: Path) -> dict[str, float]:
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def attack(dataset: Path, place: Path, seed: int, steps: int | None) -> None:
    rng = random.Random(seed)
    folder, out = place / "data", place / "out"
    shutil.copytree(dataset, folder)
    out.mkdir()
    name = rng.choice([*DESCRIPTIONS, "recordsmith.json", "vocabulary.json", "known.json"])
    if name in DESCRIPTIONS[1:] or rng.random() < 0.05:
        (folder / "recordsmith.json").unlink()
    known = {"recordsmith-baseline": 1, "findings": [{"fingerprint": "a", "code": "V001", "times": 1}]}
    target = out / name if name == "known.json" else folder / name
    if name != "recordsmith.json" or target.exists():
        document = known if name == "known.json" else json.loads((dataset / name).read_text())
        target.write_text(mutated(document, rng), encoding="utf-8", errors="surrogatepass")
    before = tree(place)
    try:
        everything(folder, out, rng, steps)
    except BaseException as error:
        error.add_note(f"seed {seed}, {name}: {target.read_text(errors='replace')[:3000] if target.exists() else ''}")
        raise
    written = {path for path, time in tree(place).items() if before.get(path) != time}
    outside = [path for path in written if not Path(path).is_relative_to(out) and "/.recordsmith/" not in path]
    assert outside == [], seed
    shutil.rmtree(folder)
    shutil.rmtree(out)


def peak_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def test_wrong_descriptions_end_in_words(dataset: Path, tmp_path: Path) -> None:
    everything(dataset, tmp_path, random.Random(0), None)
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()
    before = peak_memory()
    for seed in range(120):
        attack(dataset, tmp_path, seed, steps=2)
    assert peak_memory() - before < 500 << 20


@pytest.mark.proof
def test_many_wrong_descriptions_end_in_words(dataset: Path, tmp_path: Path) -> None:
    before = peak_memory()
    end = time.monotonic() + float(os.environ.get("RECORDSMITH_FUZZ_SECONDS", "600"))
    seed = 1_000_000
    while time.monotonic() < end:
        attack(dataset, tmp_path, seed, steps=6)
        seed += 1
    print(f"{seed - 1_000_000:,} descriptions")  # noqa: T201 - the figure to report
    assert peak_memory() - before < 1 << 30
