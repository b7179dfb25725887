"""The rule on files that are listed in any order and labels that come in theirs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Group, Item, Literal, Many, Slice, Value, walk
from recordsmith.doctor.lint.libraries.rows import rows_of
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.torch.rows import pairs_in_datasets
from recordsmith.rules import Finding, Severity, rule

__all__ = ["LISTINGS", "LISTING_RULES", "is_read_elsewhere"]

LISTINGS = {"glob.glob", "glob.iglob", "os.listdir", "os.scandir", ".glob", ".rglob", ".iterdir"}
_JOINS = {"numpy.concatenate", "numpy.vstack", "tensorflow.concat", "pandas.concat"}
_READS = {"numpy.load", "numpy.genfromtxt", "numpy.loadtxt", "json.load", "pickle.load", "builtins.open"}
_BELONGS = re.compile(
    r"label|target|mask|annot|truth|class|caption|segment|depth|noisy|clean|(^|[_/ ])(y|gt|seg|hr|lr|xml|json)",
    re.IGNORECASE,
)
_SORTERS = {"builtins.sorted", "natsort.natsorted", "natsort.os_sorted", "numpy.sort"}
_MOST_VALUES = 400
_PAIRS = {"builtins.zip", "tensorflow.data.Dataset.from_tensor_slices", "torch.utils.data.TensorDataset"}


@rule("P049", "labels-beside-unsorted-files", Severity.ERROR)
def labels_beside_unsorted_files(program: Program) -> Iterator[Finding]:
    """Files are listed unsorted and paired with labels that come from elsewhere.

    Why it matters:
        `glob` and `listdir` give files in whatever order the file system keeps them, which differs between machines and
        changes when files are copied. Paired by position with labels from a table, or with a second listing, examples
        get the labels of others, and no error is raised.

    Example:
        `tf.data.Dataset.from_tensor_slices((glob.glob("*.png"), labels))`

    Fix:
        Sort both sides in the same way, `sorted(glob.glob("*.png"))`; better, look up each label by the file's name.
    """
    sorted_in_place = {id(one.receiver) for one in program.calls if one.name == ".sort"}
    for call in program.calls:
        given = call.args[0] if len(call.args) == 1 else None
        if call.name == "tensorflow.data.Dataset.zip":
            members = _sliced(given.members if isinstance(given, Group) else call.args)
        elif call.name in _PAIRS:
            members = list(given.members) if isinstance(given, Group) else list(call.args)
        elif call.name == ".fit" or call.name.endswith(".train_test_split"):
            members = list(call.args[:2])
        else:
            continue
        if len(members) < 2 or any(isinstance(member, Call) and member.name in _PAIRS for member in members):
            continue
        listings = [(member, _listing(member)) for member in members]
        for member, listing in listings:
            if listing is None or id(listing) in sorted_in_place or id(member) in sorted_in_place:
                continue
            others = [other for other in members if other is not member]
            if not all(_is_independent(other, listing) or _are_halves(member, other, listing) for other in others):
                continue
            yield program.finding(
                labels_beside_unsorted_files,
                listing.expression,
                f"`{program.text(listing.expression)}` lists files in no certain order, and they are paired by "
                "position with something that does not follow it: examples get the labels of others.",
                corrected=_sorted(program, listing) if listing.name != "os.walk" else None,
                severity=None if _are_labelled(call, members) else Severity.WARNING,
            )
            break
    yield from _given_to_a_loader(program, sorted_in_place)
    yield from _numbered_by_ranges(program, sorted_in_place)
    for listing in _paired_in_loops(program, sorted_in_place):
        yield program.finding(
            labels_beside_unsorted_files,
            listing.expression,
            f"`{program.text(listing.expression)}` lists files in no certain order, and a loop pairs them by position "
            "with something that does not follow it: examples get the labels of others.",
            corrected=_sorted(program, listing),
        )
    for listing, name, other, belongs in pairs_in_datasets(program):
        yield program.finding(
            labels_beside_unsorted_files,
            listing.expression,
            f"`{program.text(listing.expression)}` lists files in no certain order, and the dataset pairs "
            f"`self.{name}` with `self.{other}` by position: examples get the labels of others.",
            corrected=_sorted(program, listing),
            severity=None if belongs else Severity.WARNING,
        )


def _sliced(zipped: Iterable[Value]) -> list[Value]:
    """The lists that zipped datasets give one by one, in their order; nothing if one of them is another kind."""
    found: list[Value] = []
    for one in zipped:
        call = one.source.call if isinstance(one, Pipeline) and one.source.kind == "slices" else None
        reordered = isinstance(one, Pipeline) and any(stage.name in ("shuffle", "filter") for stage in one.stages)
        if call is None or not call.args or reordered:
            return []
        found.append(call.args[0])
    return found


def _are_halves(one: Value, other: Value, listing: Call) -> bool:
    """Two lists that different conditions pick from the same listing: each is in its order, and not in the other's."""
    picked = [_conditions(value, listing) for value in (one, other)]
    return bool(picked[0]) and bool(picked[1]) and picked[0] != picked[1]


