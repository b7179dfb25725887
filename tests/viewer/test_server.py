"""What the viewer answers: grid, cells, records, filters, media, findings, and what can be taken away."""

from __future__ import annotations

import html
import re
from urllib.parse import quote, urlencode

import numpy as np
import pytest

import recordsmith as rs
from recordsmith.images import decode_image, encode_image
from tests.viewer.conftest import Client, Viewing


@pytest.fixture(scope="module")
def client(viewing: Viewing, pets: str) -> Client:
    return viewing(pets)


def test_the_first_page_has_the_first_records(client):
    text = client.get("/d/0/").text
    assert [int(one) for one in re.findall(r'data-at="(\d+)"', text)] == list(range(40))
    assert 'src="/d/0/media/0?f=image&amp;kind=image&amp;side=384"' in text
    assert "<bdi>cat</bdi>" in text


def test_any_range_of_cells_can_be_fetched(client):
    text = client.get("/d/0/cells?start=290&count=50").text
    assert [int(one) for one in re.findall(r'data-at="(\d+)"', text)] == list(range(290, 300))
    assert client.get("/d/0/cells?start=9999999999&count=5").text == ""
    assert len(re.findall("data-at", client.get("/d/0/cells?start=0&count=99999").text)) <= 120


def test_boxes_are_drawn_over_images(client):
    text = client.get("/d/0/cells?start=1&count=1").text
    boxes = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', text)
    assert boxes == [("8", "3", "16", "12")] * 2  # (ymin, xmin, ymax, xmax) of an image of 40×30


def test_a_table_has_a_row_for_each_record(client):
    text = client.get("/d/0/?layout=table").text
    assert "table-head" in text
    assert 'class="cell row"' in text


def test_a_record_has_its_values_its_place_and_its_neighbours(client):
    client.wait("/d/0/status", lambda status: status["findings"] is not None)
    text = html.unescape(client.get("/d/0/r/7").text)
    assert "A dog number 7" in text
    assert "class 1 of 3" in text
    assert "byte offset" in text
    assert "CRC-32C" in text
    assert "row = ds[7]" in text
    assert "greater than about" in text
    assert [int(one) for one in re.findall(r'href="/d/0/r/(\d+)\?at=\d+"', text)][-6:] == [4, 5, 6, 8, 9, 10]


def test_previous_and_next_stay_in_the_selection(client):
    query = urlencode({"where": "label == 'cat'"})
    client.wait(f"/d/0/status?{query}", lambda status: status["done"])
    text = html.unescape(client.get(f"/d/0/r/6?{query}&at=2").text)
    assert re.search(r'href="/d/0/r/3\?[^"]*at=1" id="prev"', text)
    assert re.search(r'href="/d/0/r/9\?[^"]*at=3" id="next"', text)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"where": "label == 'cat'"}, [n for n in range(300) if n % 3 == 0]),
        ({"where": "age > 17 and weight < 10"}, [n for n in range(100) if n % 20 > 17]),
        ({"q": "DOG number 1"}, [n for n in range(300) if n % 3 == 1 and str(n).startswith("1")]),
        ({"c.label": "bird"}, [n for n in range(300) if n % 3 == 2]),
        ({"r.age": "3.0..4.0"}, [n for n in range(300) if n % 20 in (3, 4)]),
        (
            {"r.age": "3..4", "c.label": "cat", "q": "garden"},
            [n for n in range(300) if n % 20 in (3, 4) and n % 3 == 0],
        ),
        ({"where": "any(signal > 2)"}, []),
        ({"sort": "-age", "where": "weight < 2"}, sorted(range(20), key=lambda n: -(n % 20))),
        ({"sort": "age"}, sorted(range(300), key=lambda n: n % 20)),
        ({"sort": "-len(caption)", "where": "weight < 0.25"}, [2, 0, 1]),
    ],
)
def test_filters_and_orders(client, query, expected):
    text = urlencode(query)
    status = client.wait(f"/d/0/status?{text}", lambda status: status["done"])
    assert status["error"] is None
    assert status["count"] == len(expected)
    numbers = client.get(f"/d/0/records.txt?{text}")
    assert [int(line) for line in numbers.body.split()] == expected
    assert numbers.headers["content-disposition"].startswith("attachment")


