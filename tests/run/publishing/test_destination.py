"""Datasets written to S3: whole or not at all, the same bytes as on disk, one winner of a race."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.cli import main
from recordsmith.records.index import cached_index
from recordsmith.run.progress import Progress
from recordsmith.storage.objects import open_folder, read_published
from recordsmith.storage.objects.folder_upload import FolderUpload
from recordsmith.storage.objects.obstore_folder import ObstoreFolder
from recordsmith.storage.objects.s3_uploads import UnfinishedUploads
from recordsmith.storage.objects.store_settings import settings_for
from recordsmith.storage.objects.versions import Published
from tests.storage.servers.faulty_proxy import Fault, FaultyProxy
from tests.storage.servers.s3_servers import SECRET_KEY, S3Server

pytest.importorskip("obstore")

SCHEMA = rs.Schema({"n": rs.Scalar("int64")})
ROWS = [{"n": n, "text": "x" * (n % 50)} for n in range(2000)]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECORDSMITH_CACHE", str(tmp_path / "cache"))


def in_force(url: str) -> dict[str, bytes]:
    """Return the files in force, each of which has the digest that recordsmith.json says."""
    published = read_published(open_folder(url))
    assert published is not None
    folder = open_folder(published.url(url))
    found = {name: b"".join(bytes(part) for part in folder.stream(name)) for name in published.files}
    assert {name: hashlib.sha256(data).hexdigest() for name, data in found.items()} == {
        name: file.sha256 for name, file in published.files.items()
    }
    return found


def local_files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def nothing_left(url: str, cache: Path) -> bool:
    """Say whether there is one version, no upload under way, and nothing in the staging folder."""
    folder = open_folder(url)
    published = read_published(folder)
    expected = set() if published is None else {f"{published.folder}/{name}" for name in published.files}
    expected |= set() if published is None else {"recordsmith.json"}
    indexes = {f"{os.path.dirname(key)}/.recordsmith/{os.path.basename(key)}.index" for key in expected}
    staged = [path for path in cache.rglob("*") if path.is_file() and path.suffix != ".lock"]
    found = {facts.key for facts in folder.walk()}
    return found - indexes == expected and folder.abort_uploads("") == 0 and not staged


def test_made_at_a_url_has_the_bytes_of_a_local_one(every_s3_url: str, tmp_path: Path) -> None:
    url = f"{every_s3_url}/pets"
    made = rs.make(ROWS, url, split="train=0.8,test=0.2", shards=2, seed=3)
    rs.make(ROWS, tmp_path / "pets", split="train=0.8,test=0.2", shards=2, seed=3)
    assert in_force(url) == local_files(tmp_path / "pets")
    assert (made.folder, made.rows, made.name) == (url, 2000, "pets")
    document = json.loads(open_folder(url).read("recordsmith.json", longest=10**6)[0])
    assert document["splits"]["train"]["records"] == 1600  # the manifest, for whoever looks at it
    for file in rs.open(url, split="train").files:
        index = cached_index(file)
        assert index is not None, "it is beside the shard: nobody has to read the file for it"
        assert index[0].records == 800
    assert nothing_left(url, tmp_path / "cache")


def test_azure(azure_url: str, tmp_path: Path) -> None:
    rs.make(ROWS, azure_url, name="a", shards=2)
    rs.make(ROWS, tmp_path / "local", name="a", shards=2)
    assert in_force(azure_url) == local_files(tmp_path / "local")
    with pytest.raises(rs.RecordsmithError, match="already"):
        rs.make(ROWS[:10], azure_url, name="a")
    rs.make(ROWS[:10], azure_url, name="a", overwrite=True)
    assert len({facts.key.partition("/")[0] for facts in open_folder(azure_url).walk()}) == 2


def test_what_is_there_is_refused_and_replaced_only_on_demand(s3_url: str, tmp_path: Path) -> None:
    rs.make(ROWS[:10], s3_url, name="a")
    before = in_force(s3_url)
    with pytest.raises(rs.RecordsmithError, match="already") as raised:
        rs.make(ROWS[:20], s3_url, name="a")
    assert s3_url in str(raised.value)
    assert in_force(s3_url) == before
    rs.make(ROWS[:20], s3_url, name="a", overwrite=True)
    assert len(in_force(s3_url)) == len(before)
    assert in_force(s3_url) != before
    assert nothing_left(s3_url, tmp_path / "cache")


def test_a_url_that_could_not_be_opened_again_is_refused() -> None:
    with pytest.raises(rs.RecordsmithError, match="could not be opened again"):
        rs.make({"x": np.arange(3)}, "s3://bucket/run[1]", name="data")


def test_datasets_beside_each_other_whose_names_differ_after_a_mark(s3_url: str) -> None:
    for number in (1, 2):
        rs.make({"x": np.full(5, number)}, f"{s3_url}/run #{number}", name="data")
    for number in (1, 2):
        assert [int(row["x"]) for row in rs.open(f"{s3_url}/run #{number}")] == [number] * 5


def test_files_of_others_are_refused(s3_url: str) -> None:
    open_folder(s3_url).put("train.tfrecord", b"of somebody else")
    with pytest.raises(rs.RecordsmithError, match="already"):
        rs.make(ROWS[:10], s3_url)
    rs.make(ROWS[:10], s3_url, overwrite=True)
    assert open_folder(s3_url).read("train.tfrecord", longest=100)[0] == b"of somebody else"


def test_the_old_version_is_in_force_until_the_last_request(s3_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rs.make(ROWS[:10], s3_url, name="a")
    before = in_force(s3_url)
    seen: list[bool] = []
    usual = ObstoreFolder.put

    def put(self: Any, key: str, data: bytes, **condition: Any) -> Any:
        if key == "recordsmith.json":
            seen.append(in_force(s3_url) == before)
        return usual(self, key, data, **condition)

    monkeypatch.setattr(ObstoreFolder, "put", put)
    rs.make(ROWS[:20], s3_url, name="a", overwrite=True)
    assert seen == [True]


def test_a_run_that_was_overtaken_is_told(s3_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rs.make(ROWS[:10], s3_url, name="a")
    usual = ObstoreFolder.put

    def put(self: Any, key: str, data: bytes, **condition: Any) -> Any:
        if key == "recordsmith.json":
            monkeypatch.setattr(ObstoreFolder, "put", usual)
            rs.make(ROWS[:30], s3_url, name="a", overwrite=True, staging=tmp_path / "other")
        return usual(self, key, data, **condition)

    monkeypatch.setattr(ObstoreFolder, "put", put)
    with pytest.raises(rs.RecordsmithError, match="Another run has written to this output"):
        rs.make(ROWS[:20], s3_url, name="a", overwrite=True)
    rs.make(ROWS[:30], tmp_path / "local", name="a")
    assert in_force(s3_url) == local_files(tmp_path / "local")
    # What the other one had finished is kept: it is uploaded on demand.
    rs.make(ROWS[:20], s3_url, name="a", overwrite=True, resume=True)
    rs.make(ROWS[:20], tmp_path / "second", name="a")
    assert in_force(s3_url) == local_files(tmp_path / "second")
    assert nothing_left(s3_url, tmp_path / "cache")


def test_resuming_what_is_finished_does_nothing(s3_url: str, tmp_path: Path) -> None:
    first = rs.make(ROWS[:10], s3_url, name="a")
    assert rs.make(ROWS[:10], s3_url, name="a", resume=True) == first
    with pytest.raises(rs.RecordsmithError, match="other options") as raised:
        rs.make(ROWS[:10], s3_url, name="b", resume=True)
    assert s3_url in str(raised.value)
    assert nothing_left(s3_url, tmp_path / "cache")


def test_splits_are_added(s3_url: str, tmp_path: Path) -> None:
    for place in (s3_url, str(tmp_path / "local")):
        for split in ("train", "test"):
            with rs.write(place, SCHEMA, name="a", split=split) as writer:
                writer.extend({"n": np.arange(10)})
        with pytest.raises(rs.RecordsmithError, match="split 'test'"):
            rs.write(place, SCHEMA, name="a", split="test")
        with rs.write(place, SCHEMA, name="a", split="train", overwrite=True) as writer:
            writer.extend({"n": np.arange(20)})
    assert in_force(s3_url) == local_files(tmp_path / "local")
    with pytest.raises(ZeroDivisionError), rs.write(s3_url, SCHEMA, name="a", split="third") as writer:
        raise ZeroDivisionError
    assert in_force(s3_url) == local_files(tmp_path / "local")
    assert nothing_left(s3_url, tmp_path / "cache")


def test_copies_exports_and_repairs(every_s3_url: str, tmp_path: Path) -> None:
    rs.make(ROWS, tmp_path / "data", split="train=0.5,test=0.5")
    shards = sorted(name for name in local_files(tmp_path / "data") if "tfrecord" in name)
    bytes_of = local_files(tmp_path / "data")

    assert rs.copy(tmp_path / "data", f"{every_s3_url}/copy", name="data").path == f"{every_s3_url}/copy"
    copied = in_force(f"{every_s3_url}/copy")
    assert {name: copied[name] for name in shards} == {name: bytes_of[name] for name in shards}

    rs.copy(tmp_path / "data", f"{every_s3_url}/all.tfrecord", merge_splits=True)
    rs.copy(tmp_path / "data", tmp_path / "all.tfrecord", merge_splits=True)
    one = open_folder(every_s3_url).read("all.tfrecord", longest=10**7)[0]
    assert one == (tmp_path / "all.tfrecord").read_bytes()
    with pytest.raises(rs.RecordsmithError, match="already"):
        rs.copy(tmp_path / "data", f"{every_s3_url}/all.tfrecord", merge_splits=True)
    rs.copy(tmp_path / "data", f"{every_s3_url}/all.tfrecord", merge_splits=True, take=3, overwrite=True)
    assert open_folder(every_s3_url).read("all.tfrecord", longest=10**7)[0] != one

    exported = rs.export(tmp_path / "data", f"{every_s3_url}/tables", to="parquet")
    assert sorted(exported.files) == [f"{every_s3_url}/tables/test.parquet", f"{every_s3_url}/tables/train.parquet"]
    assert sorted(in_force(f"{every_s3_url}/tables")) == ["test.parquet", "train.parquet"]
    rs.export(tmp_path / "data", f"{every_s3_url}/train.csv", split="train")
    assert open_folder(every_s3_url).read("train.csv", longest=10**7)[0].startswith(b'"n","text"')
    assert open_folder(every_s3_url).head("train.csv.schema.json").size
    with pytest.raises(rs.RecordsmithError, match="only to the URL of a folder"):
        rs.export(tmp_path / "data", f"{every_s3_url}/many.csv", split="train", shard_size="1KB")

    result = rs.repair(tmp_path / "data", f"{every_s3_url}/repaired")
    rs.repair(tmp_path / "data", tmp_path / "repaired")
    assert result.output == f"{every_s3_url}/repaired"
    assert result.files[0].output == f"{every_s3_url}/repaired/{shards[0]}"
    assert in_force(f"{every_s3_url}/repaired") == local_files(tmp_path / "repaired")
    rs.repair(tmp_path / "data" / shards[0], f"{every_s3_url}/one.tfrecord")
    assert open_folder(every_s3_url).read("one.tfrecord", longest=10**7)[0] == bytes_of[shards[0]]


def test_a_copy_to_a_url_and_back_keeps_the_bytes(every_s3_url: str, tmp_path: Path) -> None:
    rs.make(ROWS, tmp_path / "data", split="train=0.5,test=0.5", shards=2)
    rs.copy(tmp_path / "data", f"{every_s3_url}/data", shards=2)
    rs.copy(f"{every_s3_url}/data", tmp_path / "back", name="data", shards=2)
    before, after = local_files(tmp_path / "data"), local_files(tmp_path / "back")
    assert before.pop("recordsmith.json") != after.pop("recordsmith.json")  # which says how each was made
    assert after == before
    assert rs.open(f"{every_s3_url}/data").schema == rs.open(tmp_path / "data").schema


def test_progress_of_an_upload_is_in_bytes(s3_url: str, tmp_path: Path) -> None:
    rs.make(ROWS, tmp_path / "data")
    progress: list[Progress] = []
    rs.copy(tmp_path / "data", s3_url, name="data", on_progress=progress.append)
    sent = [one for one in progress if one.phase == "uploading"]
    assert {one.unit for one in sent} == {"bytes"}
    assert sent[-1].done == sent[-1].total == sum(map(len, in_force(s3_url).values()))


def test_readers_find_the_version_in_force(s3_url: str, tmp_path: Path) -> None:
    url = f"{s3_url}/pets"

    def numbers(path: str) -> list[int]:
        return sorted(int(row["n"]) for row in rs.open(path))

    rs.make(ROWS[:10], url, shards=2)
    open_folder(url).put("version-ffffffffffffffff/pets-train.tfrecord-00000-of-00002", b"of a run that was killed")
    assert numbers(url) == numbers(f"{url}/") == numbers(f"{url}/*.tfrecord-*") == list(range(10))
    one = [numbers(f"{url}/pets-train.tfrecord-0000{shard}-of-00002") for shard in range(2)]
    assert sorted(one[0] + one[1]) == list(range(10))
    assert rs.check(url).ok
    rs.make(ROWS[:20], url, shards=2, overwrite=True)
    assert numbers(url) == list(range(20))
    published = read_published(open_folder(url))
    assert published is not None
    open_folder(published.url(url)).delete(["pets-train.tfrecord-00000-of-00002"])
    with pytest.raises(rs.RecordsmithError, match="missing") as raised:
        rs.open(url)
    assert "pets-train.tfrecord-00000-of-00002" in str(raised.value)


def test_the_command_line(s3_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text("n,m\n1,2\n3,4\n")
    command = ["make", str(tmp_path / "a.csv"), "-o", s3_url, "--name", "a"]
    with pytest.raises(SystemExit, match="0"):
        main([*command, "--staging", str(tmp_path / "s")])
    assert s3_url in capsys.readouterr().out
    with pytest.raises(SystemExit, match="2"):
        main(command)
    text = capsys.readouterr().err
    assert "--overwrite" in text
    assert SECRET_KEY not in text


def test_rejected_rows_are_published_too(s3_url: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("n\n" + "1\n" * 20 + "x\n")
    made = rs.make(tmp_path / "a.csv", s3_url, schema=SCHEMA)
    assert made.rejects == 1
    assert made.rejected_path == f"{s3_url}/rejected.jsonl"
    assert "rejected.jsonl" in in_force(s3_url)


def test_no_secret_is_stored(s3_url: str, tmp_path: Path) -> None:
    rs.make(ROWS[:10], s3_url)
    for data in in_force(s3_url).values():
        assert SECRET_KEY.encode() not in data


def test_storage_without_conditions_is_refused_unless_allowed(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    fsspec.filesystem("memory").rm("/", recursive=True)
    with pytest.raises(rs.RecordsmithError, match="no conditional writes"):
        rs.make(ROWS[:10], "memory://bucket/data")
    rs.make(ROWS[:10], "memory://bucket/data", allow_race=True)
    rs.make(ROWS[:10], tmp_path / "data")
    assert in_force("memory://bucket/data") == local_files(tmp_path / "data")
    with pytest.raises(rs.RecordsmithError, match="already"):
        rs.make(ROWS[:10], "memory://bucket/data", allow_race=True)


def test_a_server_that_ignores_conditions_is_found_out(
    moto_server: S3Server, s3_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FaultyProxy(moto_server.port, dropped_headers=("if-none-match",)) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.endpoint)
        with pytest.raises(rs.RecordsmithError, match="no conditional writes"):
            rs.make(ROWS[:10], s3_url)
        rs.make(ROWS[:10], s3_url, name="a", allow_race=True)
        assert in_force(s3_url)


@pytest.mark.parametrize(
    "fault",
    [Fault("reset"), Fault("lost answer"), Fault("status", 503, "SlowDown"), Fault("status", 500), Fault("truncated")],
    ids=lambda fault: f"{fault.kind} {fault.status}",
)
def test_faults_during_the_upload(
    fault: Fault, faulty_proxy: FaultyProxy, s3_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every third request fails: the dataset is whole all the same."""
    monkeypatch.setenv("RECORDSMITH_REMOTE_TIMEOUT", "30")
    faulty_proxy.fail(fault, times=10**6, every=3)
    rs.make(ROWS, s3_url, name="a", shards=4)
    faulty_proxy.heal()
    rs.make(ROWS, tmp_path / "local", name="a", shards=4)
    assert in_force(s3_url) == local_files(tmp_path / "local")
    assert nothing_left(s3_url, tmp_path / "cache")


