"""What object stores say when something fails, in one message that names the URL and what was tried."""

from __future__ import annotations

import re
from collections.abc import Iterable

from recordsmith.errors import RecordsmithError
from recordsmith.storage.objects.addresses import without_secrets

__all__ = ["denied", "failed", "is_missing", "is_passing", "missing", "not_opened", "reason"]

_LONGEST_REASON = 200
_STATUS = re.compile(r"non-2xx status code: (\d{3} [A-Za-z ]+)")
_CODE = re.compile(r"<Code>(\w+)</Code>")
_PASSING = re.compile(r"status code: (5\d\d|408|409|429)")
_UNKNOWN_HOST = '"dns error"'
_CAUSE = re.compile(r'\b(?:error|message): "([^"\n]{1,200})"')  # what the operating system said, in obstore's details


def reason(error: BaseException, secrets: Iterable[str] = ()) -> str:
    r"""Return what a store said, in few words and without anything secret.

    >>> reason(OSError("Error performing GET http://h/a - Server returned non-2xx status code: 503 Slow Down: <Code>X"))
    '503 Slow Down'
    >>> reason(OSError('Error performing GET - HTTP error\n\nDebug source: Os { message: "Connection refused" }'))
    'HTTP error: Connection refused'
    """
    text, _, details = str(error).partition("\n\nDebug source")
    status, code = _STATUS.search(text), _CODE.search(text)
    if status is not None:
        return status[1].strip() + (f" ({code[1]})" if code is not None else "")
    cause = _CAUSE.findall(details)
    if cause:
        text = f"{text}: {cause[-1]}"
    for secret in secrets:
        if len(secret) > 3:
            text = text.replace(secret, "...")
    text = " ".join(without_secrets(text).split())
    text = text.partition(" - ")[2] or text
    return text if len(text) <= _LONGEST_REASON else text[: _LONGEST_REASON - 3] + "..."


def is_passing(error: BaseException) -> bool:
    r"""Say whether the same request may succeed a moment later: the server or the network failed, not the request.

    obstore has tried again for some seconds before. A host that nobody knows then is a wrong address, or no network.

    >>> is_passing(OSError("non-2xx status code: 400 Bad Request")), is_passing(OSError("connection reset"))
    (False, True)
    >>> is_passing(OSError('HTTP error\n\nDebug source: ConnectError("dns error")'))
    False
    """
    if _UNKNOWN_HOST in str(error):
        return False
    return _STATUS.search(str(error)) is None or _PASSING.search(str(error)) is not None


def is_missing(error: BaseException) -> bool:
    """Say whether there is no such object or bucket.

    >>> is_missing(OSError("non-2xx status code: 404 Not Found"))
    True
    """
    status = _STATUS.search(str(error))
    return status is not None and status[1].startswith("404")


def missing(error: BaseException, shown: str) -> FileNotFoundError:
    """Return the error about an object, or a whole bucket, that does not exist."""
    bucket = "NoSuchBucket" in str(error) or "ContainerNotFound" in str(error)
    return FileNotFoundError(2, "The bucket does not exist" if bucket else "No such remote file or folder", shown)


def denied(found: str, shown: str, *, anonymous: bool) -> RecordsmithError:
    """Return the error about an object that these credentials do not open."""
    return RecordsmithError(
        "Access to the remote storage was denied.",
        path=shown,
        found=f"{found}; no credentials were found, so the request was not signed" if anonymous else found,
        advice="Check the credentials: environment variables such as AWS_ACCESS_KEY_ID, or the profile AWS_PROFILE."
        " Check that they allow this bucket and this action.",
    )


def failed(found: str, shown: str, *, tried: str) -> RecordsmithError:
    """Return the error about a request that did not succeed within the limit."""
    return RecordsmithError(
        "The remote storage could not be used.",
        path=shown,
        found=f"{found} ({tried})",
        advice="Check the address, the region, the endpoint and the network, then try again."
        " RECORDSMITH_REMOTE_TIMEOUT sets the number of seconds until a request is given up.",
    )


def not_opened(found: str, shown: str) -> RecordsmithError:
    """Return the error about settings with which no request can be made."""
    return RecordsmithError(
        "The remote storage cannot be used with these settings.",
        path=shown,
        found=found,
        advice="Check the URL and the environment variables of the storage, such as AZURE_STORAGE_ACCOUNT_NAME,"
        " AWS_ENDPOINT_URL or GOOGLE_APPLICATION_CREDENTIALS.",
    )
