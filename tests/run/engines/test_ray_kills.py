"""Nodes, workers and the driver are killed in each phase of a run on a Ray cluster: nothing is lost or left over."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.facts import divided_survey
from recordsmith.run.shards import dealing, shard_writing, shuffling
from recordsmith.storage.objects import open_folder
from tests.formats.made_sources import Columns, file_digests
from tests.run.engines.cluster import LOOPBACK, add_node, started_cluster

ROOT = Path(__file__).resolve().parents[3]
STAGING = ".recordsmith-making"
PHASES = ("reading", "ordering", "writing", "checking")
_DRIVER = "import sys; from tests.run.engines.test_ray_kills import drive; drive(*sys.argv[1:])"
Recipe = Callable[[Path], tuple[Any, dict[str, Any]]]


def slowly(row: dict[str, Any]) -> dict[str, Any]:
    """A user's function that takes its time, so that there is something to kill."""
    time.sleep(0.0003)
    return row


def tables(_: Path) -> tuple[Any, dict[str, Any]]:
    """Rejects, groups, stratified splits, balance, a function of the user's and several shards."""
    rows = 3000
    columns = {
        "n": [n if n % 50 else "bad" for n in range(rows)],
        "x": np.random.default_rng(0).normal(size=(rows, 5)).astype(np.float32),
        "label": (np.arange(rows) % 10 == 3).astype(np.int64),
        "who": np.arange(rows) // 4,
    }
    schema = rs.Schema({"n": rs.Scalar("int64"), "x": rs.Tensor("float32", (5,)), "label": rs.Label(["no", "yes"])})
    source = Columns(columns, schema, chunk_rows=50, seconds=0.02, label="label")
    return source, {
        "split": "train=0.7,val=0.2,test=0.1", "stratify": "label", "group": "who", "balance": "oversample",
        "shards": 8, "schema": schema, "map": slowly,
    }  # fmt: skip


def images(folder: Path) -> tuple[Any, dict[str, Any]]:
    """Resized images in class folders."""
    cv2 = pytest.importorskip("cv2")
    photos = folder / "photos"
    if not photos.exists():
        rng = np.random.default_rng(1)
        for number in range(300):
            path = photos / f"class{number % 3}" / f"{number}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            cv2.imwrite(str(path), rng.integers(0, 255, (40, 50, 3), np.uint8))
    source = rs.sources.images(photos, size=(20, 20), encoding="jpeg")
    return source, {"split": "train=0.8,test=0.2", "stratify": True, "shards": 6}


def csv(folder: Path) -> tuple[Any, dict[str, Any]]:
    """A table, with a vocabulary that is fitted on the training split."""
    path = folder / "reviews.csv"
    if not path.exists():
        lines = [f"{n},word{n % 17} and word{n % 5} of {n},{n % 4}" for n in range(20_000)]
        path.write_text("n,text,stars\n" + "\n".join(lines) + "\n")
    ids = rs.preprocessing.VocabularyIds("text", 40)
    return rs.sources.csv(path, label="stars"), {"split": "train=rest,test=500", "preprocess": ids, "shards": 6}


