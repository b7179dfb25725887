"""torchdata's StatefulDataLoader continues where it was: with the rest of the epoch, and then with the next ones."""

from __future__ import annotations

import pytest

from tests.loader.frameworks.clients.epochs import COUNT
from tests.loader.frameworks.clients.running import run

pytest.importorskip("torchdata")

SHOWN = {
    "torchdata's StatefulDataLoader": {
        "feeds": "test_every_record_comes_once_in_each_epoch_after_a_resume",
        "resumes mid-epoch": "test_every_record_comes_once_in_each_epoch_after_a_resume",
        "resumes at the end": "test_every_record_comes_once_in_each_epoch_after_a_resume",
        "several workers": "test_every_record_comes_once_in_each_epoch_after_a_resume",
    },
}

AFTER = {"0": ["0", "1", "2"], "5": ["0[5:]", "1", "2"], str(COUNT): ["1", "2", "3"], "end": ["1", "2", "3"]}


@pytest.mark.parametrize(
    ("method", "extent"),
    [("fork", "few"), *(pytest.param(method, "all", marks=pytest.mark.proof) for method in ("fork", "spawn"))],
)
def test_every_record_comes_once_in_each_epoch_after_a_resume(method: str, extent: str):
    results = run("torchdata_script.py", method, extent)
    assert len(results) == (20 if extent == "all" else 3)
    for name, given in results.items():
        place = name.rpartition(", ")[2]
        if place == "probed":
            assert given == ["0", "1"], name
        else:  # in a new loader, the same loader, the same DataLoader, and with another number of workers
            assert given == [AFTER[place]] * 4, name
