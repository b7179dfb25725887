"""Commands on s3:// give what they give on local files, and the cache has a command."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner

import recordsmith as rs
from recordsmith.cli.program import main
from tests.storage.ranged.remote_data import ROWS, upload, write_rows
from tests.storage.servers.faulty_proxy import Fault
from tests.storage.servers.s3_servers import SECRET_KEY

pytest.importorskip("obstore")


@pytest.fixture
def places(tmp_path, s3_url, monkeypatch):
    monkeypatch.setenv("RECORDSMITH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "indexes"))
    local = write_rows(tmp_path / "data")
    return str(local), upload(local, s3_url)


def run(*arguments):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert SECRET_KEY not in result.output
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize(
    "command",
    [["show"], ["schema"], ["schema", "--infer"], ["check", "--format", "json"], ["show", "--format", "json"]],
)
def test_a_command_says_the_same_of_a_url(places, command):
    local, remote = places
    ours, theirs = (run(*command, place).replace(place, "DATA") for place in (remote, local))
    if command[-1] == "json":
        ours, theirs = (json.loads(text) for text in (ours, theirs))
    assert ours == theirs


def test_copies_of_a_url_are_the_bytes_of_local_files(places, tmp_path):
    local, remote = places
    run("copy", remote, "-o", tmp_path / "copied", "--name", "proof", "--shards", "3")
    run("copy", local, "-o", tmp_path / "expected", "--name", "proof", "--shards", "3")
    names = [name for name in sorted(os.listdir(tmp_path / "expected")) if ".tfrecord-" in name]
    assert names
    for name in names:
        assert (tmp_path / "copied" / name).read_bytes() == (tmp_path / "expected" / name).read_bytes()


def test_make_export_and_repair_read_from_a_url(places, tmp_path):
    local, remote = places
    run("make", remote, "-o", tmp_path / "made")
    assert len(rs.open(tmp_path / "made")) == ROWS
    run("export", remote, "-o", tmp_path / "ours.csv")
    run("export", local, "-o", tmp_path / "theirs.csv")
    assert (tmp_path / "ours.csv").read_bytes() == (tmp_path / "theirs.csv").read_bytes()
    run("repair", remote, "-o", tmp_path / "repaired")
    assert len(rs.open(tmp_path / "repaired")) == ROWS


def test_an_index_is_uploaded_on_request(places):
    _, remote = places
    assert "3 indexes written" in run("index", remote, "--upload")
    assert ".recordsmith/" in run("index", remote, "--upload")


def test_the_cache_is_shown_and_emptied(places):
    _, remote = places
    run("show", remote)
    full = json.loads(run("cache", "--format", "json"))
    assert full["blocks"] >= 3
    assert full["bytes"] <= full["limit"]
    assert "removed" in run("cache", "--empty")
    assert json.loads(run("cache", "--format", "json"))["blocks"] == 0


def test_an_upload_of_the_index_of_a_local_file_is_refused(places):
    local, _ = places
    result = CliRunner().invoke(main, ["index", local, "--upload"])
    assert result.exit_code == 2
    assert "only for files in an object store" in result.output


@pytest.mark.parametrize("url", ["s3://", "s3:///data", "gs://"])
def test_a_url_without_a_bucket_explains_itself(url, places):
    result = CliRunner().invoke(main, ["show", url])
    assert result.exit_code == 2
    assert "names no bucket" in result.output
    assert f"{url.partition(':')[0]}://bucket/folder" in result.output


def test_ctrl_c_ends_a_check_that_waits_for_the_network(tmp_path, s3_url, faulty_proxy, monkeypatch):
    monkeypatch.setenv("RECORDSMITH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "indexes"))
    monkeypatch.setenv("RECORDSMITH_REMOTE_TIMEOUT", "300")
    upload(write_rows(tmp_path / "data"), s3_url)
    faulty_proxy.fail(Fault("stall", seconds=200), times=10_000, method="GET", path=".tfrecord-0")
    command = [sys.executable, "-m", "recordsmith", "check", s3_url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as checking:
        while not any(method == "GET" and ".tfrecord-0" in path for method, path in faulty_proxy.requests):
            time.sleep(0.1)
        time.sleep(1)  # until all threads wait
        checking.send_signal(signal.SIGINT)
        _, said = checking.communicate(timeout=100)  # which is far below what the connection is stalled for
    assert checking.returncode not in (0, 1)
    assert b"Traceback" not in said
