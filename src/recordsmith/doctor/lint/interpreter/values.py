"""What the analysis knows about a value of the program: symbolic values, made by the interpreter and read by rules.

Nothing is computed that the source does not say. `tf.io.decode_raw(parsed["x"], tf.uint8)` becomes

    Call "tensorflow.io.decode_raw"( Item( Call "tensorflow.io.parse_single_example"(...), Literal "x" ), Symbol )

and what is not understood becomes `Unknown`, about which no rule may say anything.
"""

from __future__ import annotations

import ast
import collections
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "Call",
    "Choice",
    "Element",
    "Function",
    "Group",
    "Item",
    "Literal",
    "Many",
    "Module",
    "Object",
    "Operation",
    "Parameter",
    "ProgramClass",
    "Slice",
    "Symbol",
    "Table",
    "Unknown",
    "Value",
    "options_of",
    "walk",
]


@dataclass(eq=False, slots=True)
class Value:
    """Any value; `node` is the expression that made it, where one did."""

    node: ast.expr | None = field(default=None, kw_only=True)

    def parts(self) -> Iterator[Value]:
        """The values that this one was made of."""
        yield from ()


@dataclass(eq=False, slots=True)
class Unknown(Value):
    """Anything.

    >>> list(Unknown().parts())
    []
    """


@dataclass(eq=False, slots=True)
class Parameter(Value):
    """A parameter of a function that the program does not call, or an option of the command line.

    Attributes:
        name: its name.
        default: what it is where nobody says otherwise.
        annotation: the name of its type, as "str"; None if the source does not say.
    """

    name: str
    default: Value | None = None
    annotation: str | None = None


@dataclass(eq=False, slots=True)
class Literal(Value):
    """A number, text, bytes, a boolean or None, written down or computed from such.

    `default` is True for a setting that somebody may change: it decides no branch.
    """

    value: Any
    default: bool = False


@dataclass(eq=False, slots=True)
class Symbol(Value):
    """Something of a library, by its full and usual name."""

    path: str


@dataclass(eq=False, slots=True)
class Group(Value):
    """A tuple or list whose members are known one by one; of one that has `grown`, only some of them."""

    members: tuple[Value, ...]
    is_list: bool = False
    grown: bool = False

    def parts(self) -> Iterator[Value]:
        """The members."""
        yield from self.members


@dataclass(eq=False, slots=True)
class Many(Value):
    """A collection of any number of values like this one, as a comprehension makes it.

    Attributes:
        member: any one of them.
        over: what the comprehension goes over.

    >>> Many(Literal(1)).member.value
    1
    """

    member: Value
    over: tuple[Value, ...] = ()

    def parts(self) -> Iterator[Value]:
        """The member, and what it was made from."""
        yield self.member
        yield from self.over


@dataclass(eq=False, slots=True)
class Table(Value):
    """A dict with constant keys, as the program changed it.

    Attributes:
        entries: the values by their keys.
        complete: False if there may be more or fewer keys.
        made_by: the call that returned it, of what a parser returned.
        others: the values of keys that are not known.
    """

    entries: dict[Any, Value]
    complete: bool = True
    made_by: Call | None = None
    others: list[Value] = field(default_factory=list)

    def parts(self) -> Iterator[Value]:
        """The values, and what made them."""
        yield from self.entries.values()
        yield from self.others
        if self.made_by is not None:
            yield self.made_by


@dataclass(eq=False, slots=True)
class Slice(Value):
    """`lower:upper:step` between brackets.

    >>> Slice(Literal(0), None, None).lower.value
    0
    """

    lower: Value | None
    upper: Value | None
    step: Value | None


@dataclass(eq=False, slots=True)
class Item(Value):
    """`base[index]`, or with a text as index made by an attribute, `base.name`.

    Attributes:
        base, index: the two parts.
        attribute: it is written as `base.name`.
        missing: the base is a dict of which all keys are known at this point, and this key is not one of them.

    >>> Item(Unknown(), Literal("x")).index.value
    'x'
    """

    base: Value
    index: Value
    attribute: bool = False
    missing: bool = False

    def parts(self) -> Iterator[Value]:
        """The base and the index."""
        yield self.base
        yield self.index


@dataclass(eq=False, slots=True)
class Operation(Value):
    """An operator with its operands, such as `image / 255.0`."""

    operator: str
    operands: tuple[Value, ...]

    def parts(self) -> Iterator[Value]:
        """The operands."""
        yield from self.operands


@dataclass(eq=False, slots=True)
class Element(Value):
    """One element of a dataset where no more is known than its kind.

    Attributes:
        kind: "record" (a serialized example), "path" (a file name), "line", "slice" (one row of the array `of`), or ""
            (anything).
        batched: it is a whole batch of them.
        of: what it was taken from.
    """

    kind: str = ""
    batched: bool = False
    of: Value | None = None

    def parts(self) -> Iterator[Value]:
        """What it was taken from."""
        if self.of is not None:
            yield self.of


