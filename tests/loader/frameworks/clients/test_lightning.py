"""Lightning trains on the epochs in order, and continues from its checkpoints as if there had been no break."""

from __future__ import annotations

import pytest

from tests.loader.frameworks.clients.running import run

pytest.importorskip("lightning")

SHOWN = {
    "Lightning": {
        "feeds": "test_training_continues_from_a_checkpoint_as_without_a_break",
        "resumes mid-epoch": "test_training_continues_from_a_checkpoint_as_without_a_break",
        "resumes at the end": "test_training_continues_from_a_checkpoint_as_without_a_break",
        "several workers": "test_training_continues_from_a_checkpoint_as_without_a_break",
    },
}


AS_WITHOUT_A_BREAK = {
    "whole": [[], ["0", "1", "2"]],
    "mid": [["0[:5]"], ["0[5:]", "1", "2"]],
    "later": [["0", "1[:5]"], ["1[5:]", "2"]],
    "last batch": [["0"], ["1", "2"]],
    "end": [["0"], ["1", "2"]],
    **{f"left after {count}": [[], [f"{epoch}[:{count}]" for epoch in range(3)]] for count in (1, 2, 3)},
}


@pytest.mark.parametrize("extent", ["few", pytest.param("all", marks=pytest.mark.proof)])
def test_training_continues_from_a_checkpoint_as_without_a_break(extent: str):
    results = run("lightning_script.py", extent)
    assert len(results) == (4 if extent == "all" else 2)
    for name, places in results.items():
        assert places == {place: AS_WITHOUT_A_BREAK[place] for place in places}, name
