"""The viewer in a real browser, used as a person would.

It needs Chromium and playwright: `apt install chromium` and `pip install playwright` (the group "test" has it); no
browser is downloaded. Without one of them, these tests are skipped.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

import numpy as np
import pytest

import recordsmith as rs
from tests.headless_browser import CHROMIUM
from tests.viewer.conftest import Client, Viewing

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
if CHROMIUM is None:
    pytest.skip("no chromium is installed, in which the viewer could be opened", allow_module_level=True)


@pytest.fixture(scope="module")
def client(viewing: Viewing, pets: str) -> Client:
    client = viewing(pets)
    client.wait("/d/0/status", lambda status: status["findings"] is not None)
    return client


def test_the_link_opens_the_grid_without_a_word_in_the_console_and_without_a_request_to_elsewhere(visiting):
    visitor = visiting()
    assert "token" not in visitor.page.url
    visitor.count("300 records")
    visitor.page.wait_for_function("() => [...document.images].filter(one => one.naturalWidth).length >= 8")
    for path in ("/d/0/r/5", "/d/0/findings", "/d/0/facts", "/compare"):
        visitor.go(path)
        visitor.page.wait_for_load_state("networkidle")
    visitor.check()


def test_scrolling_reaches_the_last_record_and_keeps_the_page_small(visiting):
    visitor = visiting()
    visitor.page.evaluate(
        "() => { const one = document.querySelector('#scroller'); one.scrollTop = one.scrollHeight; }"
    )
    visitor.page.wait_for_selector('.cell[data-at="299"]')
    assert visitor.page.locator("#cells .cell").count() <= 300
    box = visitor.page.locator('.cell[data-at="299"]').bounding_box()
    assert 0 < box["y"] < 800
    visitor.check()


def test_a_grid_that_is_taller_than_browsers_can_scroll(visiting, viewing, tmp_path):
    path = str(tmp_path / "many.tfrecord")
    schema = rs.Schema({"n": rs.Scalar("int64")})
    with rs.RecordWriter(path) as writer:
        writer.write_columns({"n": np.arange(400_000)}, schema)
    visitor = visiting(viewing(path))
    visitor.count("400,000 records")
    visitor.page.locator("#scroller").press("End")
    visitor.page.wait_for_selector('.cell[data-at="399999"]')
    assert visitor.page.locator('.cell[data-at="399999"]').inner_text().split() == ["399,999", "399999"]
    assert 0 < visitor.page.locator('.cell[data-at="399999"]').bounding_box()["y"] < 800
    visitor.page.locator("#scroller").press("Home")
    visitor.page.wait_for_selector('.cell[data-at="0"]')
    visitor.page.mouse.move(700, 500)
    visitor.page.mouse.wheel(0, 440)  # ten rows, and not ten times as many
    visitor.page.wait_for_function("() => document.querySelector('#scroller').scrollTop > 0")
    visitor.page.wait_for_timeout(400)
    first = visitor.page.evaluate(
        "() => Math.min(...[...document.querySelectorAll('.cell')].filter(one => "
        "one.getBoundingClientRect().top > 150).map(one => Number(one.dataset.at)))"
    )
    assert 8 <= first <= 14
    visitor.check()


def test_a_click_on_a_class_filters_and_back_takes_it_back(visiting):
    visitor = visiting()
    page = visitor.page
    page.get_by_role("button", name=re.compile("^cat")).click()
    visitor.count("100 of 300")
    assert visitor.query == {"c.label": ["cat"]}
    page.get_by_role("button", name=re.compile("^dog")).click()
    visitor.count("200 of 300")
    assert page.locator(".choice[aria-pressed='true']").count() == 2
    page.go_back()
    visitor.count("100 of 300")
    page.go_back()
    visitor.count("300 records")
    page.go_forward()
    visitor.count("100 of 300")
    visitor.check()


def test_a_class_is_found_among_many(visiting, viewing, tmp_path):
    schema = rs.Schema({"label": rs.Label([f"kind {number}" for number in range(500)])})
    with rs.write(tmp_path / "data", schema, shards=1) as writer:
        writer.extend({"label": np.arange(1_000) % 400})
    client = viewing(tmp_path / "data")
    client.wait("/d/0/status", lambda status: status["findings"] is not None)
    visitor = visiting(client)
    find = visitor.page.get_by_label("Find a class of label")
    find.fill("kind 39")
    visitor.page.get_by_role("button", name=re.compile("^kind 399")).click()
    visitor.count("2 of 1,000")
    assert visitor.query == {"c.label": ["kind 399"]}
    visitor.page.get_by_label("Find a class of label").fill("kind 499")
    visitor.page.get_by_role("button", name=re.compile("^kind 499")).click()  # which no record has
    visitor.count("2 of 1,000")
    assert visitor.query == {"c.label": ["kind 399", "kind 499"]}
    visitor.check()


def test_dragging_over_a_histogram_filters(visiting):
    visitor = visiting()
    drawing = visitor.page.locator('.brush[data-feature="age"] svg').bounding_box()
    middle = drawing["y"] + drawing["height"] / 2
    visitor.page.mouse.move(drawing["x"] + 0.26 * drawing["width"], middle)
    visitor.page.mouse.down()
    visitor.page.mouse.move(drawing["x"] + 0.49 * drawing["width"], middle, steps=4)
    visitor.page.mouse.up()
    visitor.count("of 300")
    low, high = map(float, visitor.query["r.age"][0].split(".."))
    assert (low, high) == (6, 9)
    visitor.count("60 of 300")
    visitor.check()


def test_the_filter_box_completes_filters_and_says_what_is_wrong(visiting):
    visitor = visiting()
    page = visitor.page
    page.keyboard.press("/")
    box = page.get_by_role("combobox", name="Filter: a condition over the features")
    playwright.expect(box).to_be_focused()
    page.keyboard.type("lab")
    page.locator("#completions li", has_text="label").first.wait_for()
    page.keyboard.press("Tab")
    assert box.input_value() == "label"
    page.keyboard.type(" == 'bi")
    page.locator("#completions li", has_text="bird").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert box.input_value() == "label == 'bird'"
    page.keyboard.press("Enter")
    visitor.count("100 of 300")
    assert visitor.query == {"where": ["label == 'bird'"]}
    box = page.get_by_role("combobox", name="Filter: a condition over the features")
    box.fill("labl == 'bird'")
    page.keyboard.press("Escape")
    box.press("Enter")
    playwright.expect(page.get_by_role("alert")).to_contain_text(
        "There is no feature 'labl', at column 1. Did you mean"
    )
    visitor.check()


def test_search_sort_and_sample(visiting):
    visitor = visiting()
    page = visitor.page
    page.get_by_label("Search in text").fill("bird number 2")
    visitor.count("of 300")
    assert visitor.query["q"] == ["bird number 2"]
    visitor.go("/d/0/")
    page.get_by_label("Order", exact=True).select_option("-age")
    page.wait_for_selector('.cell[data-at="0"][href^="/d/0/r/19?"]')
    page.get_by_label("Order", exact=True).select_option("sample")
    page.wait_for_url(re.compile("sample=[0-9]+"))
    visitor.check()


def test_keys_move_between_records(visiting):
    visitor = visiting()
    page = visitor.page
    page.locator("#scroller").focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
        page.wait_for_timeout(100)
    assert page.evaluate("document.activeElement.dataset.at") == "2"
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:has-text('Record 2')")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("h1:has-text('Record 3')")
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector("h1:has-text('Record 2')")
    page.keyboard.press("u")
    page.wait_for_selector("#grid")
    page.keyboard.press("?")
    playwright.expect(page.get_by_role("dialog", name="Keyboard help")).to_be_visible()
    visitor.check()


def test_what_can_be_taken_away(visiting):
    visitor = visiting()
    visitor.go("/d/0/?c.label=cat")
    visitor.count("100 of 300")
    visitor.page.get_by_role("button", name="Export", exact=True).click()
    dialog = visitor.page.get_by_role("dialog", name="Export the selection")
    playwright.expect(dialog).to_contain_text("recordsmith copy")
    with visitor.page.expect_download() as download:
        dialog.get_by_role("link", name="Download records.txt").click()
    numbers = download.value.path().read_text().split()
    assert list(map(int, numbers)) == list(range(0, 300, 3))
    visitor.check()


def test_the_command_that_is_offered_copies_what_was_selected(visiting, pets, tmp_path):
    visitor = visiting()
    visitor.go("/d/0/?q=number+29")
    visitor.count("11 of 300")
    visitor.page.get_by_role("button", name="Export", exact=True).click()
    dialog = visitor.page.get_by_role("dialog", name="Export the selection")
    with visitor.page.expect_download() as download:
        dialog.get_by_role("link", name="Download records.txt").click()
    download.value.save_as(tmp_path / "records.txt")
    command = shlex.split(dialog.locator("pre", has_text="--records").inner_text())
    subprocess.run([sys.executable, "-m", *command], cwd=tmp_path, check=True, capture_output=True)
    copied, shown = rs.open(tmp_path / "selected"), rs.open(pets)
    assert [copied.raw(row) for row in range(len(copied))] == [shown.raw(row) for row in (29, *range(290, 300))]
    visitor.check()


def test_light_and_dark(visiting):
    visitor = visiting(color_scheme="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    dark = visitor.page.evaluate(background)
    visitor.page.get_by_role("button", name="Change between light and dark").click()
    assert visitor.page.evaluate(background) != dark
    visitor.go("/d/0/r/1")  # it is remembered
    assert visitor.page.evaluate("document.documentElement.dataset.theme") == "light"
    visitor.check()


def test_nothing_is_wider_than_a_phone(visiting):
    visitor = visiting(viewport={"width": 400, "height": 800})
    for path in ("/d/0/", "/d/0/?layout=table", "/d/0/r/4", "/d/0/findings", "/d/0/facts", "/compare"):
        visitor.go(path)
        visitor.page.wait_for_load_state("networkidle")
        assert visitor.page.evaluate("document.documentElement.scrollWidth") <= 400, path
    visitor.check()


def test_the_features_open_over_the_grid_on_a_phone(visiting):
    visitor = visiting(viewport={"width": 400, "height": 800})
    side = visitor.page.locator("#side")
    playwright.expect(side).to_be_hidden()
    visitor.page.get_by_role("button", name="Features").click()
    playwright.expect(side).to_be_visible()
    visitor.check()


def test_everything_that_can_be_used_has_a_name(visiting):
    visitor = visiting()
    for path in ("/d/0/", "/d/0/r/4", "/d/0/findings", "/d/0/?like=4", "/d/0/facts", "/compare"):
        visitor.go(path)
        visitor.page.wait_for_load_state("networkidle")
        assert visitor.nameless() == [], path


def test_hostile_data_runs_nothing(visiting, viewing, tmp_path):
    attack = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    svg = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(3)'/>"
    path = str(tmp_path / "hostile.tfrecord")
    with rs.RecordWriter(path) as writer:
        for number in range(60):
            writer.write_example({attack: attack, "label": attack, "image": svg, "n": number, "t": [attack] * 3})
    visitor = visiting(viewing(path))
    for page in ("/d/0/", "/d/0/?layout=cards", "/d/0/r/0", "/d/0/findings", "/d/0/facts"):
        visitor.go(page)
        visitor.page.wait_for_load_state("networkidle")
    visitor.go("/d/0/?where=lab")
    visitor.page.get_by_role("combobox", name="Filter: a condition over the features").press("End")
    visitor.page.keyboard.type("e")
    visitor.page.wait_for_timeout(500)
    visitor.check()


def test_a_broken_image_is_words(visiting, viewing, tmp_path):
    from recordsmith.images import encode_image

    jpeg = encode_image(np.random.default_rng(0).integers(0, 255, (64, 64, 3), np.uint8), "jpeg")
    path = str(tmp_path / "broken.tfrecord")
    with rs.RecordWriter(path) as writer:
        writer.write_example({"image": jpeg[: len(jpeg) // 4]})
    visitor = visiting(viewing(path))
    visitor.page.wait_for_selector("text=This image cannot be decoded.")
    assert visitor.elsewhere == []


def test_frames_have_a_slider(visiting, viewing, tmp_path):
    from recordsmith.images import encode_image

    path = str(tmp_path / "steps.tfrecord")
    frames = [encode_image(np.full((20, 20, 3), 40 * step, np.uint8), "png") for step in range(5)]
    with rs.RecordWriter(path) as writer:
        writer.write_example({"frames": frames, "n": 1})
    visitor = visiting(viewing(path))
    slider = visitor.page.get_by_role("slider", name="Frame of frames")
    slider.fill("3")
    playwright.expect(visitor.page.locator("img[data-frames]")).to_have_attribute("src", re.compile("i=3$"))
    visitor.check()