def _conditions(value: Value, listing: Call) -> set[str]:
    """The conditions of comprehensions that a list was made by from a listing."""
    chain = [one for one in walk(value, 40) if isinstance(one, Many) and any(part is listing for part in walk(one, 60))]
    nodes = [one.node for one in chain if isinstance(one.node, ast.ListComp)]
    return {ast.unparse(test) for node in nodes for part in node.generators for test in part.ifs}


def _given_to_a_loader(program: Program, sorted_in_place: set[int]) -> Iterator[Finding]:
    """`image_dataset_from_directory(labels=...)` takes the files sorted by their paths, and the labels as they come."""
    for call in program.calls:
        labels = call.argument(1, "labels") if call.name.endswith("_dataset_from_directory") else None
        if labels is None or isinstance(labels, Literal) or id(labels) in sorted_in_place:
            continue
        listing = next(_listed(labels, sorted_in_place), None)
        table = next((one for one in walk(labels, 60) if isinstance(one, Call) and one.name == "pandas.read_csv"), None)
        if listing is not None and id(listing) not in sorted_in_place:
            yield program.finding(
                labels_beside_unsorted_files,
                listing.expression,
                f"`{call.name.rpartition('.')[2]}` takes the files sorted by their paths, and these labels are in the "
                "order of an unsorted listing: examples get the labels of others.",
                corrected=_sorted(program, listing) if listing.name != "os.walk" else None,
            )
        elif table is not None and not _is_sorted(labels):
            yield program.finding(
                labels_beside_unsorted_files,
                call.expression,
                f"`{call.name.rpartition('.')[2]}` takes the files sorted by their paths, and these labels are in the "
                "order of a table that nothing here sorts: examples may get the labels of others.",
                advice="Sort the table by its file names first: `table.sort_values('file')`.",
                severity=Severity.WARNING,
            )


def _is_sorted(value: Value) -> bool:
    names = [one.name for one in walk(value, 200) if isinstance(one, Call)]
    return any(name in (".sort_values", ".sort_index", ".set_index", ".merge", ".reindex") for name in names)


def _listed(value: Value, sorted_in_place: set[int]) -> Iterator[Call]:
    """The unsorted listings that loops over, to make a value, one row for each file."""
    waiting, seen = [value], set[int]()
    while waiting and len(seen) < _MOST_VALUES:
        one = waiting.pop(0)
        is_sorted = isinstance(one, Call) and one.name in _SORTERS
        if id(one) in seen or is_sorted or id(one) in sorted_in_place:
            continue
        seen.add(id(one))
        if isinstance(one, Call) and (one.name in LISTINGS or one.name == "os.walk"):
            yield one
        waiting.extend(one.parts())


def _numbered_by_ranges(program: Program, sorted_in_place: set[int]) -> Iterator[Finding]:
    """Labels that are given to ranges of rows, `labels[0:202] = 0`, where the rows come from unsorted folders."""
    ranges: dict[int, set[object]] = {}
    for call in program.calls:
        match call:
            case Call(name=".__setitem__", args=(Slice(), Literal(value=number))) if call.receiver is not None:
                ranges.setdefault(id(call.receiver), set()).add(number)
    for call in program.calls:
        members = list(call.args[:2]) if call.name == ".fit" or call.name.endswith(".train_test_split") else []
        if len(members) < 2:
            continue
        labels = rows_of(members[1])
        if len(ranges.get(id(labels.origin), ())) < 2 or rows_of(members[0]).orders != labels.orders:
            continue
        listings = _listed(rows_of(members[0]).origin, sorted_in_place)
        listing = next((one for one in listings if not _is_inside_another(one)), None)
        if listing is not None:
            yield program.finding(
                labels_beside_unsorted_files,
                listing.expression,
                f"`{program.text(listing.expression)}` lists files in no certain order, and the labels are given to "
                "ranges of rows, as if the order were known: examples get the labels of others.",
                corrected=_sorted(program, listing),
            )
            return


def _is_inside_another(listing: Call) -> bool:
    """It lists a folder that another listing found: the rows of a folder belong to one class, in any order."""
    inside = [one for part in listing.parts() for one in walk(part, 200)]
    return any(isinstance(one, Call) and one.name in LISTINGS for one in inside)


