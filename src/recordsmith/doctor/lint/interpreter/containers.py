"""Dicts and lists as the program changes them in place.

What happens on one side of a branch may not have happened: there a value that is put into a dict becomes a choice
between the old one and the new one, and after a removal nobody knows which keys are left.
"""

from __future__ import annotations

from recordsmith.doctor.lint.interpreter.machine import Arguments
from recordsmith.doctor.lint.interpreter.scope import join
from recordsmith.doctor.lint.interpreter.values import (
    Group,
    Item,
    Literal,
    Many,
    Slice,
    Symbol,
    Table,
    Unknown,
    Value,
    options_of,
)

__all__ = [
    "EMPTY_ARRAYS",
    "TABLE_METHODS",
    "add_members",
    "made_dict",
    "remove_item",
    "set_item",
    "table_method",
    "zipped",
]

TABLE_METHODS = {"get", "pop", "copy", "update", "setdefault", "clear", "popitem"}
# Arrays that hold nothing yet: what they are is what is stored in them, `x[i] = image`.
EMPTY_ARRAYS = {"numpy.zeros", "numpy.empty", "numpy.ndarray", "numpy.zeros_like", "numpy.empty_like", "numpy.ones"}
_LONGEST = 64


def set_item(base: Value, index: Value, value: Value, *, certain: bool) -> None:
    """Do `base[index] = value`."""
    for one in options_of(base):
        if isinstance(one, Table):
            _set_entry(one, index, value, certain=certain)
        elif isinstance(one, Group) and one.is_list:
            _set_member(one, index, value, certain=certain)


def _key(index: Value) -> object:
    return index.value if isinstance(index, Literal) else index.path if isinstance(index, Symbol) else None


def _set_entry(table: Table, index: Value, value: Value, *, certain: bool) -> None:
    if not isinstance(index, Literal | Symbol):
        table.complete = False
        table.others.append(value)
        return
    key = _key(index)
    old = table.entries.get(key)
    table.entries[key] = value if certain or old is None else join([(frozenset(), old), (frozenset(), value)])


def _set_member(group: Group, index: Value, value: Value, *, certain: bool) -> None:
    position = index.value if isinstance(index, Literal) else None
    if isinstance(position, int) and -len(group.members) <= position < len(group.members) and certain:
        members = list(group.members)
        members[position] = value
        group.members = tuple(members)
    elif not isinstance(index, Slice):  # any of them may have been replaced
        group.members = tuple(join([(frozenset(), one), (frozenset(), value)]) for one in group.members)
    else:
        group.grown = True
        group.members = tuple(join([(frozenset(), one), (frozenset(), Unknown())]) for one in group.members)


def remove_item(base: Value, index: Value, *, certain: bool) -> None:
    """Do `del base[index]`."""
    for one in options_of(base):
        if isinstance(one, Table):
            if certain and isinstance(index, Literal) and not isinstance(base, Literal):
                one.entries.pop(index.value, None)
            else:
                one.complete = False


def table_method(table: Table, name: str, arguments: Arguments, *, certain: bool) -> Value:
    """Return what a method of a dict gives, and change the dict as it does."""
    given = arguments.positional
    if name == "copy":
        return Table(dict(table.entries), table.complete, table.made_by, node=table.node)
    if name in ("clear", "popitem"):
        table.entries = {}
        table.complete = False
        return Unknown()
    if name == "update":
        merge(table, given[0] if given else Table({}), certain=certain)
        merge(table, Table(dict(arguments.keywords), arguments.exact), certain=certain)
        return Literal(None)
    key = given[0] if given else None
    if not isinstance(key, Literal):
        table.complete &= name == "get"
        return Item(table, key) if name == "get" and key is not None else Unknown()
    default = given[1] if len(given) > 1 else None
    found = table.entries.get(key.value)
    if name == "setdefault" and found is None:
        _set_entry(table, key, default or Literal(None), certain=True)
        return default or Unknown()
    if name == "pop":
        remove_item(table, key, certain=certain)
    if found is None:
        return default if default is not None and table.complete else Unknown()
    return found


def merge(table: Table, given: Value, *, certain: bool) -> None:
    """Put the entries of another dict into this one."""
    other = made_dict(given)
    if other is None:
        table.complete = False
        return
    for key, value in other.entries.items():
        _set_entry(table, Literal(key), value, certain=certain)
    table.complete &= other.complete


def add_members(group: Group, method: str, arguments: Arguments, *, certain: bool) -> None:
    """Change a list by `append`, `extend` or `insert`; in a loop, nobody knows how often.

    >>> numbers = Group((Literal(1),), is_list=True)
    >>> add_members(numbers, "extend", Arguments((Group((Literal(2), Literal(3))),)), certain=True)
    >>> [one.value for one in numbers.members]
    [1, 2, 3]
    """
    place, added = len(group.members), arguments.positional[-1:]
    match method, arguments.positional:
        case "extend", (Group(members=members, grown=grown),):
            added, certain = members, certain and not grown
        case "extend", _:
            added = tuple(one.member if isinstance(one, Many) else Item(one, Unknown()) for one in added)
            certain = False
        case "insert", (Literal(value=int() as given), _):
            place = given
        case "insert", _:
            certain = False
    if len(group.members) < _LONGEST:
        group.members = (*group.members[:place], *added, *group.members[place:])
    group.grown |= not certain


def made_dict(value: Value | None) -> Table | None:
    """Return the dict that `dict(value)` makes: a copy of one, or one of known pairs; None if that is not known.

    >>> made_dict(zipped([Group((Literal("a"),)), Group((Literal(1),))])).entries["a"].value
    1
    """
    if isinstance(value, Table):
        return Table(dict(value.entries), value.complete, value.made_by)
    if not isinstance(value, Group):
        return None
    entries: dict[object, Value] = {}
    for pair in value.members:
        if not isinstance(pair, Group) or len(pair.members) != 2 or not isinstance(pair.members[0], Literal):
            return None
        entries[pair.members[0].value] = pair.members[1]
    return Table(entries, not value.grown)


def zipped(sides: list[Value]) -> Group | None:
    """Return what `zip` makes of lists that are known; a list of unknown length beside one that is known counts.

    >>> zipped([Unknown()]) is None
    True
    """
    known = [len(one.members) for one in sides if isinstance(one, Group) and not one.grown]
    if not known or min(known) > _LONGEST:
        return None
    rows = []
    for position in range(min(known)):
        row = []
        for one in sides:
            if isinstance(one, Group) and position < len(one.members):
                row.append(one.members[position])
            else:
                row.append(one.member if isinstance(one, Many) else Item(one, Literal(position)))
        rows.append(Group(tuple(row)))
    return Group(tuple(rows), is_list=True)
