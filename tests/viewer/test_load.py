"""Many clients at a time: no error, and memory that does not grow."""

from __future__ import annotations

import os
import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.viewer.conftest import Client, Viewing

CLIENTS, REQUESTS = 50, 2_000


def memory() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def address(choice: random.Random) -> str:
    number = choice.randrange(300)
    return choice.choice(
        [
            f"/d/0/cells?start={number}&count=40",
            f"/d/0/cells?start={number}&count=20&c.label=cat",
            f"/d/0/status?where=age%20%3E%20{number % 20}",
            f"/d/0/media/{number}?f=image&kind=image&side=384",
            f"/d/0/media/{number}?f=signal&kind=heat",
            f"/d/0/r/{number}",
            f"/d/0/side?c.label={choice.choice(['cat', 'dog'])}",
            "/d/0/findings",
            f"/d/0/?sort=-age&q=number%20{number % 10}",
        ]
    )


def ask(client: Client, seed: int, count: int) -> list[int]:
    choice = random.Random(seed)
    return [client.get(address(choice)).status for _ in range(count)]


@pytest.mark.proof
def test_fifty_clients_and_two_thousand_requests_three_times(viewing: Viewing, pets: str) -> None:
    client = viewing(pets)
    client.wait("/d/0/status", lambda status: status["findings"] is not None)
    ask(client, 0, 200)  # everything is loaded once
    sizes = []
    with ThreadPoolExecutor(CLIENTS) as pool:
        for turn in range(3):
            seeds = range(turn * CLIENTS, (turn + 1) * CLIENTS)
            for statuses in pool.map(lambda seed: ask(client, seed, REQUESTS // CLIENTS), seeds):
                assert set(statuses) == {200}
            sizes.append(memory())
    assert sizes[2] - sizes[0] < 64 << 20, sizes


def test_caches_keep_to_their_limits(viewing: Viewing, pets: str) -> None:
    client = viewing(pets)
    viewed = client.server.every[0]
    for number in range(20):
        client.get(f"/d/0/status?where=age%20%3E%20{number}")
    assert len(viewed._searches) <= 6
    viewed._cache._limit = 4_000
    for number in range(40):
        client.get(f"/d/0/media/{number}?f=image&kind=image&side=384")
    assert viewed._cache.bytes <= 4_000
