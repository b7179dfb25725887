"""The truths of a loader on s3://: pairs, every record once, order, ranks, resuming elsewhere, a failing network."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.storage.objects import open_folder
from recordsmith.storage.ranged import opening, remote_object
from recordsmith.storage.ranged.requests import RemoteReadError
from tests.storage.ranged.remote_data import ROWS, SHARDS, check_pairs, upload, write_rows
from tests.storage.servers.faulty_proxy import Fault
from tests.storage.servers.s3_servers import SECRET_KEY

pytest.importorskip("obstore")


@pytest.fixture(scope="session")
def local(tmp_path_factory):
    return write_rows(tmp_path_factory.mktemp("remote") / "data")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RECORDSMITH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "indexes"))
    forget()


def forget():
    """Behave like a new process: nothing is in memory."""
    opening._objects.clear()
    opening._folders.clear()
    remote_object._arrived.forget()


@pytest.fixture
def remote(local, s3_url):
    return upload(local, s3_url)


def fed(loader):
    numbers = []
    for batch in loader:
        check_pairs(batch)
        numbers += batch["n"].tolist()
    return numbers


CHAINS = {
    "in order": lambda ds: ds,
    "exact": lambda ds: ds.shuffle(seed=3, exact=True),
    "windows": lambda ds: ds.shuffle(seed=3, exact=False),
    "buffer": lambda ds: ds.shuffle(seed=3, buffer=50),
    "filtered": lambda ds: ds.shuffle(seed=3).filter(lambda row: row["n"] % 3 == 0),
    "part": lambda ds: ds[10:700].shuffle(seed=3),
}


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("limit", ["1GB", "0"])
def test_every_row_comes_once_with_its_label_and_as_from_local_files(local, remote, name, limit, monkeypatch):
    monkeypatch.setenv("RECORDSMITH_CACHE_LIMIT", limit)
    chains = [CHAINS[name](rs.open(path)).batch(32) for path in (remote, local)]
    for _ in range(2):  # epochs
        numbers, expected = map(fed, chains)
        assert numbers == expected
        assert len(set(numbers)) == len(numbers)


def test_windows_of_many_blocks_give_every_row_once(remote, monkeypatch):
    from recordsmith.loader.order import read_blocks

    monkeypatch.setattr(read_blocks, "BLOCK_BYTES", 4096)
    monkeypatch.setattr(read_blocks, "_REMOTE_WINDOW", 40_000)
    loader = rs.open(remote).shuffle(seed=1, exact=False).batch(16)
    first, second = fed(loader), fed(loader)
    assert first != second
    assert sorted(first) == sorted(second) == list(range(ROWS))


def test_small_records_are_shuffled_in_windows_which_is_said_once(remote, monkeypatch, capfd):
    from recordsmith.loader.order import read_blocks

    monkeypatch.setattr(read_blocks, "_FITS_IN_MEMORY", 1000)
    ds = rs.open(remote)
    loaders = [ds.shuffle(seed=1).batch(8), ds.shuffle(seed=1).batch(8)]
    said = capfd.readouterr().err
    assert said.count("shuffled in windows") == 1
    assert "blocks: " in said
    assert loaders[0].shuffle_quality.kind == "blocks"
    assert ds.shuffle(exact=True).batch(8).shuffle_quality.kind == "exact"


@pytest.mark.parametrize("exact", [True, False])
def test_ranks_share_the_rows(remote, exact):
    shares = [fed(rs.open(remote).shuffle(seed=5, exact=exact).shard(rank, 3).batch(20)) for rank in range(3)]
    assert sorted(number for share in shares for number in share) == list(range(ROWS))


RESUMED = """
import json, sys
import recordsmith as rs
loader = rs.open(sys.argv[1]).shuffle(seed=9, exact=json.loads(sys.argv[2])).batch(16)
loader.restore(json.loads(sys.argv[3]))
print(json.dumps([batch["n"].tolist() for batch in loader]))
"""


@pytest.mark.parametrize("exact", [True, False])
def test_another_process_continues_where_this_one_stopped(remote, exact):
    whole = [batch["n"].tolist() for batch in rs.open(remote).shuffle(seed=9, exact=exact).batch(16)]
    loader = rs.open(remote).shuffle(seed=9, exact=exact).batch(16)
    for _, _ in zip(range(11), loader, strict=False):
        pass
    state = json.dumps(loader.state())
    assert SECRET_KEY not in state
    command = [sys.executable, "-c", RESUMED, remote, json.dumps(exact), state]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
    assert json.loads(done.stdout) == whole[11:]


def test_an_epoch_does_not_ask_for_more_than_the_files_and_the_next_one_for_nothing(faulty_proxy, local, s3_url):
    upload(local, s3_url)
    loader = rs.open(s3_url).shuffle(seed=1, exact=True).batch(32)
    assert len(fed(loader)) == ROWS
    gets = [path for method, path in faulty_proxy.requests if method == "GET" and ".tfrecord" in path]
    assert len(gets) <= 3 * SHARDS  # of files that are smaller than a block: the index, if there is one, and the bytes
    forget()
    before = len(faulty_proxy.requests)
    assert len(fed(rs.open(s3_url).shuffle(seed=1, exact=True).batch(32))) == ROWS
    later = [path for method, path in faulty_proxy.requests[before:] if method == "GET" and "00000-of" in path]
    assert later == []


def test_the_schema_of_large_files_takes_one_request_a_file(faulty_proxy, s3_url, tmp_path):
    rows = {"x": np.random.default_rng(0).random((2000, 2000), dtype=np.float32)}
    rs.make(rows, tmp_path / "large", shards=4, progress=False)  # of 4 MB each: a sample of 2 is looked at
    for described in (tmp_path / "large").glob("*.json"):
        described.unlink()
    upload(tmp_path / "large", s3_url)
    before = len(faulty_proxy.requests)
    dataset = rs.open(s3_url)
    assert list(dataset.schema) == ["x"]
    gets = [path for method, path in faulty_proxy.requests[before:] if method == "GET" and path.endswith("-of-00004")]
    assert len(gets) == 4
    assert len(dataset) == 2000  # the index objects were looked for meanwhile, and are not looked for again
    looks = [path for _, path in faulty_proxy.requests[before:] if path.endswith(".index")]
    assert len(looks) == len(set(looks)) == 4


FAULTS = {
    "reset": Fault("reset"),
    "truncated": Fault("truncated"),
    "500": Fault("status", 500),
    "503": Fault("status", 503, "SlowDown"),
    "a stalled connection": Fault("stall", seconds=30),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_that_passes_changes_nothing(faulty_proxy, local, s3_url, name, monkeypatch):
    monkeypatch.setenv("RECORDSMITH_REMOTE_TIMEOUT", "4" if "stall" in name else "20")
    upload(local, s3_url)
    ds = rs.open(s3_url)
    assert len(ds) == ROWS
    forget()
    monkeypatch.setenv("RECORDSMITH_CACHE_LIMIT", "0")
    faulty_proxy.fail(FAULTS[name], times=1 if "stall" in name else 3, method="GET", path=".tfrecord")
    assert sorted(fed(rs.open(s3_url).shuffle(seed=2, exact=True).batch(64))) == list(range(ROWS))


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_that_stays_is_one_clear_error(faulty_proxy, local, s3_url, name, monkeypatch):
    monkeypatch.setenv("RECORDSMITH_REMOTE_TIMEOUT", "2")
    upload(local, s3_url)
    ds = rs.open(s3_url)
    assert len(ds) == ROWS
    forget()
    monkeypatch.setenv("RECORDSMITH_CACHE_LIMIT", "0")
    loader = rs.open(s3_url).shuffle(seed=2, exact=True).batch(64)
    faulty_proxy.fail(FAULTS[name], times=10_000, method="GET", path=".tfrecord-0")
    with pytest.raises(RemoteReadError, match="could not be used") as caught:
        fed(loader)
    text = "\n".join([str(caught.value), *caught.value.__notes__])
    assert s3_url in text
    assert "given up after" in text
    assert SECRET_KEY not in text


def test_a_network_that_fails_is_not_skipped_like_a_bad_record(faulty_proxy, local, s3_url, monkeypatch):
    monkeypatch.setenv("RECORDSMITH_REMOTE_TIMEOUT", "1")
    upload(local, s3_url)
    assert len(rs.open(s3_url)) == ROWS
    forget()
    monkeypatch.setenv("RECORDSMITH_CACHE_LIMIT", "0")
    loader = rs.open(s3_url).batch(64, on_error="skip")
    faulty_proxy.fail(FAULTS["500"], times=10_000, method="GET", path=".tfrecord-0")
    with pytest.raises(RemoteReadError):
        fed(loader)


@pytest.mark.parametrize("exact", [True, False])
def test_an_object_that_is_replaced_during_an_epoch_is_an_error(local, remote, tmp_path, exact, monkeypatch):
    monkeypatch.setenv("RECORDSMITH_CACHE_LIMIT", "0")
    monkeypatch.setattr(remote_object, "MEMORY", 0)
    other = write_rows(tmp_path / "other", first=100_000)
    seen = []

    def feed():
        for batch in rs.open(remote).shuffle(seed=4, exact=exact).batch(4).prefetch(1):
            check_pairs(batch)
            seen.extend(batch["n"].tolist())
            if len(seen) == 40:
                upload(other, remote)
                remote_object._arrived.forget()

    with pytest.raises(rs.ChangedFileError, match="changed while it was in use") as caught:
        feed()
    assert remote in str(caught.value)
    assert max(seen) < ROWS
    assert sorted(fed(rs.open(remote).batch(50))) == list(range(100_000, 100_000 + ROWS))


def test_an_etag_that_is_not_the_one_asked_for_is_an_error(faulty_proxy, local, s3_url, monkeypatch):
    upload(local, s3_url)
    assert len(rs.open(s3_url)) == ROWS
    forget()
    monkeypatch.setenv("RECORDSMITH_CACHE_LIMIT", "0")
    loader = rs.open(s3_url).batch(64)
    faulty_proxy.fail(Fault("wrong etag"), times=10_000, method="GET", path=".tfrecord-0")
    with pytest.raises(rs.ChangedFileError):
        fed(loader)


def test_ctrl_c_does_not_wait_for_a_stalled_network(faulty_proxy, local, s3_url, monkeypatch):
    upload(local, s3_url)
    assert len(rs.open(s3_url)) == ROWS
    forget()
    monkeypatch.setenv("RECORDSMITH_CACHE_LIMIT", "0")
    faulty_proxy.fail(Fault("stall", seconds=120), times=10_000, method="GET", path=".tfrecord-0")
    script = """
