"""What holds for every test: the same examples in each run, no index left in the user's cache folder, quick folders."""

from __future__ import annotations

import os
import resource
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.run.engines.cluster import ray_cluster  # noqa: F401 - a fixture
from tests.storage.servers.fixtures import (  # noqa: F401 - fixtures
    azure_url,
    azurite_endpoint,
    every_s3_url,
    faulty_proxy,
    moto_server,
    s3_server,
    s3_url,
)

# Started in the background, a shell lets its commands ignore Ctrl-C, and so would the programs that tests stop by it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# pytest-xdist sets this to 80 for its workers, and pytest itself through readline, which os.environ does not see: what
# is printed into pipes would be broken into other lines.
os.environ.pop("COLUMNS", None)
os.unsetenv("COLUMNS")

MEMORY = "/dev/shm"  # a dataset is synced to disk file by file, which is most of the time that a small one takes

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


@pytest.fixture
def memory_limit() -> None:
    """Skips a test that limits the memory of a process where that has no effect: qemu ignores it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    tried = 1 << 46
    resource.setrlimit(resource.RLIMIT_AS, (tried, hard))
    ignored = resource.getrlimit(resource.RLIMIT_AS)[0] != tried
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    if ignored:
        pytest.skip("the memory of a process cannot be limited here")


def _cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.getbasetemp() / "user-cache"


@pytest.fixture
def quick_path(tmp_path: Path) -> Iterator[Path]:
    """A folder like tmp_path, in memory where there is such a place."""
    if not os.access(MEMORY, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="recordsmith-test-", dir=MEMORY) as folder:
        yield Path(folder)


@pytest.fixture
def quick_folders(quick_path: Path) -> Iterator[Path]:
    """New folders, one after the other, for tests that generate their own cases."""
    return (quick_path / f"case-{number}" for number in range(10**6))
