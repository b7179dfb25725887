"""All records of a finding: each rule that can be said of records finds the ones that were made for it."""

from __future__ import annotations

import html
import re
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.images import encode_image
from tests.viewer.conftest import Viewing

IMAGE = encode_image(np.arange(48, dtype=np.uint8).reshape(4, 4, 3) * 5, "png")
GREY = encode_image(np.arange(16, dtype=np.uint8).reshape(4, 4) * 5, "png")
BLACK = encode_image(np.zeros((4, 4, 3), np.uint8), "png")
CUT = IMAGE[:-30]
COUNT = 400
IMAGES = {3: GREY, 53: GREY, 7: b"<html>", 57: b"<html>", 9: BLACK, 59: BLACK, 11: CUT, 61: CUT}


def row(number: int) -> dict[str, object]:
    return {
        "x": float("nan") if number % 40 == 1 else float(number),
        "v": [1.0, float("inf")] if number % 50 == 2 else [1.0, float(number)],
        "image": IMAGES.get(number, IMAGE),
        "kind": "Red" if number % 60 == 4 else "blue " if number % 60 == 5 else ("red", "green")[number % 2],
        "text": b"caf\xe9" if number % 90 == 6 else b"caf\xc3\xa9",
        **({} if number % 100 == 8 else {"there": number}),
        "n": number % 300 if number >= 300 else number,
    }


EXPECTED = {
    "V001 x": range(1, COUNT, 40),
    "V001 v": range(2, COUNT, 50),
    "V006 kind": sorted({*range(4, COUNT, 60), *(n for n in range(COUNT) if n % 2 == 0 and n % 60 not in (4, 5))}),
    "V007 kind": range(5, COUNT, 60),
    "V008 image": (11, 61),
    "V009 image": (7, 57),
    "V015 text": range(6, COUNT, 90),
    "V016 image": (9, 59),
    "V017 image": (3, 53),
    "V019 there": range(8, COUNT, 100),
}


@pytest.fixture(scope="module")
def client(viewing: Viewing, tmp_path_factory: pytest.TempPathFactory):
    path = tmp_path_factory.mktemp("findings") / "a.tfrecord"
    with rs.RecordWriter(str(path)) as writer:
        for number in range(COUNT):
            writer.write_example(row(number))
    client = viewing(path)
    client.wait("/d/0/status", lambda status: status["findings"] is not None)
    return client


def links_of(client) -> dict[str, str]:
    """The link to all records of each finding, by its code and feature."""
    examination = client.server.every[0].examination
    page = client.get("/d/0/findings").text
    blocks = re.findall(r'<details class="finding.*?</details>', page, re.DOTALL)
    found = {}
    for finding, block in zip(examination.findings, blocks, strict=True):
        link = re.search(r'href="(/d/0/\?[^"]*)" class="button">Show all', block)
        if link is not None:
            found[f"{finding.code} {finding.location.feature}"] = html.unescape(link[1])
    return found


def test_each_finding_leads_to_all_its_records(client):
    links = links_of(client)
    assert set(EXPECTED) <= set(links)
    for name, expected in EXPECTED.items():
        query = urlsplit(links[name]).query
        client.wait(f"/d/0/status?{query}", lambda status: status["done"])
        numbers = client.get(f"/d/0/records.txt?{query}").text.split()
        assert list(map(int, numbers)) == list(expected), name


def test_what_can_be_said_as_a_condition_is_one(client):
    links = links_of(client)
    assert parse_qs(urlsplit(links["V019 there"]).query) == {"where": ["`there` is missing"]}
    assert "finding" in parse_qs(urlsplit(links["V008 image"]).query)


def test_a_record_shows_findings_that_do_not_name_it(client):
    for number, code in ((361, "V001"), (308, "V019"), (366, "V015"), (365, "V007")):
        assert f"<b>{code}</b>" in client.get(f"/d/0/r/{number}").text, number
    assert "<b>V0" not in client.get("/d/0/r/20").text.replace("<b>V006</b>", "")


def test_the_records_of_a_finding_combine_with_other_filters(client):
    query = urlsplit(links_of(client)["V008 image"]).query + "&where=n+>+20"
    assert client.wait(f"/d/0/status?{query}", lambda status: status["done"])["count"] == 1


def test_copies_are_side_by_side(viewing, tmp_path):
    schema = rs.Schema({"n": rs.Scalar("int64"), "label": rs.Label(["a", "b"]), "text": rs.Text()})
    rows = [{"n": n, "label": 0, "text": "long enough to be compared " * 12} for n in range(40)]
    with rs.write(tmp_path / "data", schema, split="train", shards=1) as writer:
        writer.extend([*rows, rows[5], rows[9], rows[5], {**rows[7], "label": 1}])
    with rs.write(tmp_path / "data", schema, split="test", shards=1) as writer:
        writer.extend([{**rows[0], "n": 100}, rows[3], {**rows[0], "n": 101}])
    client = viewing(tmp_path / "data")
    client.wait("/d/0/status", lambda status: status["findings"] is not None)
    files = [file.path for file in client.server.every[0].dataset.files]
    base, other = (0, 44) if "train" in files[0] else (3, 0)
    links = {name.split()[0]: urlsplit(link).query for name, link in links_of(client).items()}

    def numbers(code: str) -> list[int]:
        return list(map(int, client.get(f"/d/0/records.txt?{links[code]}").text.split()))

    assert numbers("D003") == [base + n for n in (5, 40, 42, 9, 41)]
    assert sorted(numbers("D004")) == sorted([base + 3, other + 1])
    assert numbers("D015") == [base + 7, base + 43]


def test_in_the_browser(visiting):
    """The page shows the records that a finding names, each a link, and leads to all of them."""
    visitor = visiting()
    page = visitor.page
    page.get_by_role("link", name="Findings").click()
    block = page.locator("details.finding", has_text="cannot be decoded")
    assert block.get_by_role("link", name="Record 61").is_visible()
    block.get_by_role("link", name="Show all its records").click()
    visitor.count("2 of 400")
    page.get_by_role("link", name="Finding V008.0: show all again").click()
    visitor.count("400 records")
    assert [one for one in visitor.said if "422" not in one] == []  # of the images that cannot be decoded
    assert visitor.elsewhere == []
