"""An iteration counts as an epoch when its first batch is received, whatever DataLoader's workers do in advance."""

from __future__ import annotations

import pytest

from tests.loader.frameworks.clients.epochs import COUNT
from tests.loader.frameworks.clients.running import run
from tests.loader.frameworks.clients.scripts.early_exits_script import TAKEN

pytest.importorskip("torchdata")


def _expected() -> list[str]:
    epochs, epoch = [], 0
    for count in TAKEN:
        whole = count in (None, COUNT)
        epochs.append("" if count == 0 else f"{epoch}" if whole else f"{epoch}[:{count}]")
        epoch += count != 0
    return epochs


@pytest.mark.parametrize(("extent", "cases"), [("few", 4), pytest.param("all", 30, marks=pytest.mark.proof)])
def test_the_next_epoch_does_not_depend_on_how_far_workers_are(extent: str, cases: int):
    results = run("early_exits_script.py", extent)
    assert len(results) == cases
    for name, given in results.items():
        assert given == _expected(), name
