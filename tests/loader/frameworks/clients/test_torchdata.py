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
    ("method", "extent", "cases"),
    [
        ("fork", "few", 3),
        pytest.param("fork", "all", 20, marks=pytest.mark.proof),
        pytest.param("spawn", "few", 3, marks=pytest.mark.proof),
    ],
)
def test_every_record_comes_once_in_each_epoch_after_a_resume(method: str, extent: str, cases: int):
    results = run("torchdata_script.py", method, extent)
    assert len(results) == cases
    for name, given in results.items():
        place = name.rpartition(", ")[2]
        if place == "probed":
            assert given == ["0", "1"], name
        else:  # in a new loader, the same loader, the same DataLoader, and with another number of workers
            assert given == [AFTER[place]] * 4, name
