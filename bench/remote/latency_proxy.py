"""A proxy on loopback that lets every request wait, and costs next to nothing: `python -m bench.remote.latency_proxy`.

What a client sends reaches the server after the latency; what the server answers is passed on at once, inside the
kernel, without a copy. So the first byte of an answer comes later. The bandwidth is that of loopback, or so many bytes
per second for all connections together. It prints its port, and ends with its standard input.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import sys
import threading
import time

PIPE = 1 << 20
PIECE = 1 << 18  # where the bandwidth is limited


class Line:
    """A line of some bytes per second, which all connections share; 0 for one without a limit."""

    def __init__(self, bandwidth: float) -> None:
        self.piece = PIECE if bandwidth else PIPE
        self._bandwidth = bandwidth
        self._free = 0.0  # when what was sent before is through
        self._lock = threading.Lock()

    def send(self, count: int) -> None:
        """Wait until so many bytes are through."""
        if not self._bandwidth:
            return
        with self._lock:
            self._free = max(self._free, time.monotonic()) + count / self._bandwidth
            through = self._free
        time.sleep(max(0.0, through - time.monotonic()))


def delay(client: socket.socket, server: socket.socket, seconds: float) -> None:
    """Pass on requests, each as late as the latency says."""
    with contextlib.suppress(OSError):
        while data := client.recv(1 << 16):
            time.sleep(seconds)
            server.sendall(data)
    with contextlib.suppress(OSError):
        server.shutdown(socket.SHUT_WR)


def pass_on(server: socket.socket, client: socket.socket, line: Line) -> None:
    """Pass on answers through a pipe, which takes pages and not bytes."""
    reading, writing = os.pipe()
    try:
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, PIPE)
        with contextlib.suppress(OSError):
            while (count := os.splice(server.fileno(), writing, line.piece)) > 0:
                line.send(count)
                while count > 0:
                    count -= os.splice(reading, client.fileno(), count)
    finally:
        os.close(reading)
        os.close(writing)
        for one in (client, server):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


def connect(client: socket.socket, target: int, seconds: float, line: Line) -> None:
    """Serve one connection."""
    with client, socket.create_connection(("127.0.0.1", target)) as server:
        for one in (client, server):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        back = threading.Thread(target=pass_on, args=(server, client, line), daemon=True)
        back.start()
        delay(client, server, seconds)
        back.join()


def main(target: int, seconds: float, bandwidth: float) -> None:
    """Listen until the standard input ends."""
    line = Line(bandwidth)
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listening:

        def accept() -> None:
            while True:
                client, _ = listening.accept()
                threading.Thread(target=connect, args=(client, target, seconds, line), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        print(listening.getsockname()[1], flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]))