def test_a_server_that_fails_is_one_error_and_the_run_is_resumed(
    faulty_proxy: FaultyProxy, s3_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECORDSMITH_REMOTE_TIMEOUT", "1")
    faulty_proxy.fail(Fault("status", 503), times=10**6, method="PUT", path="tfrecord")
    with pytest.raises(rs.RecordsmithError, match="503") as raised:
        rs.make(ROWS, s3_url, name="a")
    assert "resume" in "".join(raised.value.__notes__)
    faulty_proxy.heal()
    with pytest.raises(rs.RecordsmithError, match="unfinished run"):
        rs.make(ROWS, s3_url, name="a")
    rs.make(ROWS, s3_url, name="a", resume=True)
    rs.make(ROWS, tmp_path / "local", name="a")
    assert in_force(s3_url) == local_files(tmp_path / "local")
    assert nothing_left(s3_url, tmp_path / "cache")


# --- several processes ---

RACE = """
import os, sys, time
import recordsmith as rs
from recordsmith.records.index import cached_index
from recordsmith.storage.objects.folder_upload import FolderUpload
url, staging, number, go = sys.argv[1:]
usual = FolderUpload.commit
def commit(self, published):
    print("ready", flush=True)
    while not os.path.exists(go):
        time.sleep(0.0002)
    usual(self, published)
FolderUpload.commit = commit
try:
    rs.make([{"n": int(number) * 1000 + n} for n in range(50)], url, name="a", shards=2, staging=staging)
    print("won")
except rs.RecordsmithError as error:
    print("told" if "Another run" in str(error) else str(error))
"""


def race(url: str, tmp_path: Path, processes: int) -> None:
    """Let processes commit one dataset at the same moment: one of them wins, and the others are told."""
    running = [
        subprocess.Popen(
            [sys.executable, "-c", RACE, url, str(tmp_path / f"staging-{number}"), str(number), str(tmp_path / "go")],
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(processes)
    ]
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    (tmp_path / "go").touch()
    words = [process.communicate(timeout=120)[0].strip() for process in running]
    assert sorted(words) == ["told"] * (processes - 1) + ["won"]
    winner = words.index("won")
    rs.make([{"n": winner * 1000 + n} for n in range(50)], tmp_path / "local", name="a", shards=2)
    assert in_force(url) == local_files(tmp_path / "local")
    for number in range(processes):
        if number != winner:  # what a loser has finished stays on its machine
            assert list((tmp_path / f"staging-{number}").glob("*/out/*/recordsmith.json"))
    assert nothing_left(url, tmp_path / "cache")


def test_one_of_two_racing_processes_wins(s3_url: str, tmp_path: Path) -> None:
    race(s3_url, tmp_path, 2)


@pytest.mark.proof
@pytest.mark.parametrize("number", range(20))
def test_one_of_eight_racing_processes_wins(number: int, s3_url: str, tmp_path: Path) -> None:
    race(s3_url, tmp_path, 8)


KILLED = """
import sys
import recordsmith as rs
from recordsmith.records.index import cached_index
rs.make(sys.argv[1], sys.argv[2], name="a", split="train=0.8,test=0.2", shards=1, staging=sys.argv[3], resume=True)
"""


def killed_and_resumed(url: str, tmp_path: Path, moments: list[float]) -> None:
    """Kill a run at these shares of its usual time, each time go on with it, and compare with a run that was not."""
    rng = np.random.default_rng(0)
    rows = 120_000
    source = tmp_path / "source.npz"
    np.savez(source, n=np.arange(rows), x=rng.random((rows, 64), dtype=np.float32))  # 30 MB, in parts of 8
    command = [sys.executable, "-c", KILLED, str(source)]
    begun = time.monotonic()
    subprocess.run([*command, f"{url}-whole/a", str(tmp_path / "staging-whole")], check=True, timeout=250)
    usual = time.monotonic() - begun
    expected = in_force(f"{url}-whole/a")
    for moment in moments:
        process = subprocess.Popen([*command, f"{url}/a", str(tmp_path / "staging")])
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(moment * usual)
        process.kill()
        process.wait()
        if read_published(open_folder(f"{url}/a")) is not None:  # never a half
            assert in_force(f"{url}/a") == expected
    subprocess.run([*command, f"{url}/a", str(tmp_path / "staging")], check=True, timeout=250)
    assert in_force(f"{url}/a") == expected
    assert nothing_left(f"{url}/a", tmp_path / "staging")


def test_a_killed_run_is_resumed_to_the_same_bytes(s3_url: str, tmp_path: Path) -> None:
    killed_and_resumed(s3_url, tmp_path, [0.5, 0.75, 0.85])


@pytest.mark.parametrize("removed", ["nothing", "a part", "what was written"])
def test_a_run_killed_after_its_last_step_is_finished(
    removed: str, s3_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = f"{s3_url}/a"
    removing = shutil.rmtree

    def killed(path: str, **settings: Any) -> None:
        if removed == "a part":
            next(Path(path).rglob("*.tfrecord*")).unlink()
        elif removed == "what was written":
            removing(path, **settings)
        raise SystemExit

    def make() -> Any:
        return rs.make(ROWS[:50], out, name="a", shards=2, staging=tmp_path / "staging", resume=True)

    committing = FolderUpload.commit

    def committed(upload: FolderUpload, published: Published) -> None:
        committing(upload, published)
        patched.setattr(shutil, "rmtree", killed)

    with monkeypatch.context() as patched:
        patched.setattr(FolderUpload, "commit", committed)
        with pytest.raises(SystemExit):
            make()
    expected = in_force(out)
    assert make().rows == 50
    assert in_force(out) == expected
    assert nothing_left(out, tmp_path / "staging")


def test_parts_that_a_killed_process_left_are_removed(
    faulty_proxy: FaultyProxy, s3_url: str, tmp_path: Path, s3_server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "source.npz"
    np.savez(source, x=np.random.default_rng(0).random((70_000, 64), dtype=np.float32))  # 18 MB
    command = [sys.executable, "-c", KILLED, str(source), s3_url, str(tmp_path / "staging")]
    faulty_proxy.fail(Fault("stall"), times=10**6, method="PUT", path="partNumber=2")
    process = subprocess.Popen(command)
    try:
        while not any("partNumber=2" in path for _, path in faulty_proxy.requests):
            assert process.poll() is None
            time.sleep(0.01)
    finally:
        process.kill()
        process.wait()
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_server.endpoint)
    settings = settings_for("s3")
    left = UnfinishedUploads.of(s3_url, settings)
    assert left is not None
    assert len(list(left.listed(""))) == 1
    subprocess.run(command, check=True, timeout=300)
    assert list(left.listed("")) == []
    assert in_force(s3_url)
    assert nothing_left(s3_url, tmp_path / "staging")


@pytest.mark.proof
@pytest.mark.parametrize("number", range(25))
def test_a_run_that_is_killed_at_a_random_moment_is_resumed(number: int, s3_url: str, tmp_path: Path) -> None:
    killed_and_resumed(s3_url, tmp_path, [float(np.random.default_rng(number).uniform(0.2, 0.95))])
