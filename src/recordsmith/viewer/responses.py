"""What the server sends: pages, images by ranges, the files of the pages, and numbers of records."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from recordsmith.images.png import png_bytes
from recordsmith.viewer.data.media import Media
from recordsmith.viewer.data.searching import Search

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["html_response", "media_response", "numbers_response", "static_response"]

_RANGE = re.compile(r"bytes=(\d*)-(\d*)")
_STATIC = {
    "theme.css": ("recordsmith.report.html", "theme.css", "text/css"),
    "report.css": ("recordsmith.report.html", "page.css", "text/css"),
    "viewer.css": ("recordsmith.viewer", "viewer.css", "text/css"),
    "viewer.js": ("recordsmith.viewer", "viewer.js", "text/javascript"),
}


def html_response(text: str, status: int = 200) -> Response:
    """Return a page, or a part of one."""
    from starlette.responses import HTMLResponse

    return HTMLResponse(text.encode(errors="backslashreplace"), status, headers={"Cache-Control": "no-store"})


def numbers_response(search: Search, *, sample: int | None) -> Response:
    """Return the numbers of the selected records, one a line; all of them or, with the reason, none."""
    from starlette.responses import PlainTextResponse, StreamingResponse

    reason = None
    if search.error is not None:
        reason = str(search.error)
    elif not search.is_done:
        reason = "The search was stopped, because others were started. Ask for the file again."
    elif search.found > search.count:
        reason = f"{search.found:,} records are more than can be listed. Copy them by a condition, with --where."
    if reason is not None:
        return PlainTextResponse(reason, 422, headers={"Cache-Control": "no-store"})

    def lines() -> Iterator[bytes]:
        for number in search.numbers(sample=sample):
            yield b"%d\n" % number

    headers = {"Content-Disposition": 'attachment; filename="records.txt"', "Cache-Control": "no-store"}
    return StreamingResponse(lines(), media_type="text/plain", headers=headers)


def media_response(media: Media, request: Request) -> Response:
    """Return an image, a sound or a video, or the part of it that was asked for."""
    from starlette.responses import Response

    headers = {"Cache-Control": "private, max-age=3600", "Accept-Ranges": "bytes"}
    if media.kind == "application/octet-stream":
        headers["Content-Disposition"] = 'attachment; filename="value.bin"'
    wanted = _RANGE.fullmatch(request.headers.get("range", ""))
    size = len(media.data)
    if wanted is None or wanted[0] == "bytes=-" or not size:
        return Response(media.data, media_type=media.kind, headers=headers)
    if wanted[1]:
        first, last = int(wanted[1]), min(int(wanted[2]) if wanted[2] else size - 1, size - 1)
    else:
        first, last = max(0, size - int(wanted[2])), size - 1
    if first > last:
        return Response(status_code=416, headers={"Content-Range": f"bytes */{size}"})
    headers["Content-Range"] = f"bytes {first}-{last}/{size}"
    return Response(media.data[first : last + 1], 206, media_type=media.kind, headers=headers)


def static_response(request: Request) -> Response:
    """Return a style, the script or the icon of the pages."""
    from starlette.responses import Response

    name = request.path_params.get("name", "icon.png")
    headers = {"Cache-Control": "private, max-age=60"}
    if name == "icon.png":
        return Response(_icon(), media_type="image/png", headers=headers)
    if name not in _STATIC:
        return Response("There is no such file.", 404, media_type="text/plain")
    package, file, kind = _STATIC[name]
    return Response(files(package).joinpath(file).read_bytes(), media_type=kind, headers=headers)


def _icon() -> bytes:
    pixels = np.zeros((32, 32, 4), np.uint8)
    for row, top in enumerate((4, 13, 22)):
        pixels[top : top + 6, 4:28] = (59, 111, 182, 255 - 60 * row)
    return png_bytes(pixels)
