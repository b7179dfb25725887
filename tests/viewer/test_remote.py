"""A dataset in an object store: it opens and is searched in place, and is checked only when that is asked for."""

from __future__ import annotations

import recordsmith as rs
from tests.viewer.conftest import Viewing


def test_a_dataset_in_an_object_store(viewing: Viewing, pets: str, s3_url: str) -> None:
    rs.copy(pets, f"{s3_url}/pets")
    client = viewing(f"{s3_url}/pets")
    assert client.wait("/d/0/status", lambda status: status["indexed"])["count"] == 300
    assert client.get("/d/0/cells?start=100&count=20").text.count("data-at") == 20
    assert client.get("/d/0/media/7?f=image&kind=image&side=384").status == 200
    assert client.wait("/d/0/status?c.label=cat", lambda status: status["done"])["count"] == 100
    client.wait("/d/0/status", lambda status: status["facts"] > 0 and not status["phase"])
    assert client.get("/d/0/status").json["findings"] is None
    assert "Check all records" in client.get("/d/0/findings").text
    client.get("/d/0/findings?run=1")
    client.wait("/d/0/status", lambda status: status["findings"] is not None)
