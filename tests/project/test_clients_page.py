"""The table of clients in the documentation is made from the tests, and names tests that exist."""

from __future__ import annotations

import ast

from docs import refresh_clients


def test_the_table_of_clients_is_that_of_the_tests():
    page = refresh_clients.PAGE.read_text()
    assert page == refresh_clients.refreshed(page), "run: python docs/refresh_clients.py"
    assert "| Lightning | ✓ |" in page


def test_every_mark_names_a_test():
    for client, tests in refresh_clients.shown().items():
        for column, (file, test) in tests.items():
            assert column in refresh_clients.COLUMNS, client
            body = ast.parse((refresh_clients.ROOT / file).read_text()).body
            assert test in [one.name for one in body if isinstance(one, ast.FunctionDef)], f"{client}: {file}"
