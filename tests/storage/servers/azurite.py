"""Azurite on loopback: Microsoft's own stand-in for the Blob Storage of Azure."""

from __future__ import annotations

import base64
import email.utils
import hmac
import shutil
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.storage.servers.s3_servers import BUCKET
from tests.storage.servers.server_keeper import free_ports, kept_server

AZURE_ACCOUNT = "devstoreaccount1"
AZURE_KEY = base64.b64encode(b"a key that no message may show: 64 bytes long, as those of Azure").decode()


@contextmanager
def azurite(folder: Path) -> Iterator[str]:
    """Give the endpoint of the Azurite of this test run, which has one container."""
    program = shutil.which("azurite-blob")
    if program is None:
        pytest.skip("Azurite is not installed: npm install -g azurite")

    def begin(home: Path) -> tuple[list[str], str]:
        (port,) = free_ports(1)
        options = ["--inMemoryPersistence", "--disableTelemetry", "--silent", "--skipApiVersionCheck"]
        accounts = ["env", f"AZURITE_ACCOUNTS={AZURE_ACCOUNT}:{AZURE_KEY}"]
        command = [*accounts, program, *options, "--blobHost", "127.0.0.1", "--blobPort", str(port)]
        return command, f"http://127.0.0.1:{port}"

    with kept_server(folder, "azurite", begin) as endpoint:
        _create_container(f"{endpoint}/{AZURE_ACCOUNT}")
        yield f"{endpoint}/{AZURE_ACCOUNT}"


def _create_container(account: str) -> None:
    date, version = email.utils.formatdate(usegmt=True), "2023-11-03"
    resource = f"/{AZURE_ACCOUNT}/{AZURE_ACCOUNT}/{BUCKET}\nrestype:container"
    text = "PUT" + "\n" * 12 + f"x-ms-date:{date}\nx-ms-version:{version}\n{resource}"
    signature = base64.b64encode(hmac.digest(base64.b64decode(AZURE_KEY), text.encode(), "sha256")).decode()
    headers = {"x-ms-date": date, "x-ms-version": version, "Content-Length": "0"}
    headers["Authorization"] = f"SharedKey {AZURE_ACCOUNT}:{signature}"
    request = urllib.request.Request(f"{account}/{BUCKET}?restype=container", method="PUT", headers=headers)
    try:
        urllib.request.urlopen(request, timeout=30).close()
    except urllib.error.HTTPError as error:
        if error.code != 409:  # another worker was first
            raise
