"""Whatever chain of verbs, every row stays whole, and comes as often as the chain says."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recordsmith as rs
from tests.loader.numbered import SCHEMA, proof_of, write_numbered

ROWS = 60


@pytest.fixture(scope="module")
def ds(tmp_path_factory: pytest.TempPathFactory) -> rs.Dataset:
    return rs.open(write_numbered(tmp_path_factory.mktemp("numbered") / "a.tfrecord", ROWS), schema=SCHEMA)


def keep_most(row: dict[str, Any]) -> bool:
    return bool(row["n"] % 4)


def add_nothing(row: dict[str, Any]) -> dict[str, Any]:
    return dict(row)


VERBS = st.sampled_from(["shuffle", "buffer", "shard", "take", "skip", "repeat", "map", "filter"])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    verbs=st.lists(VERBS, max_size=5),
    seed=st.integers(0, 3),
    size=st.integers(2, 20),  # single rows may not divide evenly among ranks, and are refused then
    batching=st.sampled_from(["batch", "padded", "buckets"]),
)
def test_rows_stay_whole(  # noqa: C901, PLR0912 - one branch a verb
    verbs: list[str], seed: int, size: int, batching: str, ds: rs.Dataset
):
    chains: list[Any] = [ds]
    expected = Counter(range(ROWS))
    exact = True  # how often each row comes is known without its order
    filtered = repeated = False
    for verb in verbs:
        if verb in ("shard", "take", "skip") and filtered:
            continue
        if verb in ("shuffle", "buffer") and repeated:
            continue
        if verb == "shuffle":
            chains = [chain.shuffle(seed=seed) for chain in chains]
        elif verb == "buffer":
            chains = [chain.shuffle(seed=seed, buffer=7) for chain in chains]
        elif verb == "shard":
            if any(len(chain) < 2 for chain in chains):
                continue
            chains = [chain.shard(rank, 2) for chain in chains for rank in range(2)]
        elif verb in ("take", "skip"):
            chains, exact = [getattr(chain, verb)(11) for chain in chains], False
        elif verb == "repeat":
            repeated = True
            chains = [chain.repeat(2) for chain in chains]
            expected = Counter({n: 2 * count for n, count in expected.items()})
        elif verb == "map":
            chains = [chain.map(add_nothing) for chain in chains]
        else:
            filtered = True
            chains = [chain.filter(keep_most) for chain in chains]
            expected = Counter({n: count for n, count in expected.items() if n % 4})
    orders = []
    for threads in (0, 2, 4):
        rows = []
        for chain in chains:
            if batching == "buckets":
                loader = chain.bucket_batch("values", [2, 4], size=size, threads=threads, pad_value=-1)
            elif batching == "padded" and "map" not in verbs:
                loader = chain.padded_batch(size, threads=threads, pad_value=-1)
            else:
                loader = chain.batch(size, threads=threads)
            for batch in loader:
                for place, n in enumerate(batch["n"].tolist()):
                    values = batch["values"][place][: n % 7]
                    assert batch["proof"][place] == proof_of(n, batch["text"][place], values)
                    assert batch["label"][place] == n % 5
                    rows.append(n)
        orders.append(rows)
    assert orders[0] == orders[1] == orders[2]
    if exact:
        assert Counter(orders[0]) == expected


def test_several_inputs_and_targets_by_list_and_by_mapping(ds: rs.Dataset):
    ((inputs, targets),) = ds.batch(ROWS).pairs(["n", "values"], ["label", "text"])
    assert (list(inputs), list(targets)) == (["n", "values"], ["label", "text"])
    ((inputs, targets),) = ds.batch(ROWS).pairs({"number": "n"}, {"class": "label"})
    assert inputs["number"].tolist() == list(range(ROWS))
    assert targets["class"].tolist() == [n % 5 for n in range(ROWS)]
    assert ds.shuffle(seed=1).batch(7).pairs({"number": "n"}, ["label", "text"]).verify_pairs(20) == 20


def test_weights_come_from_a_feature_from_the_class_or_from_both(ds: rs.Dataset):
    batched = ds.take(10).batch(10)
    ((_, _, weights),) = batched.pairs("text", "label", weight="n")
    assert weights.tolist() == list(range(10))
    by_class = {0: 1.0, 1: 2.0, 2: 3.0, 3: 4.0, 4: 5.0}
    ((_, _, weights),) = batched.pairs("text", "label", class_weight=by_class)
    assert weights.tolist() == [n % 5 + 1 for n in range(10)]
    ((_, _, weights),) = batched.pairs("text", "label", weight="n", class_weight=by_class)
    assert weights.tolist() == [n * (n % 5 + 1) for n in range(10)]
    ((_, _, weights),) = ds.batch(ROWS).pairs("text", "label", class_weight="balanced")
    assert weights.tolist() == [1.0] * ROWS


@pytest.mark.parametrize(
    ("arguments", "settings", "said"),
    [
        (("n", 3), {}, "target of pairs is not valid"),
        ((), {"inputs": []}, "at least one feature"),
        (("n", "label"), {"class_weight": "heavy"}, "Unknown class_weight"),
        (("n", ["label", "text"]), {"one_hot": True}, "one_hot needs a single target"),
        (("n",), {"weight": "label"}, "weight needs a target"),
        (("n", {"a": "label", "b": "nothing"}), {}, "feature 'nothing' that the rows do not have"),
        ((["n", "label"], ["label"]), {}, "both an input and the target"),
    ],
)
def test_what_pairs_cannot_do_is_said_when_the_chain_is_built(
    ds: rs.Dataset, arguments: tuple[Any, ...], settings: dict[str, Any], said: str
):
    with pytest.raises(rs.PipelineError, match=said):
        ds.batch(4).pairs(*arguments, **settings)


def test_a_class_without_a_weight_is_an_error(ds: rs.Dataset):
    with pytest.raises(rs.PipelineError, match="no weight"):
        list(ds.batch(10).pairs("text", "label", class_weight={0: 1}))
