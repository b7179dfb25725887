"""Ray nodes that share nothing but object storage make the files of one machine, whoever is killed."""

from __future__ import annotations

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

import pytest

import recordsmith as rs
from recordsmith.run.engines.ray_engine import RayEngine
from recordsmith.run.shards import dealing, shard_writing, shuffling
from recordsmith.run.staging.scratch import staging_root
from tests.formats.made_sources import file_digests, labelled
from tests.making.making_to_kill import RECIPES, ROOT
from tests.run.engines.cluster import LOOPBACK, add_node, started_cluster
from tests.run.engines.test_ray_kills import kill_worker, tables
from tests.run.store_machines import in_force, left_over
from tests.storage.servers.s3_servers import S3Server

pytest.importorskip("obstore")
PHASES = ("reading", "ordering", "writing", "checking")
_DRIVER = "import sys; from tests.run.engines.test_ray_store import drive; drive(*sys.argv[1:])"


class Nodes:
    """Nodes with folders of their own, which know the store by their environment alone."""

    def __init__(self, cluster: Any, folder: Path, server: S3Server) -> None:
        self.cluster, self._folder, self._server = cluster, folder, server
        self._count = 0

    def add(self) -> None:
        """Add a node."""
        self._count += 1
        own = self._folder / f"node-{self._count}"
        own.mkdir()
        folders = dict.fromkeys(("RECORDSMITH_CACHE", "HOME", "TMPDIR"), str(own))
        add_node(self.cluster, env_vars={**self._server.environment(), **folders})

    def kill(self, chance: random.Random) -> None:
        """Kill a node without grace, and add another one."""
        node = chance.choice(sorted(self.cluster.worker_nodes, key=lambda node: node.unique_id))
        self.cluster.remove_node(node, allow_graceful=False)
        self.add()

    def used(self) -> list[Path]:
        """Return the folders of the processes that have worked on nodes."""
        return list(self._folder.glob("node-*/staging/scratch-*"))

    def left_over(self) -> list[Path]:
        """Return what nodes keep, beside their caches and what a killed process has left to the next one."""
        found = self._folder.glob("node-*/staging/**/*")
        return [path for path in found if path.is_file() and path.suffix != ".lock"]


