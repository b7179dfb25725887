"""A proxy on loopback that fails as networks and servers do. Its threads end with the process.

proxy.fail(Fault("reset"), times=2, method="GET")      # the next two GETs
proxy.latency = 0.02                                    # of every request
"""

from __future__ import annotations

import contextlib
import http.client
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, Self

Kind = Literal["reset", "lost answer", "truncated", "status", "wrong etag", "stall"]


@dataclass
class Fault:
    """What goes wrong.

    Attributes:
        kind: reset: the connection breaks before the request reaches the server. lost answer: it breaks after the
            server has done it. truncated: half of the body arrives. status: an answer of the proxy's own. wrong etag:
            the right body under another ETag. stall: nothing more happens.
        status: of "status", such as 503.
        code: what its body says.
        seconds: of "stall".
    """

    kind: Kind
    status: int = 500
    code: str = "InternalError"
    seconds: float = 60.0


@dataclass
class _Rule:
    fault: Fault
    left: int
    every: int
    seen: int
    applies: Callable[[str, str], bool]


@dataclass
class FaultyProxy:
    """A proxy before a server on loopback; use it in a with statement.

    Attributes:
        target: the port of the server.
        latency: seconds before each answer.
        requests: all requests so far, as (method, path).
        dropped_headers: of requests, in lower case, as a server has it that does not know them.
    """

    target: int
    latency: float = 0.0
    dropped_headers: tuple[str, ...] = ()
    requests: list[tuple[str, str]] = field(default_factory=list)
    _rules: list[_Rule] = field(default_factory=list)

    def fail(self, fault: Fault, *, times: int = 1, every: int = 1, method: str | None = None, path: str = "") -> None:
        """Fail some of the next requests: every so many of this method whose path contains this text."""
        applies = lambda m, p: (method is None or m == method) and path in p  # noqa: E731 - a rule
        self._rules.append(_Rule(fault, times, every, 0, applies))

    def heal(self) -> None:
        """Fail no more."""
        self._rules.clear()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"proxy": self}))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stopped.set()
        self._server.shutdown()
        self._server.socket.close()

    def next_fault(self, method: str, path: str) -> Fault | None:
        with self._lock:
            self.requests.append((method, path))
            for rule in self._rules:
                if rule.left > 0 and rule.applies(method, path):
                    rule.seen += 1
                    if rule.seen % rule.every == 0:
                        rule.left -= 1
                        return rule.fault
        return None


class _Handler(BaseHTTPRequestHandler):
    proxy: FaultyProxy
    protocol_version = "HTTP/1.1"

    def _pass_on(self) -> None:
        fault = self.proxy.next_fault(self.command, self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.proxy.latency:
            time.sleep(self.proxy.latency)
        if fault is not None and fault.kind == "reset":
            self._reset()
            return
        if fault is not None and fault.kind == "stall":
            self.proxy._stopped.wait(fault.seconds)
            self._reset()
            return
        if fault is not None and fault.kind == "status":
            self._answer(fault.status, f"<Error><Code>{fault.code}</Code></Error>".encode())
            return
        connection = http.client.HTTPConnection("127.0.0.1", self.proxy.target, timeout=60)
        try:
            connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() not in self.proxy.dropped_headers:
                    connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            data = answer.read()
            if fault is not None and fault.kind == "lost answer":
                self._reset()
                return
            self._relay(answer, data, fault)
        finally:
            connection.close()

    def _relay(self, answer: http.client.HTTPResponse, data: bytes, fault: Fault | None) -> None:
        self.send_response_only(answer.status, answer.reason)
        for name, value in answer.getheaders():
            if name.lower() in ("transfer-encoding", "connection", "content-length"):
                continue
            wrong = fault is not None and fault.kind == "wrong etag" and name.lower() == "etag"
            self.send_header(name, '"another"' if wrong else value)
        length = answer.getheader("Content-Length") if self.command == "HEAD" else str(len(data))
        if length is not None:
            self.send_header("Content-Length", length)
        self.end_headers()
        if fault is not None and fault.kind == "truncated":
            self.wfile.write(data[: len(data) // 2])
            self.wfile.flush()
            self._reset()
        else:
            self.wfile.write(data)

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response_only(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _reset(self) -> None:
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.shutdown(socket.SHUT_RDWR)

    def handle(self) -> None:
        with contextlib.suppress(OSError):  # a client that went away
            super().handle()

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _pass_on  # noqa: N815 - the names of http.server

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - of http.server
        """Say nothing."""
