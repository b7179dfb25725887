"""Receipts that come with the first batch of worker processes: which of them count."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any

import pytest

import recordsmith as rs
from tests.loader.frameworks.framework_data import numbered

torch = pytest.importorskip("torch")
from recordsmith.loader.frameworks import torch_deliveries  # noqa: E402 - there may be no PyTorch
from recordsmith.loader.frameworks.torch_deliveries import Receipts  # noqa: E402


class Client:
    """Takes messages as DataLoader does."""

    def __init__(self, messages: list[bytes]) -> None:
        self._messages = messages

    def __iter__(self) -> Iterator[Any]:
        for message in self._messages:  # what is left over from the iteration before
            pickle.loads(message)
        return self

    def __next__(self) -> Any:
        return pickle.loads(self._messages[0])


@pytest.fixture
def loader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[rs.Loader[Any]]:
    reducers = dict(ForkingPickler._extra_reducers)  # type: ignore[attr-defined] # what workers change, in a process of theirs
    monkeypatch.setattr(ForkingPickler, "_extra_reducers", dict(reducers))
    yield numbered(tmp_path / "a.tfrecord", 40).batch(4)
    torch_deliveries._Outgoing.with_tensor = torch_deliveries._Outgoing.at_end = None


def sent(receipts: Receipts, batch: Any) -> bytes:
    return bytes(ForkingPickler.dumps(receipts.attach(batch)))


@pytest.mark.parametrize("batch", [{"n": [b"a", "b"]}, (["a"], ["b"])])
def test_text_arrives_as_it_was_and_counts_when_it_is_asked_for(loader: rs.Loader[Any], batch: Any):
    batches = loader.to_torch()
    message = sent(Receipts(loader.session.token, 5, 3), batch)
    client = Client([message])
    iter(client)
    assert loader.session.upcoming().epoch == 0  # nobody asked for it
    given = next(client)
    assert given == batch
    columns = given.values() if isinstance(given, dict) else given
    assert {type(column) for column in columns} == {list}
    assert loader.session.upcoming().epoch == 4
    next(client)
    assert loader.session.upcoming().epoch == 4
    assert len(batches) == 10


def test_a_thread_that_receives_everything_counts_from_the_third_batch(loader: rs.Loader[Any]):
    batches = loader.to_torch()
    receipts = Receipts(loader.session.token, 5, 0)
    epochs = []
    for number in range(4):
        pickle.loads(sent(receipts, {"n": [str(number)]}))
        epochs.append(loader.session.upcoming().epoch)
    assert epochs == [0, 0, 1, 1]
    assert len(batches) == 10


def test_receipts_of_others_are_left_alone(loader: rs.Loader[Any]):
    batches = loader.to_torch()
    assert next(Client([sent(Receipts(123, 5, 0), {"n": ["a"]})])) == {"n": ["a"]}
    assert loader.session.upcoming().epoch == 0
    copied = pickle.loads(pickle.dumps(batches))
    next(Client([sent(Receipts(loader.session.token, 5, 0), {"n": ["a"]})]))
    assert loader.session.upcoming().epoch == 1
    assert copied._session.upcoming().epoch == 0
