"""What `import recordsmith` offers, and what it costs."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys

import pytest

import recordsmith
from docs import refresh_api

HEAVY = {"tensorflow", "torch", "jax", "pyarrow", "pandas", "rich", "click", "cv2"}


def test_all_is_sorted_out() -> None:
    assert len(set(recordsmith.__all__)) == len(recordsmith.__all__)
    assert set(recordsmith.__all__) <= set(dir(recordsmith))


def test_the_page_of_the_api_has_them_all() -> None:
    assert refresh_api.PAGE.read_text() == refresh_api.page(), "run: python docs/refresh_api.py"


@pytest.mark.parametrize("name", recordsmith.__all__)
def test_each_public_name_resolves_and_is_documented(name: str) -> None:
    thing = getattr(recordsmith, name)
    if inspect.isclass(thing):
        # A class without a docstring of its own would show that of its base.
        assert (vars(thing).get("__doc__") or "").strip(), f"{name} has no docstring"
    elif inspect.isroutine(thing) or inspect.ismodule(thing):
        assert (inspect.getdoc(thing) or "").strip(), f"{name} has no docstring"


@pytest.mark.parametrize("name", recordsmith.__all__)
def test_public_methods_are_documented(name: str) -> None:
    thing = getattr(recordsmith, name)
    if not inspect.isclass(thing):
        return
    silent = [
        attribute
        for attribute, value in vars(thing).items()
        if not attribute.startswith("_")
        and (inspect.isroutine(value) or isinstance(value, property | classmethod | staticmethod))
        and not (inspect.getdoc(getattr(thing, attribute)) or "").strip()
    ]
    assert not silent, f"{name}: no docstring on {', '.join(silent)}"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        getattr(recordsmith, "no_such_name")  # noqa: B009 - the literal access would be a type error, as it should


def test_importing_it_imports_nothing_heavy() -> None:
    program = "import json, sys, recordsmith; print(json.dumps(sorted(sys.modules)))"
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    loaded = {module.split(".")[0] for module in json.loads(output)}
    assert not loaded & HEAVY
