"""Files of web servers: which of them can be read by ranges.

That needs a server that answers for a range, says how long the file is, and gives a strong ETag, so that a change is
noticed. Whoever serves large files usually has all three (nginx, Apache, Caddy, object stores, CDNs). Two small
requests find out. Other files are downloaded as a whole (`storage.remote_files`), and so are addresses with a password
or a query: a file is named by its URL in states and manifests, where a signature must not be.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from recordsmith.storage.objects import ObjectFacts
from recordsmith.storage.objects.addresses import scheme_of

if TYPE_CHECKING:
    from email.message import Message

__all__ = ["facts_of_web_file", "is_web"]

_SECONDS = 20
_TOTAL = re.compile(r"bytes 0-0/([0-9]{1,18})")
_STRONG_ETAG = re.compile(r'"[\x21\x23-\x7e]{1,200}"')


def is_web(url: str) -> bool:
    """Say whether a URL is that of a web server.

    >>> is_web("https://host/a.tfrecord"), is_web("s3://bucket/a.tfrecord")
    (True, False)
    """
    return scheme_of(url) in ("http", "https")


def facts_of_web_file(url: str, key: str) -> ObjectFacts | None:
    """Return the size and the ETag of a file that can be read by ranges, under its name; None if it cannot."""
    from http.client import HTTPException  # here and below: these take 15 ms to import, and most data is local

    parts = urlsplit(url)
    if parts.query or parts.fragment or "@" in parts.netloc or not key:
        return None
    try:
        status, headers = _answer(url, "HEAD")
        etag = headers.get("ETag", "")
        if status != 200 or not _STRONG_ETAG.fullmatch(etag):
            return None
        status, headers = _answer(url, "GET", {"Range": "bytes=0-0", "If-Match": etag})
    except (OSError, ValueError, HTTPException):
        return None  # the download says what is wrong
    total = _TOTAL.fullmatch(headers.get("Content-Range", ""))
    if status != 206 or total is None or headers.get("ETag") != etag:
        return None
    return ObjectFacts(key, int(total[1]), etag)


def _answer(url: str, method: str, headers: dict[str, str] | None = None) -> tuple[int, Message]:
    import urllib.request

    asked = {"Accept-Encoding": "identity", **(headers or {})}
    request = urllib.request.Request(url, method=method, headers=asked)  # noqa: S310 - a web server's
    with urllib.request.urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310 - the same
        return answer.status, answer.headers
