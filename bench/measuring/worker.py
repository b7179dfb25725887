"""The process in which one peer runs: it takes requests as JSON lines and answers with what it measured.

Each peer has a process of its own, so that no library slows down, breaks or uses memory of another. The processes live
through the whole run, so that passes of the peers can alternate. Started by bench/measuring/workers.py as
``python -m bench.measuring.worker PEER``.
"""

from __future__ import annotations

import faulthandler
import gc
import hashlib
import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from bench.data.datasets import DATASETS
from bench.data.fingerprint import Fingerprint, add, fingerprint
from bench.data.store import load_columns, shard_columns
from bench.measuring import memory_probe, reading_limit, writing_limit
from bench.peers import load_peer

if TYPE_CHECKING:
    from bench.peers.contract import Peer, Picking, Picks, Reading, Reads, Verifies, Writes, Writing

Answer = dict[str, Any]


class Worker:
    """Holds one peer and what it prepared last, so that a repeated request measures the work alone.

    The methods are the requests; the roles of a peer say which of them it can answer: see bench/peers/__init__.py.
    """

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._reading: dict[str, Reading] = {}
        self._writing: dict[str, Writing] = {}
        self._picking: dict[str, Picking] = {}

    def describe(self) -> Answer:
        """What this peer is made of."""
        return {"versions": self._peer.versions()}

    def forget(self) -> Answer:
        """Free what was prepared for one dataset before the next."""
        for prepared in (self._reading, self._writing, self._picking):
            prepared.clear()
        gc.collect()
        return {}

    def reading_forms(self, dataset: str) -> Answer:
        """The ways this peer can read a dataset."""
        return {"forms": cast("Reads", self._peer).reading_forms(DATASETS[dataset])}

    def check_reading(self, dataset: str, paths: list[str], form: str) -> Answer:
        """Open, and read once with every value looked at: the warm-up pass, not timed but for the opening."""
        start = time.perf_counter()
        reading = cast("Reads", self._peer).open_reading(DATASETS[dataset], [Path(path) for path in paths], form)
        opened = time.perf_counter() - start
        whole: Fingerprint = {}
        for batch in reading.batches():
            whole = add(whole, fingerprint(reading.columns(batch)))
        self._reading[form] = reading
        return {"fingerprint": whole, "open_seconds": opened}

    def read(self, form: str) -> Answer:
        """One timed pass over the dataset that was opened by `check_reading`."""
        return _timed_pass(self._reading[form])

    def read_for_memory(self, dataset: str, paths: list[str], form: str) -> Answer:
        """Open and read once, watching the memory of this process."""
        before = memory_probe.now()
        reading = cast("Reads", self._peer).open_reading(DATASETS[dataset], [Path(path) for path in paths], form)
        own_peak = 0
        for batch in reading.batches():
            reading.labels(batch)
            own_peak = max(own_peak, memory_probe.now().own)
        return {"before": before.peak, "peak": memory_probe.now().peak, "own_peak": own_peak}

    def writing_forms(self, dataset: str) -> Answer:
        """The ways this peer can write a dataset."""
        return {"forms": cast("Writes", self._peer).writing_forms(DATASETS[dataset])}

    def prepare_writing(self, dataset: str, columns: str, form: str, limit: int | None) -> Answer:
        """Load the columns and bring them into the peer's form."""
        spec = DATASETS[dataset]
        shards = shard_columns(load_columns(spec, Path(columns)), limit=limit)
        self._writing[form] = cast("Writes", self._peer).prepare_writing(spec, shards, form)
        return {"records": sum(len(shard["label"]) for shard in shards)}

    def write(self, form: str, paths: list[str]) -> Answer:
        """One timed pass of writing; the files must not be there yet."""
        targets = [Path(path) for path in paths]
        write = self._writing[form]
        gc.collect()
        start = time.perf_counter()
        write(targets)
        seconds = time.perf_counter() - start
        return {"seconds": seconds, "bytes": sum(path.stat().st_size for path in targets)}

    def write_ready_bytes(self, sources: list[str], paths: list[str], threads: int) -> Answer:
        """One timed pass of only writing bytes that are ready."""
        seconds = writing_limit.seconds(
            [Path(path) for path in sources], [Path(path) for path in paths], threads=threads
        )
        return {"seconds": seconds, "bytes": sum(Path(path).stat().st_size for path in paths)}

    def picking_forms(self) -> Answer:
        """The ways this peer can store and open a file for random access."""
        return {"forms": cast("Picks", self._peer).picking_forms()}

    def open_picking(self, path: str, form: str, folder: str) -> Answer:
        """Open a file for random access."""
        self._picking[form] = cast("Picks", self._peer).open_picking(Path(path), form, Path(folder))
        return {}

    def check_picking(self, form: str, calls: list[list[int]]) -> Answer:
        """A digest of all payloads, in the order asked for: the warm-up pass."""
        digest = hashlib.sha256()
        for numbers in calls:
            for payload in self._picking[form](numbers):
                digest.update(payload)
        return {"digest": digest.hexdigest()}

    def pick(self, form: str, calls: list[list[int]]) -> Answer:
        """One timed pass: each call asks for some record numbers at once."""
        pick = self._picking[form]
        delivered = payload_bytes = 0
        gc.collect()
        start = time.perf_counter()
        for numbers in calls:
            found = pick(numbers)
            delivered += len(found)
            payload_bytes += len(found[0])
        seconds = time.perf_counter() - start
        return {"seconds": seconds, "records": delivered}

    def verify(self, paths: list[str], threads: int) -> Answer:
        """One timed check of both CRCs of whole files."""
        start = time.perf_counter()
        records = cast("Verifies", self._peer).verify([Path(path) for path in paths], threads=threads)
        return {"seconds": time.perf_counter() - start, "records": records}

    def touch(self, paths: list[str], *, threads: int, fresh: bool) -> Answer:
        """One timed pass of only reading the mapped bytes."""
        return {"seconds": reading_limit.seconds([Path(path) for path in paths], threads=threads, fresh=fresh)}


def _timed_pass(reading: Reading) -> Answer:
    records = label_sum = 0
    gc.collect()
    start = time.perf_counter()
    for batch in reading.batches():
        labels = reading.labels(batch)
        records += len(labels)
        label_sum += int(np.add.reduce(labels))
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "records": records, "label_sum": label_sum}


def answer_requests(start: Callable[[], Any]) -> None:
    """Answer requests until the input ends, by the methods of what `start` returns."""
    faulthandler.enable()
    # Libraries print to standard output as they like: keep it for the answers, and send their words to the log.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def reply(answer: Answer) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    try:
        worker = start()
    except Exception as problem:  # noqa: BLE001 - whatever keeps a peer from starting is reported as the reason
        traceback.print_exc()
        reply({"unavailable": f"{type(problem).__name__}: {problem}"})
        return
    reply(worker.describe())
    for line in sys.stdin:
        request = json.loads(line)
        try:
            reply(getattr(worker, request.pop("do"))(**request))
        except Exception as problem:  # noqa: BLE001 - the run goes on without what failed, and says so
            traceback.print_exc()
            reply({"failed": f"{type(problem).__name__}: {problem}"})


if __name__ == "__main__":
    answer_requests(lambda: Worker(load_peer(sys.argv[1])))