def test_several_values_of_a_feature_are_alternatives(client):
    status = client.wait("/d/0/status?c.label=cat&c.label=dog", lambda status: status["done"])
    assert status["count"] == 200


def test_a_random_sample_is_an_order_of_all_records_that_its_seed_decides(client):
    def shown(seed: int) -> list[int]:
        text = client.get(f"/d/0/cells?start=0&count=100&sample={seed}").text
        return [int(one) for one in re.findall(r'href="/d/0/r/(\d+)', text)]

    client.wait("/d/0/status", lambda status: status["done"])
    assert shown(5) == shown(5)
    assert shown(5) != shown(6)
    assert shown(5) != sorted(shown(5))
    whole = client.get("/d/0/records.txt?sample=5").body.split()
    assert sorted(map(int, whole)) == list(range(300))


@pytest.mark.parametrize(
    ("where", "text", "column"),
    [
        ("labl == 'cat'", "There is no feature 'labl', at column 1. Did you mean 'label'?", 1),
        ("age = 3", "A single '=' is not a comparison, at column 5.", 5),
        ("label == 'cow'", "There is no class 'cow', at column 10.", 10),
        ("weight", "The condition is not true or false.", None),
    ],
)
def test_what_is_wrong_with_a_filter_is_said_with_its_place(client, where, text, column):
    status = client.wait(f"/d/0/status?where={quote(where)}", lambda status: status["error"])
    assert status["error"]["text"].startswith(text)
    assert status["error"]["column"] == column


@pytest.mark.parametrize(
    ("text", "start", "expected"),
    [
        ("lab", 0, ("label", "feature")),
        ("age > 3 and wei", 12, ("weight", "feature")),
        ("label == 'ca", 10, ("cat'", "value")),
        ("label in ['cat', 'b", 18, ("bird'", "value")),
        ("le", 0, ("len(", "function")),
        ("obj", 0, ("objects/bbox", "feature")),
    ],
)
def test_completions(client, text, start, expected):
    answer = client.get(f"/d/0/complete?text={quote(text)}").json
    assert answer["start"] == start
    assert expected in [(one["text"], one["kind"]) for one in answer["items"]]


def test_facts_and_findings_arrive_in_the_background(client):
    client.wait("/d/0/status", lambda status: status["findings"] is not None)
    side = html.unescape(client.get("/d/0/side").text)
    assert "All 300 records" in side
    assert 'href="?c.label=cat"' in side
    assert 'data-feature="weight"' in side
    assert "Findings" in client.get("/d/0/findings").text


def test_a_chosen_value_is_pressed_and_its_link_takes_it_away(client):
    client.wait("/d/0/status", lambda status: status["findings"] is not None)
    side = html.unescape(client.get("/d/0/side?c.label=cat").text)
    assert re.search(r'href="\?" class="choice on c0"[^>]*aria-pressed="true"', side)
    assert 'href="?c.label=cat&c.label=dog"' in side


def test_the_copy_command_of_a_selection_copies_it(client, pets, tmp_path):
    query = urlencode({"c.label": "cat", "r.age": "3..9"})
    text = html.unescape(client.get(f"/d/0/?{query}").text)
    command = re.search(r"recordsmith copy (\S+) -o selected --where (.*?)</pre>", text)
    assert command is not None
    where = command[2].strip("'").replace("'\"'\"'", "'")
    rs.copy(pets, tmp_path / "copy", where=where)
    assert len(rs.open(tmp_path / "copy")) == client.wait(f"/d/0/status?{query}", lambda one: one["done"])["count"]


def test_images_are_sent_smaller_and_as_new_images(client):
    answer = client.get("/d/0/media/3?f=image&kind=image&side=384")
    assert answer.status == 200
    assert answer.headers["content-type"] == "image/png"
    assert answer.body.startswith(b"\x89PNG")


