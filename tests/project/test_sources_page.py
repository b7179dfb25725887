"""The table of sources in the documentation is made from the tests."""

from __future__ import annotations

from docs import refresh_sources


def test_the_table_of_sources_is_that_of_the_tests():
    page = refresh_sources.PAGE.read_text()
    assert page == refresh_sources.refreshed(page), "run: python docs/refresh_sources.py"
    assert "| csv | " in page


def test_every_mark_says_what_is_kept():
    for name, places in refresh_sources.shown().items():
        for keeps, file, test in places:
            assert keeps.strip(), f"{name}: {test} in {file}"
            assert "|" not in keeps + name, f"{name}: {test} in {file}"