@pytest.fixture(scope="module")
def nodes(s3_server: S3Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    """A cluster of two nodes."""
    ray = pytest.importorskip("ray")
    if ray.is_initialized():  # the cluster of other tests
        pytest.skip("another cluster is in use: run this file alone")
    with started_cluster(0) as cluster:
        started = Nodes(cluster, tmp_path_factory.mktemp("nodes"), s3_server)
        for _ in range(2):
            started.add()
        yield started


@pytest.fixture(autouse=True)
def no_path_is_shared(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What is sent to the nodes contains no path of the driver's own folder."""
    monkeypatch.setenv("RECORDSMITH_CACHE", str(tmp_path / "driver"))
    usual = RayEngine._done

    def checked(self: Any, work: Any, items: Any, **options: Any) -> Any:
        import ray.cloudpickle

        own = staging_root().encode()

        def looked_at() -> Iterator[Any]:
            for item in items:
                assert own not in ray.cloudpickle.dumps(item)
                yield item

        assert own not in ray.cloudpickle.dumps(work)
        return usual(self, work, looked_at(), **options)

    monkeypatch.setattr(RayEngine, "_done", checked)


def expected_of(recipe: str, folder: Path) -> dict[str, str]:
    source, options = RECIPES[recipe](0.0)
    rs.make(source, folder / "whole", name="data", **options)
    return file_digests(folder / "whole")


@pytest.mark.parametrize("recipe", ["everything", "words", "synthetic"])
def test_the_files_are_those_of_one_machine(recipe: str, nodes: Nodes, s3_url: str, quick_path: Path) -> None:
    """Groups, stratified splits, balance, a vocabulary, made-up rows, compressed shards."""
    expected = expected_of(recipe, quick_path)
    source, options = RECIPES[recipe](0.0)
    url = f"{s3_url}/data"
    made = rs.make(source, url, name="data", engine="ray", **{**options, "workers": None})
    assert made.rows > 0
    assert in_force(url) == expected
    assert left_over(url) == []
    assert nodes.used(), "the nodes have used folders of their own"
    assert nodes.left_over() == []


def small_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffling, "BUCKETS_ABOVE_BYTES", 1000)
    monkeypatch.setattr(shuffling, "_BUCKET_BYTES", 40_000)
    monkeypatch.setattr(shuffling, "_PIECE_BYTES", 9000)
    monkeypatch.setattr(dealing, "_TASK_BYTES", 30_000)


@pytest.mark.usefixtures("nodes")
def test_splits_that_are_too_large_for_random_reads(
    s3_url: str, quick_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records are distributed over buckets, which are objects, by many tasks."""
    source = labelled([n % 5 // 4 for n in range(4000)], names=("cat", "dog"))
    options: dict[str, Any] = {"name": "data", "split": "train=0.8,test=0.2", "balance": "oversample", "shards": 4}
    rs.make(source, quick_path / "local", **options)
    small_buckets(monkeypatch)
    url, staging = f"{s3_url}/data", f"{s3_url}/staging"
    rs.make(source, url, engine="ray", staging=staging, **options)
    assert in_force(url) == file_digests(quick_path / "local")
    assert left_over(url, staging) == []


@pytest.mark.usefixtures("nodes")
def test_copies(s3_url: str, quick_path: Path) -> None:
    data = f"{s3_url}/data"
    rs.make(labelled([n % 3 for n in range(3000)]), data, split="train=0.8,test=0.2", shards=4)
    settings: list[dict[str, Any]] = [{"where": "label != 'cat'", "shuffle": True}, {"drop": ["n"], "shards": 2}]
    for number, options in enumerate(settings):
        rs.copy(data, quick_path / f"local-{number}", name="data", **options)
        rs.copy(data, f"{s3_url}/ray-{number}", name="data", engine="ray", **options)
        assert in_force(f"{s3_url}/ray-{number}") == file_digests(quick_path / f"local-{number}")
        assert left_over(f"{s3_url}/ray-{number}") == []


def stop(phase: str) -> Any:
    def on_progress(progress: Any) -> None:
        if progress.phase == phase and progress.done:
            raise KeyboardInterrupt

    return on_progress


@pytest.mark.usefixtures("nodes")
@pytest.mark.parametrize("phase", ["reading", "checking"])
def test_what_one_engine_began_another_finishes(phase: str, s3_url: str, quick_path: Path) -> None:
    """Ray, one machine, and parts continue what each other has begun."""
    source = labelled([n % 3 for n in range(3000)])
    options: dict[str, Any] = {"name": "data", "split": "train=0.7,test=0.3", "shards": 4}
    rs.make(source, quick_path / "whole", **options)
    expected = file_digests(quick_path / "whole")
    for first, second in (("ray", "local"), ("local", "ray")):
        url = f"{s3_url}/{first}-{second}"
        begun: dict[str, Any] = {"engine": first, "workers": 1, "staging": f"{s3_url}/staging"}
        with pytest.raises(KeyboardInterrupt):
            rs.make(source, url, on_progress=stop(phase), **begun, **options)
        continued: dict[str, Any] = {"engine": second, "workers": 2, "staging": f"{s3_url}/staging"}
        rs.make(source, url, resume=True, **continued, **options)
        assert in_force(url) == expected
        assert left_over(url, f"{s3_url}/staging") == []
    url = f"{s3_url}/beside"
    with pytest.raises(KeyboardInterrupt):
        rs.make(source, url, on_progress=stop(phase), engine="ray", **options)
    rs.make(source, url, resume=True, **options)
    assert in_force(url) == expected, "one machine finds what a cluster has begun at the output"
    assert left_over(url) == []


def killing(kill: Callable[[], None], phase: str, killed: list[str]) -> Any:
    def on_progress(progress: Any) -> None:
        halfway = progress.phase == "ordering" or progress.done * 3 >= (progress.total or 1)
        if progress.phase == phase and halfway and not killed:
            killed.append(progress.phase)
            kill()

    return on_progress


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What one machine makes of the recipe that is killed."""
    out = tmp_path_factory.mktemp("whole") / "data"
    source, options = tables(out)
    rs.make(source, out, name="data", **options)
    return file_digests(out)


@pytest.mark.proof
@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("what", ["node", "worker"])
def test_killed_nodes_and_workers(
    what: str, phase: str, nodes: Nodes, whole: dict[str, str], s3_url: str, quick_path: Path
) -> None:
    chance = random.Random(f"{what}{phase}")
    killed: list[str] = []
    url = f"{s3_url}/data"

    def kill() -> None:
        nodes.kill(chance) if what == "node" else kill_worker(nodes.cluster, chance)

    source, options = tables(quick_path)
    rs.make(source, url, name="data", engine="ray", on_progress=killing(kill, phase, killed), **options)
    assert killed == [phase]
    assert in_force(url) == whole
    assert left_over(url) == []


@pytest.mark.proof
@pytest.mark.parametrize("what", ["node", "worker"])
def test_killed_while_records_are_distributed(
    what: str, nodes: Nodes, whole: dict[str, str], s3_url: str, quick_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_buckets(monkeypatch)
    chance = random.Random(what)
    killed: list[int] = []
    real = dealing.deal_buckets

    def dealing_and_killing(staging: Any, order: Any, each: Any) -> Any:
        def each_and_kill(work: Any, items: Any) -> Iterator[Any]:
            for number, found in enumerate(each(work, items)):
                if number == 1 and not killed:
                    killed.append(number)
                    nodes.kill(chance) if what == "node" else kill_worker(nodes.cluster, chance)
                yield found

        return real(staging, order, each_and_kill)

    monkeypatch.setattr(shard_writing, "deal_buckets", dealing_and_killing)
    source, options = tables(quick_path)
    url = f"{s3_url}/data"
    rs.make(source, url, name="data", engine="ray", **options)
    assert killed
    assert in_force(url) == whole
    assert left_over(url) == []


@pytest.mark.proof
@pytest.mark.parametrize("phase", [*PHASES, "publishing", "cleaning"])
def test_a_killed_driver(phase: str, nodes: Nodes, whole: dict[str, str], s3_url: str, quick_path: Path) -> None:
    """SIGKILL for the process that was started. Another one, on another machine, resumes."""
    url = f"{s3_url}/data"
    own = quick_path / "driver"
    own.mkdir()
    environment = {**os.environ, **dict.fromkeys(("RECORDSMITH_CACHE", "HOME", "TMPDIR"), str(own))}
    words = [url, nodes.cluster.address, phase]
    driver = subprocess.run(
        [sys.executable, "-c", _DRIVER, *words],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert driver.returncode == -signal.SIGKILL, driver.stderr[-2000:]
    time.sleep(1)  # Ray ends the tasks of a driver that is gone
    source, options = tables(quick_path)
    engine: Any = "ray" if phase in ("reading", "checking", "cleaning") else "local"
    rs.make(source, url, name="data", engine=engine, resume=True, **options)
    assert in_force(url) == whole
    assert left_over(url) == []


def drive(url: str, address: str, phase: str) -> None:
    """Make a dataset, and be killed in the middle of a phase."""
    import ray

    from recordsmith.run.staging.run_in_store import RunInStore
    from recordsmith.storage.objects.folder_upload import FolderUpload

    def die(*_: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    if phase == "publishing":
        FolderUpload.commit = die  # type: ignore[assignment,method-assign]
    elif phase == "cleaning":
        RunInStore.clear = die  # type: ignore[assignment,method-assign]
    ray.init(address=address, _node_ip_address=LOOPBACK, log_to_driver=False, logging_level="error")
    source, options = tables(Path())
    made = rs.make(source, url, name="data", engine="ray", on_progress=killing(die, phase, []), **options)
    sys.stderr.write(json.dumps({"rows": made.rows}))