def test_numbers_are_plotted_and_heat_maps_are_images(client):
    assert "polyline" in client.get("/d/0/r/0").text
    assert client.get("/d/0/media/0?f=signal&kind=heat").headers["content-type"] == "image/png"


def test_parts_of_a_sound_can_be_asked_for(viewing, tmp_path):
    path = str(tmp_path / "sounds.tfrecord")
    sound = b"RIFF\x24\0\0\0WAVEfmt " + bytes(200)
    with rs.RecordWriter(path) as writer:
        writer.write_example({"sound": sound, "audio": [0.5, -0.5] * 2000, "sample_rate": 8000})
    client = viewing(path)
    assert "<audio" in client.get("/d/0/r/0").text
    whole = client.get("/d/0/media/0?f=sound&kind=play")
    assert (whole.status, whole.headers["content-type"], whole.body) == (200, "audio/wav", sound)
    part = client.get("/d/0/media/0?f=sound&kind=play", Range="bytes=4-7")
    assert (part.status, part.body, part.headers["content-range"]) == (206, sound[4:8], f"bytes 4-7/{len(sound)}")
    assert client.get("/d/0/media/0?f=sound&kind=play", Range="bytes=9999-").status == 416
    made = client.get("/d/0/media/0?f=audio&kind=wave&rate=8000")
    assert made.body[:4] == b"RIFF"
    assert int.from_bytes(made.body[24:28], "little") == 8000


def test_several_datasets_have_a_menu(viewing, pets, tmp_path):
    path = str(tmp_path / "b.tfrecord")
    with rs.RecordWriter(path) as writer:
        writer.write_example({"x": 1})
    client = viewing(pets, path)
    text = client.get("/d/1/").text
    assert text.count("<option") >= 2
    assert client.get("/d/0/r/0").status == client.get("/d/1/r/0").status == 200


def test_a_record_that_the_check_names_shows_the_finding_and_the_finding_leads_to_it(viewing, tmp_path):
    path = str(tmp_path / "nan.tfrecord")
    with rs.RecordWriter(path) as writer:
        for number in range(50):
            writer.write_example({"x": float("nan") if number == 7 else float(number), "n": number})
    client = viewing(path)
    client.wait("/d/0/status", lambda status: status["findings"] is not None)
    page = html.unescape(client.get("/d/0/findings").text)
    link = re.search(r'href="(/d/0/\?where=not[^"]*)"', page)
    assert link is not None
    client.wait(link[1].replace("/?", "/status?"), lambda status: status["done"])
    cells = client.get(link[1].replace("/?", "/cells?start=0&count=9&")).text
    assert re.findall(r'href="/d/0/r/(\d+)', cells) == ["7"]
    assert 'class="flag"' in cells
    assert "V001" in client.get("/d/0/r/7").text
    assert "V001" not in client.get("/d/0/r/8").text


def test_bars_count_the_selected_records(client):
    client.wait("/d/0/status", lambda status: status["findings"] is not None)
    query = urlencode({"where": "age < 5"})
    client.wait(f"/d/0/status?{query}", lambda status: not status["busy"])
    side = html.unescape(client.get(f"/d/0/side?{query}").text)
    counts = dict(re.findall(r'title="(\w+): 100 \(33.3 %\); (\d+) selected"', side))
    assert counts == {"cat": "25", "dog": "25", "bird": "25"}
    assert 'class="part"' in side


def test_bars_of_a_large_selection_are_estimates(viewing, tmp_path):
    path = str(tmp_path / "many.tfrecord")
    with rs.RecordWriter(path) as writer:
        writer.write_columns(
            {"n": np.arange(20_000), "k": np.arange(20_000) % 2},
            rs.Schema({"n": rs.Scalar("int64"), "k": rs.Scalar("int64")}),
        )
    client = viewing(path)
    client.wait("/d/0/status", lambda status: status["findings"] is not None)
    client.wait("/d/0/status?where=n%20%3E=%200", lambda status: not status["busy"])
    side = html.unescape(client.get("/d/0/side?where=n%20%3E=%200").text)
    assert "by 2,000 of its records" in side
    found = dict(re.findall(r'title="(\d): 10,000 \(50.0 %\); ≈ ([\d,]+) selected"', side))
    assert {9_000 < int(count.replace(",", "")) < 11_000 for count in found.values()} == {True}


