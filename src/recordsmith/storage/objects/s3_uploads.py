"""Uploads in parts that were begun on S3 and not finished: listing and aborting them, which obstore cannot do.

A process that is killed while it uploads leaves the parts it has sent. They are not visible, and cost money until they
are aborted. Azure forgets such parts after a week by itself.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import quote, urlencode, urlsplit

from recordsmith.storage.objects.addresses import scheme_of
from recordsmith.storage.objects.store_settings import Settings

__all__ = ["UnfinishedUploads"]

_LONGEST_ANSWER = 8 << 20  # 1,000 uploads a page
_MOST_PAGES = 1000
_SECONDS = 30


@dataclass(frozen=True)
class UnfinishedUploads:
    """The unfinished uploads of a bucket.

    Attributes:
        bucket: its name.
        folder: the keys that are meant begin with it.
        settings: of the store.
    """

    bucket: str
    folder: str
    settings: Settings = field(repr=False)

    @classmethod
    def of(cls, url: str, settings: Settings) -> UnfinishedUploads | None:
        """Return those of a folder of S3; None where they cannot be asked for."""
        if scheme_of(url) not in ("s3", "s3a") or settings.keys is None:
            return None
        bucket, _, folder = url.partition("://")[2].partition("/")
        return cls(bucket, folder.strip("/"), settings)

    def abort(self, prefix: str) -> int:
        """Abort those whose key begins with the folder and this prefix, and return how many there were."""
        found = list(self.listed(prefix))
        for key, upload in found:
            self._ask("DELETE", key, {"uploadId": upload})
        return len(found)

    def listed(self, prefix: str) -> Iterator[tuple[str, str]]:
        """Give the key and the id of each."""
        from xml.etree import ElementTree as ET

        start = "/".join(filter(None, (self.folder, prefix)))
        after: dict[str, str] = {}
        for _ in range(_MOST_PAGES):
            # An answer is at most 8 MiB long, and Python's parser of XML limits what entities may become.
            page = ET.fromstring(self._ask("GET", "", {"uploads": "", "prefix": start, **after}))  # noqa: S314
            space = page.tag.partition("}")[0] + "}" if page.tag.startswith("{") else ""
            for upload in page.iter(f"{space}Upload"):
                yield upload.findtext(f"{space}Key", ""), upload.findtext(f"{space}UploadId", "")
            if page.findtext(f"{space}IsTruncated") != "true":
                return
            after = {
                "key-marker": page.findtext(f"{space}NextKeyMarker", ""),
                "upload-id-marker": page.findtext(f"{space}NextUploadIdMarker", ""),
            }

    def _ask(self, method: str, key: str, query: dict[str, str]) -> bytes:
        """Send a signed request without a body (AWS Signature Version 4), and return the answer."""
        import http.client
        import ssl

        host = self.settings.endpoint or f"https://s3.{self.settings.region}.amazonaws.com"
        parts = urlsplit(host)
        path = quote(f"{parts.path.rstrip('/')}/{self.bucket}" + (f"/{key}" if key else ""), safe="/~")
        target = urlencode(sorted(query.items()), quote_via=quote, safe="~")
        connection = (
            http.client.HTTPConnection(parts.netloc, timeout=_SECONDS)
            if parts.scheme == "http" and self.settings.allow_http
            else http.client.HTTPSConnection(parts.netloc, timeout=_SECONDS, context=ssl.create_default_context())
        )
        try:
            connection.request(method, f"{path}?{target}", headers=self._signed(method, parts.netloc, path, target))
            answer = connection.getresponse()
            body = answer.read(_LONGEST_ANSWER)
        except http.client.HTTPException as error:
            raise OSError(f"{type(error).__name__}: {error}") from None
        finally:
            connection.close()
        if answer.status >= 300 and not (method == "DELETE" and answer.status == 404):
            raise OSError(f"{method} - Server returned non-2xx status code: {answer.status} {answer.reason}: {body!r}")
        return body

    def _signed(self, method: str, host: str, path: str, query: str) -> dict[str, str]:
        if self.settings.keys is None:
            return {}
        key, secret, token = self.settings.keys()
        now = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        nothing = hashlib.sha256(b"").hexdigest()
        headers = {"host": host, "x-amz-content-sha256": nothing, "x-amz-date": now}
        if token:
            headers["x-amz-security-token"] = token
        names = ";".join(sorted(headers))
        lines = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
        request = f"{method}\n{path}\n{query}\n{lines}\n{names}\n{nothing}"
        scope = f"{now[:8]}/{self.settings.region}/s3/aws4_request"
        text = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{hashlib.sha256(request.encode()).hexdigest()}"
        signing = f"AWS4{secret}".encode()
        for part in (*scope.split("/"), text):
            signing = hmac.digest(signing, part.encode(), "sha256")
        headers["authorization"] = (
            f"AWS4-HMAC-SHA256 Credential={key}/{scope}, SignedHeaders={names}, Signature={signing.hex()}"
        )
        return headers
