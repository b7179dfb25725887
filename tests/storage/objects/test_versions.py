"""Which objects of a remote folder are in force: what recordsmith.json says is checked."""

from __future__ import annotations

import json
from typing import Any

import pytest

import recordsmith as rs
from recordsmith.storage.objects import Published, open_folder, read_published
from recordsmith.storage.objects.versions import PublishedFile

fsspec = pytest.importorskip("fsspec")

URL = "memory://bucket/data"
FILE = PublishedFile(3, "0" * 64)
SOUND = Published("version-0123456789abcdef", {"a.tfrecord": FILE}, document={"name": "pets"})


@pytest.fixture(autouse=True)
def empty_storage() -> None:
    fsspec.filesystem("memory").rm("/", recursive=True)


def test_what_is_written_is_read() -> None:
    folder = open_folder(URL)
    assert read_published(folder) is None
    folder.put("recordsmith.json", SOUND.to_bytes())
    found = read_published(folder)
    assert found is not None
    assert (found.folder, found.files, found.document) == (SOUND.folder, SOUND.files, SOUND.document)
    assert found.url(URL) == f"{URL}/version-0123456789abcdef"


def test_a_manifest_that_others_uploaded_has_its_files_beside_it() -> None:
    open_folder(URL).put("recordsmith.json", b'{"name": "pets"}')
    found = read_published(open_folder(URL))
    assert found is not None
    assert found.url(URL) == URL


@pytest.mark.parametrize(
    "change",
    [
        {"folder": "../elsewhere"},
        {"folder": "version-0123456789abcdef/.."},
        {"folder": 5},
        {"replaced": "/"},
        {"files": []},
        {"files": {"../a": {"bytes": 1, "sha256": "0" * 64}}},
        {"files": {"a": {"bytes": -1, "sha256": "0" * 64}}},
        {"files": {"a": {"bytes": True, "sha256": "0" * 64}}},
        {"files": {"a": {"bytes": 1, "sha256": "x"}}},
        {"files": {"a": {"bytes": 1}}},
        {"files": {"a": 7}},
    ],
    ids=str,
)
def test_a_hostile_description_is_an_error(change: dict[str, Any]) -> None:
    document = json.loads(SOUND.to_bytes())
    document["published"] |= change
    open_folder(URL).put("recordsmith.json", json.dumps(document).encode())
    with pytest.raises(rs.RecordsmithError, match="cannot be read"):
        read_published(open_folder(URL))


@pytest.mark.parametrize("text", [b"", b"[]", b"{", b"\xff", b'{"published": 3}', b"[" * 100_000], ids=range(6))
def test_what_is_not_a_description_is_an_error(text: bytes) -> None:
    open_folder(URL).put("recordsmith.json", text)
    with pytest.raises(rs.RecordsmithError, match="cannot be read"):
        read_published(open_folder(URL))
