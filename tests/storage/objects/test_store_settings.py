"""Endpoint, region and credentials are found where other programs find them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import recordsmith as rs
from recordsmith.storage.objects import open_folder, store_settings
from recordsmith.storage.objects.store_settings import settings_for


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith(("AWS_", "GOOGLE_", "AZURE_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(store_settings, "_MACHINE", str(tmp_path))


@pytest.mark.parametrize("scheme", ["s3", "gs", "az"])
def test_without_credentials_requests_are_anonymous(scheme: str) -> None:
    settings = settings_for(scheme)
    assert settings.anonymous
    assert settings.options["skip_signature"]


def test_a_machine_in_the_cloud_has_its_own_role(tmp_path: Path) -> None:
    (tmp_path / "sys_vendor").write_text("Amazon EC2\n")
    assert not settings_for("s3").anonymous
    assert settings_for("gs").anonymous


def test_plain_http_needs_loopback_or_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9000")
    assert settings_for("s3").allow_http
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://minio.example:9000")
    with pytest.raises(rs.RecordsmithError, match="no TLS") as caught:  # obstore would try until the time limit
        settings_for("s3")
    assert "AWS_ALLOW_HTTP=true" in str(caught.value)
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    assert settings_for("s3").allow_http
    monkeypatch.setenv("AZURE_STORAGE_ENDPOINT", "http://azure.example")
    with pytest.raises(rs.RecordsmithError, match="AZURE_ALLOW_HTTP=true"):
        settings_for("az")


@pytest.mark.parametrize(
    "endpoint", ["not a url", "minio:9000", "https://", "https://host:port", "ftp://host", "http://h\u00f6st\n"]
)
def test_an_endpoint_that_is_no_url(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some of them were a panic inside obstore."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    with pytest.raises(rs.RecordsmithError, match="is not a URL"):
        settings_for("s3")


def test_a_url_with_credentials_is_refused_and_not_shown() -> None:
    with pytest.raises(rs.RecordsmithError, match="cannot contain credentials") as caught:
        open_folder("s3://key:a-secret@bucket/data")
    assert "a-secret" not in str(caught.value)
    assert open_folder("abfss://container@account.dfs.core.windows.net/data").url  # that is no user


def test_nothing_that_is_shown_has_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "the-key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "the-secret")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "the-token")
    settings = settings_for("s3")
    assert settings.keys is not None
    assert settings.keys() == ("the-key", "the-secret", "the-token")
    assert {"the-key", "the-secret", "the-token"} <= set(settings.secrets())
    assert "the-" not in repr(settings)
    assert "password" not in open_folder("https://me:password@host/data?signature=password").shown("a")


def test_a_profile_that_needs_more_is_read_by_botocore(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("botocore")
    (tmp_path / ".aws").mkdir()
    program = tmp_path / "program"
    program.write_text('#!/bin/sh\necho \'{"Version": 1, "AccessKeyId": "k", "SecretAccessKey": "s"}\'\n')
    program.chmod(0o755)
    (tmp_path / ".aws" / "config").write_text(f"[default]\nregion = eu-north-1\ncredential_process = {program}\n")
    settings = settings_for("s3")
    assert settings.region == "eu-north-1"
    assert settings.keys is not None
    assert settings.keys()[:2] == ("k", "s")


def test_a_broken_file_is_said(tmp_path: Path) -> None:
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / "config").write_text("region = eu-north-1\n")
    with pytest.raises(rs.RecordsmithError, match="cannot be read"):
        settings_for("s3")