def test_token_ids_are_shown_as_the_words_of_their_vocabulary(viewing, tmp_path):
    folder = tmp_path / "tokens"
    schema = rs.Schema({"tokens": rs.Tensor("int64", (None,)), "n": rs.Scalar("int64")})
    with rs.write(str(folder), schema, name="t", split="train", shards=1) as writer:
        writer.add({"tokens": [2, 3, 1], "n": 0})
    rs.Vocabulary(["hello", "world"]).save(folder / "vocabulary.tokens.json")
    client = viewing(str(folder))
    assert "hello, world, [UNK]" in client.get("/d/0/").text
    assert "hello, world, [UNK]" in client.get("/d/0/r/0").text
    (folder / "vocabulary.tokens.json").write_text("{broken")
    assert "2, 3, 1" in viewing(str(folder)).get("/d/0/").text


def test_masks_keypoints_and_boxes_of_other_conventions(viewing, tmp_path):
    image = encode_image(np.zeros((40, 80, 3), np.uint8), "png")
    mask = encode_image(np.ones((40, 80), np.uint8), "png")
    path = str(tmp_path / "coco.tfrecord")
    with rs.RecordWriter(path) as writer:
        writer.write_example(
            {
                "image": image,
                "bbox": [60.0, 10.0, 15.0, 20.0],  # x, y, width, height: as corners, the width would be negative
                "keypoints": [8.0, 4.0, 2.0, 0.0, 0.0, 0.0],
                "mask": mask,
            }
        )
        writer.write_example(
            {
                "image/encoded": image,
                "image/object/bbox/xmin": [0.25],
                "image/object/bbox/xmax": [0.5],
                "image/object/bbox/ymin": [0.5],
                "image/object/bbox/ymax": [1.0],
                "image/object/class/text": [b"cat"],
            }
        )
    client = viewing(path)
    text = client.get("/d/0/r/0").text
    assert '<rect x="60" y="10" width="15" height="20"' in text
    assert "boxes read as x, y, width, height in pixels" in text
    assert text.count('class="point"') == 1  # the other is not visible
    assert client.get("/d/0/media/0?f=mask&i=0&kind=mask").headers["content-type"] == "image/png"
    assert '<rect x="20" y="20" width="20" height="20"' in client.get("/d/0/r/1").text
    assert ">cat</text>" in client.get("/d/0/r/1").text


def test_raw_pixels_are_shown_where_a_feature_says_their_shape(viewing, tmp_path):
    path = str(tmp_path / "raw.tfrecord")
    pixels = np.random.default_rng(0).integers(0, 255, (20, 30, 3), np.uint8)
    with rs.RecordWriter(path) as writer:
        writer.write_example({"image/encoded": pixels.tobytes(), "image/shape": [20, 30, 3]})
        writer.write_example({"image/encoded": pixels.tobytes(), "image/shape": [20, 30, 4]})
    client = viewing(path)
    assert "kind=heat" in client.get("/d/0/").text
    made = client.get("/d/0/media/0?f=image/encoded&kind=heat")
    assert np.array_equal(decode_image(made.body), pixels)
    assert client.get("/d/0/media/1?f=image/encoded&kind=heat").status == 422  # another number of bytes


def test_numbers_are_all_given_or_none(client, monkeypatch):
    wrong = client.get("/d/0/records.txt?where=nothing+%3D%3D+1")
    assert (wrong.status, "There is no feature" in wrong.text) == (422, True)
    monkeypatch.setattr("recordsmith.viewer.data.searching._MOST_NUMBERS", 10)
    many = client.get("/d/0/records.txt?where=age+>+-3")
    assert (many.status, "more than can be listed" in many.text) == (422, True)
    assert client.get("/d/0/records.txt?where=age+>+-3+and+weight+%3C+0.35").text.split() == ["0", "1", "2", "3"]
