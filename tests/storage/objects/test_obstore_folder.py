"""Folders of S3, on two servers, and behind a proxy that fails."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import recordsmith as rs
from recordsmith.storage.objects import ConditionFailedError, open_folder
from tests.storage.servers.faulty_proxy import Fault, FaultyProxy
from tests.storage.servers.s3_servers import SECRET_KEY

pytest.importorskip("obstore")

NAMES = ["a.tfrecord", "with space & ümlaut#1%20.txt", "deep/er/b"]


def test_objects_are_written_listed_read_and_deleted(every_s3_url: str) -> None:
    write_list_read_and_delete(every_s3_url)


def test_azure(azure_url: str, tmp_path: Path) -> None:
    write_list_read_and_delete(azure_url)
    folder = open_folder(azure_url)
    etag = folder.put("a", b"first", create=True)
    with pytest.raises(ConditionFailedError):
        folder.put("a", b"second", create=True)
    folder.put("a", b"third", etag=etag)
    with pytest.raises(ConditionFailedError):
        folder.put("a", b"fourth", etag=etag)
    assert {facts.etag for facts in folder.walk()} == {folder.head("a").etag}
    with pytest.raises(rs.RecordsmithError, match="changed"):
        folder.get_range("a", 0, 3, etag=etag)
    data = os.urandom(20 << 20)
    (tmp_path / "file").write_bytes(data)
    folder.upload("file", str(tmp_path / "file"))
    assert b"".join(folder.stream("file")) == data


def write_list_read_and_delete(url: str) -> None:
    folder = pickle.loads(pickle.dumps(open_folder(url)))
    for name in NAMES:
        folder.put(name, name.encode())
    assert {facts.key: facts.size for facts in folder.walk()} == {name: len(name.encode()) for name in NAMES}
    assert [facts.key for facts in folder.walk("deep")] == ["deep/er/b"]
    files, folders = folder.contents()
    assert [facts.key for facts in files] == NAMES[:2]
    assert folders == ["deep"]
    for name in NAMES:
        facts = folder.head(name)
        data, read = folder.read(name, longest=100)
        assert (data, read) == (name.encode(), facts)
        assert bytes(folder.get_range(name, 1, 4, etag=facts.etag)) == name.encode()[1:4]
        assert b"".join(folder.stream(name, block=3)) == name.encode()
    ranges = [(0, 1), (2, 5), (1, 1), (4, 9)]
    assert [bytes(part) for part in folder.get_ranges(NAMES[0], ranges)] == [b"a.tfrecord"[a:b] for a, b in ranges]
    folder.delete([*NAMES, "missing"])
    assert list(folder.walk()) == []


@pytest.mark.parametrize("name", ["run #1", "what?", "at 12%3A00", "50%25", "ünï 数据", "a+b&c=d"])
def test_a_folder_has_the_name_that_the_url_says(every_s3_url: str, name: str) -> None:
    """A # or ? and all after it was left out: two outputs could be one folder. What looked encoded was decoded."""
    open_folder(f"{every_s3_url}/{name}").put("a", b"data")
    open_folder(f"{every_s3_url}/{name}/deep").put("b", b"more")
    assert sorted(facts.key for facts in open_folder(every_s3_url).walk()) == [f"{name}/a", f"{name}/deep/b"]
    assert [facts.key for facts in open_folder(f"{every_s3_url}/{name}").walk()] == ["a", "deep/b"]


def test_a_missing_object_says_where(s3_url: str) -> None:
    with pytest.raises(FileNotFoundError, match=f"{s3_url}/no.tfrecord"):
        open_folder(s3_url).head("no.tfrecord")


def test_a_changed_object_is_an_error_and_never_a_mixture(every_s3_url: str) -> None:
    folder = open_folder(every_s3_url)
    folder.put("a", b"old bytes")
    facts = folder.head("a")
    folder.put("a", b"new bytes")
    with pytest.raises(rs.RecordsmithError, match="changed while it was in use"):
        folder.get_range("a", 0, 3, etag=facts.etag)
    with pytest.raises(rs.RecordsmithError, match="changed"):
        list(folder.stream("a", facts=facts))


def test_conditional_writes(every_s3_url: str) -> None:
    folder = open_folder(every_s3_url)
    etag = folder.put("a", b"first", create=True)
    with pytest.raises(ConditionFailedError):
        folder.put("a", b"second", create=True)
    assert folder.put("a", b"first", create=True) == etag  # it is there as it was to be written
    folder.put("a", b"third", etag=etag)
    with pytest.raises(ConditionFailedError):
        folder.put("a", b"fourth", etag=etag)
    assert folder.read("a", longest=10)[0] == b"third"


def test_a_large_file_is_uploaded_in_parts(every_s3_url: str, tmp_path: Path) -> None:
    data = os.urandom(20 << 20)
    (tmp_path / "file").write_bytes(data)
    folder = open_folder(every_s3_url)
    sent: list[int] = []
    etag = folder.upload("file", str(tmp_path / "file"), advance=sent.append)
    assert sum(sent) == len(data)
    assert b"".join(folder.stream("file")) == data
    assert folder.head("file").etag == etag
    assert folder.abort_uploads("") == 0


def test_too_large_an_object_is_not_read(s3_url: str) -> None:
    folder = open_folder(s3_url)
    folder.put("a", b"x" * 11)
    with pytest.raises(rs.RecordsmithError, match="too large"):
        folder.read("a", longest=10)


