"""A program beside the data: what the doctor finds in it, with the features and records that it is about."""

from __future__ import annotations

import pytest

from recordsmith.errors import RecordsmithError
from tests.viewer.conftest import Client, Viewing

PROGRAM = """\
import tensorflow as tf

FEATURES = {
    "age": tf.io.FixedLenFeature([], tf.float32),
    "wieght": tf.io.FixedLenFeature([], tf.float32),
}


def parse(record):
    return tf.io.parse_single_example(record, FEATURES)


train = tf.data.TFRecordDataset("pets.tfrecord").map(parse).batch(32).shuffle(1000)
model = tf.keras.Sequential([tf.keras.layers.Dense(3)])
model.compile(loss="mse")
model.fit(train)
"""


@pytest.fixture(scope="module")
def client(viewing: Viewing, pets: str, tmp_path_factory: pytest.TempPathFactory) -> Client:
    path = tmp_path_factory.mktemp("program") / "train.py"
    path.write_text(PROGRAM)
    client = viewing(pets, program=str(path))
    client.wait("/d/0/status", lambda status: status["findings"] is not None and not status["busy"])
    return client


def test_the_program_is_compared_with_the_data(client):
    page = client.get("/d/0/program").text
    assert "compared with all records" in page
    assert "shuffle(1000)" in page  # the line, as it is and as it should be
    assert "The data has no feature <code>wieght</code>" in page
    assert "int64, in 300 of 300 records, 20 different values" in page


def test_without_a_program_there_is_no_such_page(viewing, pets):
    client = viewing(pets)
    assert client.get("/d/0/program").status == 404
    assert "/program" not in client.get("/d/0/").text


def test_a_program_that_is_not_there_is_an_error_at_once(viewing, pets, tmp_path):
    with pytest.raises(RecordsmithError, match="no such program"):
        viewing(pets, program=str(tmp_path / "none.py"))


def test_a_file_that_is_not_python_says_so(viewing, pets, tmp_path):
    (tmp_path / "train.py").write_text("def <script>alert(1)</script>")
    client = viewing(pets, program=str(tmp_path / "train.py"))
    client.wait("/d/0/status", lambda status: status["findings"] is not None and not status["busy"])
    page = client.get("/d/0/program").text
    assert "The program could not be read" in page
    assert "<script>alert" not in page


def test_it_is_read_again_when_asked(viewing, pets, tmp_path):
    path = tmp_path / "train.py"
    path.write_text("x = 1\n")
    client = viewing(pets, program=str(path))
    client.wait("/d/0/status", lambda status: status["findings"] is not None and not status["busy"])
    assert "P001" not in client.get("/d/0/program").text
    path.write_text(PROGRAM)
    assert client.get("/d/0/program?run=1").status == 303
    client.wait("/d/0/status", lambda status: not status["busy"])
    assert "P001" in client.get("/d/0/program").text


def test_a_finding_leads_to_the_records_of_its_feature(visiting):
    visitor = visiting()
    visitor.page.get_by_role("link", name="Program").click()
    visitor.page.locator(".in-data", has_text="age in the data").get_by_role("link", name="Records with it").click()
    visitor.count("300 of 300")
    assert visitor.query == {"where": ["`age` is not missing"]}
    assert visitor.page.locator(".facet.named .name").inner_text() == "age"
    visitor.check()


def test_the_named_feature_stays_marked_when_more_facts_are_known(visiting):
    def more_facts(route):
        status = route.fetch().json()
        route.fulfill(json={**status, "facts": status["facts"] + 1})

    visitor = visiting()
    visitor.go("/d/0/program")
    visitor.page.route("**/status*", more_facts)
    with visitor.page.expect_response("**/side*"):
        visitor.page.locator(".in-data", has_text="age in the data").get_by_role("link", name="Records with it").click()
    visitor.page.wait_for_load_state("networkidle")
    assert visitor.page.locator(".facet.named .name").inner_text() == "age"
    visitor.check()


def test_the_page_fits_a_phone_and_everything_on_it_has_a_name(visiting):
    visitor = visiting(viewport={"width": 400, "height": 800})
    visitor.go("/d/0/program")
    visitor.page.wait_for_load_state("networkidle")
    assert visitor.page.evaluate("document.documentElement.scrollWidth") <= 400
    assert visitor.nameless() == []
    for name in ("Records", "Findings", "Overview", "Program"):
        box = visitor.page.get_by_role("navigation").get_by_role("link", name=name).bounding_box()
        assert 0 <= box["x"] <= 400 - box["width"], name
    visitor.check()
