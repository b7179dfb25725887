"""What holds for every test: the same examples in each run, and no index left in the user's cache folder."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Started in the background, a shell lets its commands ignore Ctrl-C, and so would the programs that tests stop by it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# pytest-xdist sets this to 80 for its workers: what is printed into pipes would be broken into other lines.
os.environ.pop("COLUMNS", None)

# Tests must say the same on every machine and in every run, however slow the machine is.
settings.register_profile(
    "the same every time",
    derandomize=True,
    deadline=None,
    database=None,
    print_blob=False,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("the same every time")


@pytest.fixture(autouse=True)
def _own_cache_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Indexes of files in folders that cannot be written go to the user's cache: not to the real one."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(_cache_folder(tmp_path_factory)))


def _cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.getbasetemp() / "user-cache"