def _are_labelled(call: Call, members: list[Value]) -> bool:
    """A name, a path or a table says that one side belongs to the other: two listings may also be used one by one."""
    words = [one.id for one in ast.walk(call.expression) if isinstance(one, ast.Name)]
    clause = getattr(call.node, "parent", None)
    words += [one.id for one in ast.walk(getattr(clause, "target", ast.Pass())) if isinstance(one, ast.Name)]
    parts = [one for member in members for one in walk(member, 200)]
    words += [one.value for one in parts if isinstance(one, Literal) and isinstance(one.value, str)]
    tables = any(isinstance(one, Call) and (one.name in _READS or one.name.startswith("pandas.")) for one in parts)
    return tables or call.name == ".fit" or any(_BELONGS.search(word) for word in words)


def _paired_in_loops(program: Program, sorted_in_place: set[int]) -> Iterator[Call]:
    """Listings whose files a loop counts, where it takes something read elsewhere at the same number."""
    taken: dict[tuple[int, str], list[Value]] = {}
    counted_by = {id(one.node): one for one in reversed(program.calls) if one.name == "builtins.enumerate"}
    for item in program.items:
        node = item.node
        if isinstance(item, Item) and isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name):
            loop = _loop_of(node, node.slice.id)
            if loop is not None:
                taken.setdefault((id(loop), node.slice.id), []).append(_table_of(item.base))
                counted = _enumerated(counted_by.get(id(loop.iter)))
                taken[id(loop), node.slice.id] += [] if counted is None else [counted]
    seen: set[int] = set()
    for values in taken.values():
        for value in values:
            listing = _listing(value)
            if listing is None or {id(listing), id(value)} & sorted_in_place or id(listing.node) in seen:
                continue
            others = [one for one in values if all(part.node is not listing.node for part in walk(one))]
            if any(_is_independent(one, listing) for one in others):
                seen.add(id(listing.node))
                yield listing


def _table_of(value: Value) -> Value:
    """The table of `table.iloc[i]` and `table["column"][i]`."""
    while isinstance(value, Item):
        value = value.base
    return value


def _loop_of(node: ast.AST, counter: str) -> ast.For | None:
    """The loop whose counter is used at a place."""
    one = getattr(node, "parent", None)
    while one is not None and not isinstance(one, ast.FunctionDef | ast.Module):
        if isinstance(one, ast.For):
            names = [part.id for part in ast.walk(one.target) if isinstance(part, ast.Name)]
            if names[:1] == [counter]:
                return one
        one = getattr(one, "parent", None)
    return None


def _enumerated(call: Call | None) -> Value | None:
    return call.args[0] if call is not None and call.args else None


def _listing(value: Value) -> Call | None:
    """The listing that the rows of a value come from, unsorted and in its order."""
    rows = rows_of(value)
    while isinstance(rows.origin, Call) and rows.origin.name in _JOINS and rows.origin.args:
        rows = rows_of(rows.origin.args[0])
    origin = rows.origin
    if isinstance(origin, Group) and origin.grown and len(origin.members) == 1 and not rows.orders:
        walked = [one for one in walk(origin.members[0], 60) if isinstance(one, Call) and one.name == "os.walk"]
        return walked[0] if len({id(one) for one in walked}) == 1 else None  # a list that a loop over it fills
    return origin if isinstance(origin, Call) and origin.name in LISTINGS and not rows.orders else None


def _is_independent(other: Value, listing: Call) -> bool:
    """Labels that were made from the listing itself follow it; so do constants of its length."""
    if any(part is listing for part in walk(other)) or isinstance(other, Literal):
        return False
    return is_read_elsewhere(other) or (isinstance(other, Group) and len(other.members) > 1)


def is_read_elsewhere(value: Value) -> bool:
    """Tell whether a value was plainly read from somewhere: another listing, a table, an array on disk, a file.

    >>> is_read_elsewhere(Call("pandas.read_csv", None))
    True
    """
    names = [part.name for part in walk(value) if isinstance(part, Call)]
    return any(name in LISTINGS | _READS or name.startswith(("os.walk", "pandas.read_", "csv.")) for name in names)


def _sorted(program: Program, listing: Call) -> str:
    node = listing.expression
    source = getattr(node, "source", program.source)
    begin, end = source.span(node)
    first, last = source.whole_lines(begin, end)
    text: str = source.text
    return f"{text[first:begin]}sorted({text[begin:end]}){text[end:last]}"


LISTING_RULES = [labels_beside_unsorted_files]