def parquet(folder: Path) -> tuple[Any, dict[str, Any]]:
    """Several Parquet files with groups, compressed shards."""
    pyarrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    for number in range(6):
        path = folder / f"part-{number}.parquet"
        if not path.exists():
            first = 4000 * number
            table = {"n": np.arange(first, first + 4000), "who": np.arange(first, first + 4000) // 7}
            pq.write_table(pyarrow.table(table), path, row_group_size=500)
    source = rs.sources.parquet([folder / f"part-{number}.parquet" for number in range(6)])
    return source, {"split": "train=0.6,test=0.4", "group": "who", "compression": "gzip", "shards": 6}


RECIPES: dict[str, Recipe] = {recipe.__name__: recipe for recipe in (tables, images, csv, parquet)}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Three nodes, of which some are killed and replaced."""
    import ray

    if ray.is_initialized():  # the cluster of the other tests
        pytest.skip("another cluster is in use: run this file alone")
    with started_cluster(3) as started:
        yield started


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("inputs")


@pytest.fixture(scope="module")
def expected(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """What one machine makes of each recipe."""
    found = {}
    for name, recipe in RECIPES.items():
        source, options = recipe(inputs)
        out = tmp_path_factory.mktemp("whole") / "data"
        rs.make(source, out, name="data", **options)
        found[name] = file_digests(out)
    return found


def workers_of(cluster: Any) -> list[int]:
    """The processes of all nodes that run tasks."""
    raylets = {process.process.pid for node in cluster.worker_nodes for process in node.all_processes.get("raylet", ())}
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = path.read_text()
            parent = int(text.rpartition(")")[2].split()[1])
            command = (path.parent / "cmdline").read_bytes()
        except OSError:
            continue
        if parent in raylets and command.startswith(b"ray::call"):
            found.append(int(path.parent.name))
    return found


def kill_node(cluster: Any, chance: random.Random) -> None:
    node = chance.choice(sorted(cluster.worker_nodes, key=lambda node: node.unique_id))
    cluster.remove_node(node, allow_graceful=False)
    add_node(cluster)


def kill_worker(cluster: Any, chance: random.Random) -> None:
    for pid in chance.sample(found, 1) if (found := workers_of(cluster)) else ():
        os.kill(pid, signal.SIGKILL)


@pytest.mark.proof
@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("kill", [kill_node, kill_worker])
@pytest.mark.parametrize("recipe", ["tables", "csv", "parquet"])
def test_killed_nodes_and_workers(
    recipe: str,
    kill: Callable[[Any, random.Random], None],
    phase: str,
    cluster: Any,
    inputs: Path,
    expected: dict[str, dict[str, str]],
    quick_path: Path,
) -> None:
    """In the middle of a phase; the run notices it alone, and ends with the same files."""
    chance = random.Random(f"{recipe}{kill.__name__}{phase}")
    killed: list[str] = []
    out = quick_path / "out"

    def on_progress(progress: Any) -> None:
        halfway = progress.phase == "ordering" or progress.done * 3 >= (progress.total or 1)
        if progress.phase == phase and halfway and not killed:
            killed.append(progress.phase)
            kill(cluster, chance)
        for path in out.iterdir():
            assert path.name == STAGING, "no file has its final name"

    source, options = RECIPES[recipe](inputs)
    rs.make(source, out, name="data", engine="ray", on_progress=on_progress, **options)
    assert killed == [phase]
    assert file_digests(out) == expected[recipe], "the same files, and nothing left over"


@pytest.mark.proof
def test_images(cluster: Any, inputs: Path, expected: dict[str, dict[str, str]], quick_path: Path) -> None:
    source, options = RECIPES["images"](inputs)
    rs.make(source, quick_path / "out", name="data", engine="ray", **options)
    assert file_digests(quick_path / "out") == expected["images"]


@pytest.mark.proof
@pytest.mark.parametrize("phase", [*PHASES, "publishing"])
@pytest.mark.parametrize("recipe", ["tables", "csv"])
def test_a_killed_driver(
    recipe: str,
    phase: str,
    cluster: Any,
    inputs: Path,
    expected: dict[str, dict[str, str]],
    quick_path: Path,
) -> None:
    """SIGKILL for the process that was started; another engine or the same one resumes."""
    out = quick_path / "out"
    words = [recipe, str(inputs), str(out), cluster.address, phase]
    driver = subprocess.run(
        [sys.executable, "-c", _DRIVER, *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert driver.returncode == -signal.SIGKILL, driver.stderr[-2000:]
    if phase != "publishing":
        assert os.listdir(out) == [STAGING]
    source, options = RECIPES[recipe](inputs)
    engine: Any = "ray" if phase in ("reading", "checking") else "local"
    rs.make(source, out, name="data", engine=engine, resume=True, **options)
    assert file_digests(out) == expected[recipe]


@pytest.mark.proof
@pytest.mark.parametrize("kill", [kill_node, kill_worker])
@pytest.mark.parametrize("recipe", ["tables", "parquet"])
def test_killed_while_records_are_distributed(
    recipe: str,
    kill: Callable[[Any, random.Random], None],
    cluster: Any,
    inputs: Path,
    expected: dict[str, dict[str, str]],
    quick_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A shuffled split that goes through buckets."""
    monkeypatch.setattr(shuffling, "BUCKETS_ABOVE_BYTES", 1000)
    monkeypatch.setattr(shuffling, "_BUCKET_BYTES", 40_000)
    monkeypatch.setattr(shuffling, "_PIECE_BYTES", 9000)
    monkeypatch.setattr(dealing, "_TASK_BYTES", 20_000)
    chance = random.Random(f"{recipe}{kill.__name__}")
    killed: list[int] = []
    real = dealing.deal_buckets

    def killing(staging: Any, order: Any, each: Any) -> Any:
        def each_and_kill(work: Any, items: Any) -> Iterator[Any]:
            for number, found in enumerate(each(work, items)):
                if number == 1 and not killed:
                    killed.append(number)
                    kill(cluster, chance)
                yield found

        return real(staging, order, each_and_kill)

    monkeypatch.setattr(shard_writing, "deal_buckets", killing)
    source, options = RECIPES[recipe](inputs)
    rs.make(source, quick_path / "out", name="data", engine="ray", **options)
    assert killed
    assert file_digests(quick_path / "out") == expected[recipe]


def object_digests(url: str) -> list[tuple[str, str]]:
    """The names of all objects below a URL, without their folders, some of which are random; and digests of shards."""
    folder = open_folder(url)
    found = []
    for facts in folder.walk():
        name = Path(facts.key).name
        is_shard = ".tfrecord-" in name and not name.endswith(".index")
        content = bytes(folder.get_range(facts.key, 0, facts.size)) if is_shard and facts.size else b""
        found.append((name, hashlib.sha256(content).hexdigest()))
    return sorted(found)


@pytest.mark.proof
@pytest.mark.parametrize("phase", ["reading", "writing", "checking"])
@pytest.mark.parametrize("kill", [kill_node, kill_worker])
def test_killed_on_the_way_to_a_store(
    kill: Callable[[Any, random.Random], None], phase: str, cluster: Any, inputs: Path, quick_path: Path, s3_url: str
) -> None:
    """SeaweedFS; the workers meet in a shared staging folder."""
    chance = random.Random(f"{kill.__name__}{phase}")
    killed: list[str] = []

    def on_progress(progress: Any) -> None:
        if progress.phase == phase and progress.done * 3 >= (progress.total or 1) and not killed:
            killed.append(progress.phase)
            kill(cluster, chance)
            assert not object_digests(f"{s3_url}/ray"), "nothing is there before everything is"

    source, options = RECIPES["tables"](inputs)
    rs.make(source, f"{s3_url}/local", name="data", staging=quick_path / "local", **options)
    rs.make(
        source,
        f"{s3_url}/ray",
        name="data",
        staging=quick_path / "ray",
        engine="ray",
        on_progress=on_progress,
        **options,
    )
    assert killed == [phase]
    assert object_digests(f"{s3_url}/ray") == object_digests(f"{s3_url}/local")


@pytest.mark.proof
@pytest.mark.parametrize("phase", ["reading", "writing", "publishing"])
def test_a_driver_killed_on_the_way_to_a_store(
    phase: str, cluster: Any, inputs: Path, quick_path: Path, s3_url: str
) -> None:
    source, options = RECIPES["tables"](inputs)
    rs.make(source, f"{s3_url}/local", name="data", staging=quick_path / "local", **options)
    staging = quick_path / "staging"
    words = ["tables", str(inputs), f"{s3_url}/ray", cluster.address, phase, str(staging)]
    driver = subprocess.run(
        [sys.executable, "-c", _DRIVER, *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert driver.returncode == -signal.SIGKILL, driver.stderr[-2000:]
    rs.make(source, f"{s3_url}/ray", name="data", staging=staging, engine="ray", resume=True, **options)
    assert object_digests(f"{s3_url}/ray") == object_digests(f"{s3_url}/local")


@pytest.fixture
def damaged(inputs: Path, quick_path: Path) -> Path:
    """A dataset in many units and files, some of them damaged."""
    source, options = RECIPES["tables"](inputs)
    data = quick_path / "data"
    rs.make(source, data, name="data", **options)
    for shard in sorted(data.glob("*.tfrecord-*"))[::3]:
        content = bytearray(shard.read_bytes())
        content[len(content) // 2] ^= 8
        shard.write_bytes(content)
    return data


@pytest.mark.proof
@pytest.mark.parametrize("kill", [kill_node, kill_worker])
def test_killed_while_checking_repairing_and_exporting(
    kill: Callable[[Any, random.Random], None],
    cluster: Any,
    damaged: Path,
    quick_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(divided_survey, "_UNIT_BYTES", 2000)
    chance = random.Random(kill.__name__)
    kills: list[str] = []

    def killing(name: str) -> Callable[..., None]:
        def on_progress(*_: Any) -> None:
            if name not in kills:
                kills.append(name)
                kill(cluster, chance)

        return on_progress

    on_ray = rs.check(damaged, engine="ray", progress=killing("check")).to_json()
    assert on_ray == rs.check(damaged, progress=False).to_json()
    here = rs.repair(damaged, quick_path / "local", progress=False)
    there = rs.repair(damaged, quick_path / "ray", engine="ray", progress=killing("repair"))
    assert there.records == here.records
    assert file_digests(quick_path / "ray") == file_digests(quick_path / "local")
    rs.export(quick_path / "local", quick_path / "tables", to="csv", progress=False)
    rs.export(quick_path / "local", quick_path / "ray-tables", to="csv", engine="ray", on_progress=killing("export"))
    assert file_digests(quick_path / "ray-tables") == file_digests(quick_path / "tables")
    assert kills == ["check", "repair", "export"]


def drive(recipe: str, inputs: str, out: str, address: str, phase: str, staging: str | None = None) -> None:
    """Make a dataset, and be killed in the middle of a phase."""
    import ray

    from recordsmith.storage.objects.folder_upload import FolderUpload
    from recordsmith.storage.publication import run as publication

    def on_progress(progress: Any) -> None:
        halfway = progress.phase == "ordering" or progress.done * 3 >= (progress.total or 1)
        if progress.phase == phase and halfway:
            os.kill(os.getpid(), signal.SIGKILL)

    if phase == "publishing" and staging is not None:
        FolderUpload.commit = lambda *_: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[method-assign]
    elif phase == "publishing":
        publication.Publication._finish = lambda _: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[assignment,method-assign]
    ray.init(address=address, _node_ip_address=LOOPBACK, log_to_driver=False, logging_level="error")
    source, options = RECIPES[recipe](Path(inputs))
    made = rs.make(source, out, name="data", staging=staging, engine="ray", on_progress=on_progress, **options)
    sys.stderr.write(json.dumps({"rows": made.rows}))