@dataclass(eq=False, slots=True)
class Function(Value):
    """A function, method or lambda of the program, with the scope that it was made in.

    Attributes:
        definition: its source.
        scope: where its free names are looked up.
        owner: the object that it is a method of.
        bound, bound_keywords: what functools.partial gave it.

    >>> Function(ast.parse("lambda x: x", mode="eval").body, None).name
    '<lambda>'
    """

    definition: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Any
    owner: Value | None = None
    bound: tuple[Value, ...] = ()
    bound_keywords: dict[str, Value] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its name."""
        return "<lambda>" if isinstance(self.definition, ast.Lambda) else self.definition.name


@dataclass(eq=False, slots=True)
class ProgramClass(Value):
    """A class of the program."""

    definition: ast.ClassDef
    scope: Any
    members: dict[str, Value] = field(default_factory=dict)
    bases: tuple[Value, ...] = ()


@dataclass(eq=False, slots=True)
class Module(Value):
    """A module of the program that was imported.

    Attributes:
        scope: its names.
        path: its file.
    """

    scope: Any
    path: str


@dataclass(eq=False, slots=True)
class Object(Value):
    """An instance of a class of the program; its fields change as the program changes them."""

    program_class: ProgramClass
    fields: dict[str, Value] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Call(Value):
    """A call of something that is not of the program, and its result.

    Attributes:
        name: the full name of what is called, as "tensorflow.io.decode_raw"; a method of a value is ".name", and of
            an instance of a library's class ".name" too, with the receiver's call saying which class.
        receiver: the value whose method it is.
        args, keywords: what was given; `exact` is False if there may be more (`*args`, `**options`).
        within: the functions that were being followed, outermost first; of a dataset's `map` as "map:name", of a
            `tf.py_function` as "python:name".
        gives: of a pool's `map`: what its function returns.
        filled: of an array that was made empty: what the program stores in its rows.
        columns: of a table: the columns that the program stores in it.
        replaced: the attributes that the program sets on the result, as `model.fc = ...` does.
        via: the calls of the program's own functions that led here, outermost first; their places say which loops run.
        undecided: the conditions around it, and around what led to it, of which it is not known whether they hold.

    >>> Call("tensorflow.io.decode_raw", None, (Unknown(), Symbol("tensorflow.uint8"))).argument(1, "out_type").path
    'tensorflow.uint8'
    """

    name: str
    receiver: Value | None
    args: tuple[Value, ...] = ()
    keywords: dict[str, Value] = field(default_factory=dict)
    exact: bool = True
    within: tuple[str, ...] = ()
    gives: Value | None = None
    via: tuple[ast.Call, ...] = ()
    undecided: tuple[ast.If, ...] = ()
    filled: list[Value] = field(default_factory=list)
    replaced: dict[str, Value] = field(default_factory=dict)
    columns: dict[str, Value] = field(default_factory=dict)

    def argument(self, position: int | None, *names: str) -> Value | None:
        """Return an argument by its position or its name; None if it was not given, Unknown if that is not sure."""
        for name in names:
            if name in self.keywords:
                return self.keywords[name]
        if position is not None and position < len(self.args):
            return self.args[position]
        return None if self.exact else Unknown()

    @property
    def expression(self) -> ast.Call:
        """The call in the source."""
        assert isinstance(self.node, ast.Call)  # noqa: S101 - the interpreter makes calls from calls only
        return self.node

    @property
    def in_map(self) -> bool:
        """It happens inside a function that a dataset's map, filter or interleave runs."""
        return any(name.startswith("map:") for name in self.within)

    def parts(self) -> Iterator[Value]:
        """The receiver and the arguments."""
        if self.receiver is not None:
            yield self.receiver
        yield from self.args
        yield from self.keywords.values()
        if self.gives is not None:
            yield self.gives
        yield from self.filled


@dataclass(eq=False, slots=True)
class Choice(Value):
    """One of several values, by the conditions that lead to each; a condition is its source and whether it holds.

    `by` is the value of the condition, where that is known.

    >>> [option.value for option in options_of(Choice(((frozenset(), Literal(1)), (frozenset(), Literal(2)))))]
    [1, 2]
    """

    options: tuple[tuple[frozenset[tuple[str, bool]], Value], ...]
    by: Value | None = None

    def parts(self) -> Iterator[Value]:
        """The options, and the condition."""
        for _, option in self.options:
            yield option
        if self.by is not None:
            yield self.by


def options_of(value: Value | None) -> list[Value]:
    """Return the values that a value may be: itself, or those of a choice.

    >>> options_of(None)
    []
    """
    if isinstance(value, Choice):
        return [one for _, option in value.options for one in options_of(option)]
    return [] if value is None else [value]


def walk(value: Value | None, limit: int = 2000) -> Iterator[Value]:
    """Yield a value and all that it was made of, each once.

    >>> [type(one).__name__ for one in walk(Item(Unknown(), Literal("x")))]
    ['Item', 'Unknown', 'Literal']
    """
    seen: set[int] = set()
    waiting = collections.deque(() if value is None else (value,))
    while waiting and len(seen) < limit:
        one = waiting.popleft()
        if id(one) not in seen:
            seen.add(id(one))
            yield one
            waiting.extend(one.parts())
