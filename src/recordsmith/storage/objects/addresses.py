"""URLs of remote files and folders: taking them apart, and showing them without what is secret."""

from __future__ import annotations

import re
from urllib.parse import quote

__all__ = ["OBSTORE_SCHEMES", "child_url", "encoded_url", "scheme_of", "split_url", "without_secrets"]

OBSTORE_SCHEMES = frozenset({"s3", "s3a", "gs", "az", "azure", "abfs", "abfss", "adl", "http", "https"})


def scheme_of(url: str) -> str:
    """Return the scheme of a URL in lower case.

    >>> scheme_of("S3://bucket/data"), scheme_of("simplecache::s3://bucket/data")
    ('s3', 'simplecache')
    """
    return re.split(r"://|::", url, maxsplit=1)[0].lower()


def split_url(url: str) -> tuple[str, str]:
    """Return the URL of the folder that a URL is in, and the name inside it. A query stays with the folder.

    >>> split_url("s3://bucket/data/a.tfrecord")
    ('s3://bucket/data', 'a.tfrecord')
    >>> split_url("https://host/data/a.tfrecord?signature=1")
    ('https://host/data?signature=1', 'a.tfrecord')
    """
    place, mark, query = _query_apart(url)
    folder, _, name = place.rstrip("/").rpartition("/")
    if not folder or folder.endswith(("/", ":")):  # of a bucket
        return url, ""
    return f"{folder}{mark}{query}", name


def child_url(url: str, name: str) -> str:
    """Return the URL of a file in a folder.

    >>> child_url("s3://bucket/data/", "a.tfrecord"), child_url("https://host/data?signature=1", "a.tfrecord")
    ('s3://bucket/data/a.tfrecord', 'https://host/data/a.tfrecord?signature=1')
    """
    place, mark, query = _query_apart(url)
    return f"{place.rstrip('/')}/{name}{mark}{query}"


def encoded_url(url: str) -> str:
    """Return the URL of a store's folder as obstore takes it: in percent encoding. Here, names stand as they are.

    >>> encoded_url("s3://bucket/run #1/at 12%3A00")
    's3://bucket/run%20%231/at%2012%253A00'
    """
    scheme, mark, rest = url.partition("://")
    bucket, slash, path = rest.partition("/")
    return f"{scheme}{mark}{bucket}{slash}{quote(path)}"


def without_secrets(url: str) -> str:
    """Return a text without the passwords and queries of the addresses in it.

    >>> without_secrets("https://me:secret@host/a.tfrecord?X-Amz-Signature=abc")
    'https://...@host/a.tfrecord?...'
    """
    url = re.sub(r"(?<=://)[^/?#\s]*@", "...@", url)
    return re.sub(r"(://[^?\s]*\?)[^\s'\")]+", r"\1...", url)


def _query_apart(url: str) -> tuple[str, str, str]:
    # Elsewhere a question mark is part of a name.
    return url.partition("?") if scheme_of(url) in ("http", "https") else (url, "", "")
