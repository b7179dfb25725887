"""Who may talk to the viewer, and what its pages may do.

A page on the web can make the user's browser send requests to loopback, and any program of any user of the machine can
connect to it. So every request must pass, in this order:

    method    only GET and HEAD: nothing can be changed
    Host      a loopback name, or the address that was asked for: a name of somebody else that resolves to us is refused
    Origin    absent, or our own: pages of others get nothing, not even the fact that a request worked
    token     256 random bits, once in the opened URL, then as a cookie that scripts cannot read and other sites do not
              send; compared in constant time

The answers carry a content security policy that allows scripts and styles from the server's own files only, no frames
of others, no forms to elsewhere; and `nosniff`, so that no browser sees a page in what a record contains.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from html import escape
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from recordsmith.wording.markup import Markup, element

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Gate", "is_loopback", "new_token"]

_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors {ancestors}"
)
_NOTEBOOKS = "http://localhost:* http://127.0.0.1:*"
_LONGEST_URL = 16 << 10  # bytes of a path and its query


def new_token() -> str:
    """Return 256 random bits as text."""
    return secrets.token_urlsafe(32)


def is_loopback(host: str) -> bool:
    """Say whether only programs of this machine can connect to an address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Gate:
    """Lets requests through to an application that pass all checks, and gives its answers their headers.

    Args:
        app: the application behind it.
        token: what the opened URL carries.
        port: the port of the server, which the name of the cookie contains: cookies do not differ by port.
        host: the address that the server listens on.
        framed: notebooks of this machine may show the pages in a frame.
    """

    def __init__(self, app: ASGIApp, *, token: str, port: int, host: str = "127.0.0.1", framed: bool = False) -> None:
        self._app = app
        self._token = token
        self._cookie = f"recordsmith-{port}"
        self._host = host
        policy = _POLICY.format(ancestors=_NOTEBOOKS if framed else "'none'")
        self._headers = [
            (b"content-security-policy", policy.encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"no-referrer"),
            (b"cross-origin-resource-policy", b"same-origin"),
            (b"cross-origin-opener-policy", b"same-origin"),
            (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        headers = {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in scope["headers"]}
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await self._answer(send, *refusal)
            return
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for key, value in query if key == "token"]
        if given and self._is_token(given[-1]):
            await self._welcome(scope, query, send)
            return
        if not self._is_token(self._cookie_of(headers)):
            await self._answer(send, 403, "Open the link that `recordsmith view` printed: it contains the token.")
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *self._headers]
            await send(message)

        await self._app(scope, receive, with_headers)

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        if scope["method"] not in ("GET", "HEAD"):
            return 405, "The viewer only shows data: it answers GET and HEAD."
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > _LONGEST_URL:
            return 414, "The address is too long."
        host = headers.get("host", "")
        if not self._is_ours(host):
            return 421, "This server does not answer for that host name."
        origin = headers.get("origin")
        if origin is not None and origin.lower() != f"http://{host.lower()}":
            return 403, "Requests from other sites are rejected."
        if headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-mode") != "navigate":
            return 403, "Requests from other sites are rejected."
        return None

    def _is_ours(self, host: str) -> bool:
        """Compare names, and not ports: behind an ssh tunnel the port is another one."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if name in _LOOPBACK_NAMES:
            return True
        if is_loopback(self._host):
            return False
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name == self._host.lower()
        return True  # an address, and no name that somebody could let point to us

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self._token.encode())

    def _cookie_of(self, headers: dict[str, str]) -> str:
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return ""
        found = cookies.get(self._cookie)
        return "" if found is None else found.value

    async def _welcome(self, scope: Scope, query: list[tuple[str, str]], send: Send) -> None:
        """Set the cookie, and go on to the same page without the token.

        Not by a redirect: after a link on another site, a browser would not send the new cookie along with it.
        """
        rest = urlencode([(key, value) for key, value in query if key != "token"])
        target = Markup(escape("/" + quote(scope["path"].lstrip("/")) + (f"?{rest}" if rest else "")))
        page = element(
            "html",
            element(
                "head",
                element("meta", http_equiv="refresh", content=Markup(f"0;url={target}")),
                element("link", rel="icon", href="/static/icon.png"),
            ),
            element("body", element("a", "Open the viewer", href=target)),
        )
        cookie = f"{self._cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict"
        await self._answer(send, 200, f"<!DOCTYPE html>{page}", cookie=cookie)

    async def _answer(self, send: Send, status: int, text: str, *, cookie: str | None = None) -> None:
        kind = b"text/html; charset=utf-8" if text.startswith("<!DOCTYPE") else b"text/plain; charset=utf-8"
        headers = [(b"content-type", kind), (b"cache-control", b"no-store"), *self._headers]
        if cookie is not None:
            headers.append((b"set-cookie", cookie.encode()))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": text.encode()})
