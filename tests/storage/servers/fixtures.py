"""Fixtures: an S3 server of the test run, a folder in it for one test, and a proxy that fails on demand."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from recordsmith.storage.objects import open_folder
from tests.storage.servers.azurite import AZURE_ACCOUNT, AZURE_KEY, azurite
from tests.storage.servers.faulty_proxy import FaultyProxy
from tests.storage.servers.s3_servers import BUCKET, S3Server, moto, seaweedfs


def _shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the test run: pytest-xdist gives each worker one below it."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if os.environ.get("PYTEST_XDIST_WORKER") else own


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """SeaweedFS, one for all workers."""
    with seaweedfs(_shared(tmp_path_factory)) as server, pytest.MonkeyPatch.context() as patch:
        _enter(server, patch)
        open_folder(f"s3://{BUCKET}").put(".bucket", b"it begins to exist with its first object")
        patch.undo()
        yield server


@pytest.fixture(scope="session")
def moto_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """Moto, one for all workers."""
    with moto(_shared(tmp_path_factory)) as server:
        yield server


def _enter(server: S3Server, monkeypatch: pytest.MonkeyPatch, endpoint: str | None = None) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in server.environment(endpoint).items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def s3_url(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of an empty folder in SeaweedFS; the environment leads to it."""
    _enter(s3_server, monkeypatch)
    return f"s3://{BUCKET}/{uuid.uuid4().hex}"


@pytest.fixture(scope="session")
def azurite_endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Azurite, one for all workers."""
    with azurite(_shared(tmp_path_factory)) as endpoint:
        yield endpoint


@pytest.fixture
def azure_url(azurite_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of an empty folder in Azurite; the environment leads to it."""
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", AZURE_ACCOUNT)
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", AZURE_KEY)
    monkeypatch.setenv("AZURE_STORAGE_ENDPOINT", azurite_endpoint)
    return f"az://{BUCKET}/{uuid.uuid4().hex}"


@pytest.fixture(params=["SeaweedFS", "moto"])
def every_s3_url(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The same on both servers, one after the other."""
    _enter(request.getfixturevalue("s3_server" if request.param == "SeaweedFS" else "moto_server"), monkeypatch)
    return f"s3://{BUCKET}/{uuid.uuid4().hex}"


@pytest.fixture
def faulty_proxy(s3_server: S3Server, s3_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyProxy]:
    """A proxy before SeaweedFS that the environment leads to from now on. It does nothing until it is told to."""
    with FaultyProxy(s3_server.port) as proxy:
        _enter(s3_server, monkeypatch, proxy.endpoint)
        yield proxy