PASSING = [
    Fault("reset"),
    Fault("lost answer"),
    Fault("truncated"),
    Fault("status", 500),
    Fault("status", 503, "SlowDown"),
    Fault("stall", seconds=30),
]


@pytest.mark.parametrize("fault", PASSING, ids=lambda fault: f"{fault.kind} {fault.status}")
def test_what_passes_is_tried_again(fault: Fault, faulty_proxy: FaultyProxy, s3_url: str, monkeypatch, caplog) -> None:
    caplog.set_level("INFO", "recordsmith")
    monkeypatch.setenv("RECORDSMITH_REMOTE_TIMEOUT", "4")
    folder = open_folder(s3_url)
    data = os.urandom(100_000)
    faulty_proxy.fail(fault, times=1, method="PUT")
    etag = folder.put("a", data, create=True)
    faulty_proxy.fail(fault, times=1, method="GET")
    assert bytes(folder.get_range("a", 10, 90_000, etag=etag)) == data[10:90_000]
    faulty_proxy.fail(fault, times=1, method="GET")
    assert [facts.size for facts in folder.walk()] == [len(data)]
    assert all("trying again for up to" in text and SECRET_KEY not in text for text in caplog.messages)
    assert caplog.messages or fault.kind != "truncated"  # others are repeated by obstore


@pytest.mark.parametrize("fault", PASSING, ids=lambda fault: f"{fault.kind} {fault.status}")
def test_what_does_not_pass_is_one_error_within_the_limit(
    fault: Fault, faulty_proxy: FaultyProxy, s3_url: str, monkeypatch
) -> None:
    monkeypatch.setenv("RECORDSMITH_REMOTE_TIMEOUT", "1")
    folder = open_folder(s3_url)
    folder.put("a", b"x" * 1000)
    faulty_proxy.fail(fault, times=10**6, method="GET")
    begun = time.monotonic()
    with pytest.raises(rs.RecordsmithError) as raised:
        folder.get_range("a", 0, 1000)
    assert time.monotonic() - begun < 20
    text = str(raised.value)
    assert "could not be used" in text
    assert f"{s3_url}/a" in text
    assert "the limit is 1 s" in text
    assert SECRET_KEY not in text
    if fault.kind == "status":
        assert str(fault.status) in text


def test_a_wrong_etag_is_an_error(faulty_proxy: FaultyProxy, s3_url: str) -> None:
    folder = open_folder(s3_url)
    etag = folder.put("a", b"bytes")
    faulty_proxy.fail(Fault("wrong etag"), method="GET")
    with pytest.raises(rs.RecordsmithError, match="changed"):
        folder.get_range("a", 0, 5, etag=etag)


def test_wrong_keys_are_one_error_without_the_keys(s3_url: str, monkeypatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another-secret-key")
    with pytest.raises(rs.RecordsmithError, match="denied") as raised:
        open_folder(s3_url).read("a", longest=10)
    assert "another-secret-key" not in str(raised.value)
    assert "SignatureDoesNotMatch" in str(raised.value)


def test_no_keys_are_said(s3_url: str, monkeypatch) -> None:
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    with pytest.raises(rs.RecordsmithError, match="no credentials were found"):
        open_folder(s3_url).put("a", b"x")


def test_a_profile_has_keys_region_and_endpoint(s3_url: str, tmp_path: Path, monkeypatch) -> None:
    keys = [os.environ.pop(name) for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")]
    endpoint = os.environ.pop("AWS_ENDPOINT_URL")
    (tmp_path / "config").write_text(f"[profile lab]\nregion = us-east-1\nendpoint_url = {endpoint}\n")
    (tmp_path / "credentials").write_text(f"[lab]\naws_access_key_id={keys[0]}\naws_secret_access_key={keys[1]}\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_PROFILE", "lab")
    monkeypatch.delenv("AWS_REGION")
    folder = open_folder(s3_url)
    folder.put("a", b"x")
    assert folder.read("a", longest=1)[0] == b"x"
    assert folder.abort_uploads("") == 0
    monkeypatch.setenv("AWS_PROFILE", "lap")
    with pytest.raises(rs.RecordsmithError, match="profile does not exist"):
        open_folder(s3_url).head("a")


def test_a_missing_package_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(rs.RecordsmithError, match=r"needs obstore, which[^$]*pip install .obstore"):
        open_folder("s3://bucket").head("a")


def test_the_limit_is_a_time(s3_url: str, monkeypatch) -> None:
    monkeypatch.setenv("RECORDSMITH_REMOTE_TIMEOUT", "soon")
    with pytest.raises(rs.RecordsmithError, match="not a time"):
        open_folder(s3_url).head("a")


def test_ctrl_c_does_not_wait_for_the_server(faulty_proxy: FaultyProxy, s3_url: str) -> None:
    faulty_proxy.fail(Fault("stall", seconds=1000), times=10**6)
    code = "import sys; from recordsmith.storage.objects import open_folder; open_folder(sys.argv[1]).head('a')"
    with subprocess.Popen([sys.executable, "-c", code, s3_url], stderr=subprocess.PIPE) as process:
        while not faulty_proxy.requests:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert b"KeyboardInterrupt" in process.communicate(timeout=60)[1]
