"""Features that are means of the target by group, computed before the test rows are split off."""

from __future__ import annotations

from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Item, Literal, Value, walk
from recordsmith.doctor.lint.libraries.labels import plain_labels
from recordsmith.doctor.lint.program import Program

__all__ = ["target_means_before"]

_STATISTICS = {".mean", ".median", ".sum", ".transform", ".agg", ".aggregate", ".std"}


def target_means_before(program: Program, split: Call) -> Iterator[tuple[Call, str]]:
    """Yield what a split table holds of its own target: `df.groupby("city")["price"].transform("mean")`."""
    tables = [one for given in split.args for one in walk(given) if isinstance(one, Call) and one.columns]
    for table in {id(one): one for one in tables}.values():
        for column in table.columns.values():
            found = next((one for one in walk(column, 40) if _grouped(one, table) is not None), None)
            target = None if found is None else _grouped(found, table)
            if isinstance(found, Call) and target is not None and target in _targets(program, split):
                yield found, target


def _grouped(value: Value, table: Value) -> str | None:
    """The column of a table of which a value is a statistic by group."""
    match value:
        case Call(
            name=name,
            receiver=Item(base=Call(name=".groupby", receiver=grouped), index=Literal(value=str() as target)),
        ) if name in _STATISTICS and grouped is table:
            return target
    return None


def _targets(program: Program, split: Call) -> set[str]:
    """The columns that are predicted: given to the split as labels, or to a `fit`."""
    given: list[Value] = list(split.args[1:2])
    given += [fit.args[1] for fit in program.calls if fit.name == ".fit" and len(fit.args) > 1]
    columns = [plain_labels(one) for one in given]
    return {
        one.index.value
        for one in columns
        if isinstance(one, Item) and isinstance(one.index, Literal) and isinstance(one.index.value, str)
    }
