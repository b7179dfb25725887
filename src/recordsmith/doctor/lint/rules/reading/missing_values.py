"""The rule on missing values that the program itself makes and never removes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Literal
from recordsmith.doctor.lint.libraries.fitting import model_uses
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["MISSING_VALUE_RULES"]

_REMOVED = r"dropna|fillna|isna\b|isnull|notna|notnull|nan_to_num|isnan|nan\b|[Ii]mput|interpolate|ffill|bfill|Masking"
_FIRST_ROWS = {".pct_change", ".rolling", ".shift", ".diff"}


@rule("P272", "missing-values-left", Severity.WARNING)
def missing_values_left(program: Program) -> Iterator[Finding]:
    """A table gets missing values, nothing removes them, and a neural network is trained on it.

    Why it matters:
        `pd.to_numeric(errors="coerce")` turns what is not a number into NaN; `shift`, `pct_change` and `rolling` leave
        the first rows NaN. One NaN in one batch makes the loss NaN, and then every weight: the model predicts NaN for
        ever after.

    Example:
        `df["horsepower"] = pd.to_numeric(df["horsepower"], errors="coerce")`, then `model.fit(df.values, y)`.

    Fix:
        `df = df.dropna()`, or fill them: `df.fillna(df.median())`.
    """
    models = {id(one.compile.receiver) for one in program.models}
    trained = [use for use in model_uses(program.calls) if use.role == "training" and id(use.model) in models]
    if not trained or program.mentions(_REMOVED):
        return
    for call in program.calls:
        coerced = call.argument(1, "errors") if call.name == "pandas.to_numeric" else None
        if isinstance(coerced, Literal) and coerced.value == "coerce":
            why = '`errors="coerce"` makes a missing value of everything that is not a number'
        elif call.name in _FIRST_ROWS and _is_kept_in_table(call):
            why = f"`{call.name[1:]}` leaves the first or last rows without a value"
        else:
            continue
        yield program.finding(
            missing_values_left,
            call.expression,
            f"{why}, and nothing in the program removes or fills them: the loss becomes NaN.",
            advice="Call `dropna()` or `fillna(...)` before training.",
        )
        return


def _is_kept_in_table(call: Call) -> bool:
    """Its result becomes a column: `df["change"] = df["close"].pct_change()`."""
    one = getattr(call.node, "parent", None)
    while isinstance(one, ast.Call | ast.Attribute | ast.BinOp | ast.UnaryOp):
        one = getattr(one, "parent", None)
    return isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Subscript)


MISSING_VALUE_RULES = [missing_values_left]