import os, signal, sys, threading, time
import recordsmith as rs
threading.Timer(3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
begun = time.monotonic()
try:
    for batch in rs.open(sys.argv[1]).shuffle(exact=True).batch(4): pass
except KeyboardInterrupt:
    os._exit(7 if time.monotonic() - begun < 60 else 8)
"""
    done = subprocess.run([sys.executable, "-c", script, s3_url], timeout=100, check=False, env=dict(os.environ))
    assert done.returncode == 7


def test_a_forked_process_reads_too_and_so_does_its_child(remote):
    assert len(rs.open(remote)) == ROWS
    forget()
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        try:  # whatever happens, this process must not continue as another one that runs tests
            numbers = fed(rs.open(remote).batch(64))
            forget()
            if (grandchild := os.fork()) == 0:
                numbers += fed(rs.open(remote).batch(64))
                os.write(writing, str(sorted(numbers) == sorted([*range(ROWS), *range(ROWS)])).encode())
            else:
                os.waitpid(grandchild, 0)
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    assert os.read(reading, 100) == b"True"
    os.close(reading)
    assert sorted(fed(rs.open(remote).batch(64))) == list(range(ROWS))


def test_workers_of_a_data_loader_read_by_default(remote):
    torch = pytest.importorskip("torch")
    loader = rs.open(remote).shuffle(seed=2).batch(50)
    expected = fed(loader)
    forget()
    assert torch.utils.data.get_worker_info() is None
    data = torch.utils.data.DataLoader(
        loader.to_torch(), batch_size=None, num_workers=2, multiprocessing_context="fork"
    )
    loader.set_epoch(0)
    numbers = [number for batch in data for number in batch["n"].tolist()]
    assert numbers == expected


def test_damaged_blocks_of_the_cache_are_fetched_again(local, remote, tmp_path):
    expected = fed(rs.open(remote).batch(64))
    blocks = list((tmp_path / "cache").rglob("*.block"))
    assert blocks
    for block in blocks:
        damaged = bytearray(block.read_bytes())
        damaged[len(damaged) // 2] ^= 0xFF
        block.write_bytes(damaged)
    forget()
    assert fed(rs.open(remote).batch(64)) == expected


def test_an_index_object_beside_the_data_is_used_if_it_matches(faulty_proxy, local, s3_url, tmp_path, monkeypatch):
    from recordsmith.records.index import keep_index, upload_index

    upload(local, s3_url)
    files = rs.open(s3_url).files
    for file in files:
        upload_index(file, keep_index(file)[1])
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("RECORDSMITH_CACHE_LIMIT", "0")
    forget()
    before = len(faulty_proxy.requests)
    assert len(rs.open(s3_url)) == ROWS
    gets = [path for method, path in faulty_proxy.requests[before:] if method == "GET" and "tfrecord-0" in path]
    assert all(path.endswith(".index") for path in gets)
    # Of another version of the object it is not believed.
    upload(write_rows(tmp_path / "other", rows=300), s3_url)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "third"))
    forget()
    assert sorted(fed(rs.open(s3_url).batch(64))) == list(range(300))


def test_a_pattern_and_single_files(remote, local):
    files = rs.open(f"{remote}/*.tfrecord-*").files
    assert [os.path.basename(file) for file in files] == sorted(
        name for name in os.listdir(local) if ".tfrecord-" in name
    )
    assert fed(rs.open(files[0], schema=rs.open(local).schema).batch(50)) == fed(
        rs.open(local / os.path.basename(files[0]), schema=rs.open(local).schema).batch(50)
    )
    with pytest.raises(FileNotFoundError, match="No file matches"):
        rs.open(f"{remote}/*.csv")
    with pytest.raises(FileNotFoundError, match="No such remote"):
        rs.open(f"{remote}/nothing")


def test_a_damaged_record_names_its_url(local, s3_url, tmp_path):
    name = next(name for name in os.listdir(local) if ".tfrecord-" in name)
    data = bytearray((local / name).read_bytes())
    data[len(data) // 2] ^= 1
    name = "damaged.tfrecord"
    open_folder(s3_url).put(name, bytes(data))
    with pytest.raises(rs.CorruptRecordError, match=f"{s3_url}/{name}"):
        fed(rs.open(s3_url, schema=rs.open(local).schema).batch(16))


def test_numbers_slices_and_tables_are_those_of_local_files(local, remote):
    ours, theirs = rs.open(remote), rs.open(local)
    for key in ([5], [899, 0, 450], range(100, 200)):
        assert np.array_equal(ours[key]["n"], theirs[key]["n"])
    assert ours.raw(17) == theirs.raw(17)
    assert ours.head(3)[2]["n"] == theirs.head(3)[2]["n"]
    assert ours.verify() == ROWS
    assert ours.to_arrow().equals(theirs.to_arrow())
