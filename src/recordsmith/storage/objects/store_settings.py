"""Endpoint, region and credentials of an object store, as other programs find them on this machine.

obstore reads the environment by itself (AWS_ACCESS_KEY_ID, AWS_REGION, GOOGLE_APPLICATION_CREDENTIALS,
AZURE_STORAGE_ACCOUNT_NAME, ...) and asks for the role of a machine or container in the cloud. Added here:

- profiles of ~/.aws/config and ~/.aws/credentials (AWS_PROFILE): keys, region and endpoint_url. A profile that needs
  more (a role, single sign-on, another program) is read by botocore, if that is installed.
- Where there are no credentials at all, and this is no machine of that cloud, requests are sent without a signature,
  as public datasets need it.
- Plain http is allowed for an endpoint on this machine; for others AWS_ALLOW_HTTP=true says so.

Credentials stay inside: they are neither shown nor stored (`secrets` lists them, to be removed from messages).
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from recordsmith.errors import RecordsmithError
from recordsmith.storage.objects.addresses import without_secrets

__all__ = ["Settings", "settings_for"]

_SECRET_NAME = re.compile(r"KEY|SECRET|TOKEN|PASSWORD|SAS|CREDENTIAL", re.IGNORECASE)
_CLOUD_NAME = re.compile(r"^(AWS|AZURE|GOOGLE|GCP|GCS)_")
_RENEWED = timedelta(minutes=10)  # how long obstore uses credentials before it asks botocore again
# What says that obstore finds credentials by itself: a role of a container or of a Kubernetes service account.
_AWS_ROLES = (
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)
_MACHINE = "/sys/class/dmi/id"  # where Linux says who made this machine


@dataclass(frozen=True)
class Settings:
    """What obstore is given next to the URL.

    Attributes:
        options: keyword arguments of its stores.
        allow_http: whether a connection may be without TLS.
        anonymous: no credentials were found: requests are sent without a signature.
        keys: gives the access key, the secret key and the session token of S3; None if only obstore knows them.
        region: of S3.
        endpoint: of S3, if it is not Amazon's.
    """

    options: dict[str, Any] = field(default_factory=dict, repr=False)
    allow_http: bool = False
    anonymous: bool = False
    keys: Callable[[], tuple[str, str, str | None]] | None = field(default=None, repr=False)
    region: str = "us-east-1"
    endpoint: str | None = None

    def secrets(self) -> Iterator[str]:
        """Give all texts that no message may contain."""
        for name, value in os.environ.items():
            if _CLOUD_NAME.match(name) and _SECRET_NAME.search(name) and not os.path.exists(value):
                yield value
        if self.keys is not None:
            with contextlib.suppress(Exception):  # they are asked for while another error is reported
                yield from filter(None, self.keys())


def settings_for(scheme: str) -> Settings:
    """Return the settings of this machine for a kind of store."""
    if scheme in ("s3", "s3a"):
        return _amazon()
    if scheme == "gs":
        anonymous = not (_environment("GOOGLE_") or _is_machine_of("Google") or os.path.exists(_gcloud_file()))
        return Settings({"skip_signature": True} if anonymous else {}, anonymous=anonymous)
    if scheme in ("http", "https"):
        return Settings(allow_http=True)
    anonymous = not _environment("AZURE_", _SECRET_NAME) and not _is_machine_of("Microsoft")
    endpoint = os.environ.get("AZURE_STORAGE_ENDPOINT") or os.environ.get("AZURE_ENDPOINT")
    allow_http = _is_loopback(endpoint) or _is_true("AZURE_ALLOW_HTTP")
    _check_endpoint(endpoint, allow_http=allow_http, allowing="AZURE_ALLOW_HTTP")
    anonymous = anonymous and not os.environ.get("AZURE_CLIENT_ID") and not os.environ.get("AZURE_USE_AZURE_CLI")
    return Settings({"skip_signature": True} if anonymous else {}, allow_http=allow_http, anonymous=anonymous)


def _amazon() -> Settings:
    profile = _profile()
    environment = os.environ
    region = (
        environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or profile.get("region") or "us-east-1"
    )
    endpoint = (
        environment.get("AWS_ENDPOINT_URL_S3")
        or environment.get("AWS_ENDPOINT_URL")
        or environment.get("AWS_ENDPOINT")
        or profile.get("endpoint_url")
    )
    # "multipart" is how S3 itself copies an object only if there is none of that name.
    options: dict[str, Any] = {
        "region": region,
        "copy_if_not_exists": "multipart",
        **({"endpoint": endpoint} if endpoint else {}),
    }
    allow_http = _is_loopback(endpoint) or _is_true("AWS_ALLOW_HTTP")
    _check_endpoint(endpoint, allow_http=allow_http, allowing="AWS_ALLOW_HTTP")
    keys = None
    anonymous = _is_true("AWS_SKIP_SIGNATURE")
    if not anonymous:
        keys = _amazon_keys(profile)
        on_machine = _is_machine_of("Amazon") and not _is_true("AWS_EC2_METADATA_DISABLED")
        anonymous = keys is None and not on_machine and not any(environment.get(name) for name in _AWS_ROLES)
    if anonymous:
        options["skip_signature"] = True
    if keys is not None:
        options["credential_provider"] = _provider(keys)
    return Settings(options, allow_http, anonymous, keys, region, endpoint)


def _amazon_keys(profile: dict[str, str]) -> Callable[[], tuple[str, str, str | None]] | None:
    """Return what gives the keys: those of the environment, then those of the profile."""
    key, secret = os.environ.get("AWS_ACCESS_KEY_ID"), os.environ.get("AWS_SECRET_ACCESS_KEY")
    if key and secret and not os.environ.get("AWS_PROFILE"):
        token = os.environ.get("AWS_SESSION_TOKEN") or os.environ.get("AWS_TOKEN")
        return lambda: (key, secret, token)
    if "aws_access_key_id" in profile and "aws_secret_access_key" in profile:
        known = (profile["aws_access_key_id"], profile["aws_secret_access_key"], profile.get("aws_session_token"))
        return lambda: known
    if any(name in profile for name in ("role_arn", "sso_session", "sso_start_url", "credential_process")):
        return _botocore_keys()
    return None


def _botocore_keys() -> Callable[[], tuple[str, str, str | None]]:
    try:
        import botocore.session
    except ModuleNotFoundError:
        raise RecordsmithError(
            "The AWS profile needs botocore, which is not installed.",
            found="a profile with a role, single sign-on or another program",
            advice="pip install botocore, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
        ) from None
    credentials = botocore.session.Session().get_credentials()

    def keys() -> tuple[str, str, str | None]:
        frozen = credentials.get_frozen_credentials()
        return frozen.access_key, frozen.secret_key, frozen.token

    return keys


def _provider(keys: Callable[[], tuple[str, str, str | None]]) -> Callable[[], dict[str, Any]]:
    def provide() -> dict[str, Any]:
        key, secret, token = keys()
        return {
            "access_key_id": key,
            "secret_access_key": secret,
            "token": token,
            "expires_at": datetime.now(UTC) + _RENEWED,
        }

    return provide


def _profile() -> dict[str, str]:
    """Return what the two files of AWS say of the profile in use; the file of credentials has the last word."""
    import configparser

    name = os.environ.get("AWS_PROFILE") or os.environ.get("AWS_DEFAULT_PROFILE") or "default"
    found: dict[str, str] = {}
    for variable, usual, section in (
        ("AWS_CONFIG_FILE", "~/.aws/config", name if name == "default" else f"profile {name}"),
        ("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials", name),
    ):
        path = os.path.expanduser(os.environ.get(variable) or usual)
        parser = configparser.RawConfigParser(strict=False)
        try:
            parser.read(path, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError, OSError):
            raise RecordsmithError(
                "The settings file of AWS cannot be read.",
                path=path,
                expected="sections such as [default], and lines such as region = eu-central-1",
                advice=f"Correct the file, or set {variable} to another one.",
            ) from None
        if parser.has_section(section):
            found |= dict(parser.items(section))
    if not found and name != "default":
        raise RecordsmithError(
            "The AWS profile does not exist.",
            found=f"AWS_PROFILE={name}",
            advice="Correct AWS_PROFILE, or add the profile with `aws configure`.",
        )
    return found


def _environment(prefix: str, secret: re.Pattern[str] | None = None) -> bool:
    return any(name.startswith(prefix) and (secret is None or secret.search(name)) for name in os.environ)


def _is_true(variable: str) -> bool:
    return os.environ.get(variable, "").lower() in ("1", "true", "yes", "on")


def _check_endpoint(endpoint: str | None, *, allow_http: bool, allowing: str) -> None:
    """Refuse an endpoint that no request can be sent to: obstore would panic, or try until the time limit."""
    if not endpoint:
        return
    shown = without_secrets(endpoint)
    try:
        parts = urlsplit(endpoint)
        is_url = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_url = False
    if not is_url or not endpoint.isascii() or not endpoint.isprintable() or " " in endpoint:
        raise RecordsmithError(
            "The endpoint of the object storage is not a URL.",
            found=shown,
            expected="a URL such as https://minio.example:9000",
            advice="Correct the variable, such as AWS_ENDPOINT_URL, or endpoint_url of the AWS profile.",
        )
    if parts.scheme == "http" and not allow_http:
        raise RecordsmithError(
            "The endpoint of the object storage has no TLS, so others could read what is sent.",
            found=shown,
            expected="https, or an endpoint on this machine",
            advice=f"Use https://, or allow it with {allowing}=true in the environment.",
        )


def _is_loopback(endpoint: str | None) -> bool:
    parts = urlsplit(endpoint or "")
    return parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1")


def _is_machine_of(maker: str) -> bool:
    for name in ("sys_vendor", "board_vendor", "chassis_vendor"):
        with contextlib.suppress(OSError), open(f"{_MACHINE}/{name}", encoding="utf-8", errors="replace") as file:
            if maker in file.read(200):
                return True
    return False


def _gcloud_file() -> str:
    return os.path.expanduser("~/.config/gcloud/application_default_credentials.json")
