"""The rule on Python's random numbers inside `map`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["PYTHON_RANDOMNESS_RULES"]

_DRAWS = re.compile(
    r"random\.(random|randint|uniform|choice|choices|randrange|gauss|sample|normalvariate)"
    r"|numpy\.random\.(rand|randn|randint|random|uniform|normal|choice|random_sample|binomial|beta)"
)


@rule("P256", "python-random-in-map", Severity.ERROR)
def python_random_in_map(program: Program) -> Iterator[Finding]:
    """A function that `map` runs draws random numbers with Python or numpy.

    Why it matters:
        TensorFlow calls the function of `map` once, to build a graph. `random.random()` is drawn in that one call, and
        every example then gets the same number: all images are flipped, or none is.

    Example:
        `dataset.map(lambda x: tf.image.flip_left_right(x) if random.random() > 0.5 else x)`

    Fix:
        Use TensorFlow's random numbers, `tf.random.uniform(())`, or `tf.image.random_flip_left_right`. Or run the
        function as Python, with `tf.py_function`.
    """
    for call in program.calls:
        if _DRAWS.fullmatch(call.name) and call.in_map and not any(one.startswith("python:") for one in call.within):
            if "map:__getitem__" in call.within or _runs_as_python(call.expression):
                continue  # called for every example
            yield program.finding(
                python_random_in_map,
                call.expression,
                f"`{call.name}` is called inside a function that `map` runs once to build a graph: every example gets "
                "the same random number.",
            )


def _runs_as_python(node: ast.AST) -> bool:
    one: ast.AST | None = node
    while one is not None and not isinstance(one, ast.FunctionDef):
        one = getattr(one, "parent", None)
    return one is not None and any(
        ast.unparse(decorator).split("(")[0].endswith(("py_function", "numpy_function"))
        for decorator in one.decorator_list
    )


PYTHON_RANDOMNESS_RULES = [python_random_in_map]
