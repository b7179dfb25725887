"""What the parts of the interpreter share: the state, and what each part offers the others."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

from recordsmith.doctor.lint.interpreter.scope import Scope
from recordsmith.doctor.lint.interpreter.values import Call, Function, Item, Object, ProgramClass, Value
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline, Use

__all__ = ["Arguments", "Machine"]

_MOST_STEPS = 60_000  # expressions that are evaluated; a larger program is not followed to its end


@dataclass(slots=True)
class Arguments:
    """What a call is given; `exact` is False if there may be more, of `*starred` for example."""

    positional: tuple[Value, ...] = ()
    keywords: dict[str, Value] = field(default_factory=dict)
    exact: bool = True
    starred: Value | None = None


class Machine(ABC):
    """The state of one walk through a module. `Interpreter` puts the parts together."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.pipelines: list[Pipeline] = []
        self.uses: list[Use] = []
        self.items: list[Value] = []
        self.operations: list[Value] = []  # arithmetic and comparisons
        self.attributes: list[Item] = []  # `base.name`, where the base is of a library
        self.functions: list[Function] = []
        self.classes: list[ProgramClass] = []
        self.objects: list[Object] = []  # all instances of these classes
        self.managed: set[int] = set()  # the nodes of calls that a with-statement closes
        self.followed: set[int] = set()  # the definitions that have been called
        self.options: dict[int, dict[str, Value]] = {}  # of the command line, by the parser that they belong to
        self.flags: dict[str, Value] = {}  # of absl
        self.decorated: dict[int, dict[str, Value]] = {}  # options that decorators make of parameters
        self.instances: dict[int, Object] = {}  # the last one made, by its class's definition
        self.open_branches = 0  # branches being followed of which it is not known whether they are taken
        self.stack: list[str] = []
        self.undecided: list[ast.If] = []  # the conditions of branches that are being followed and may not be taken
        self.sites: list[ast.Call] = []  # the calls that are being evaluated, outermost first
        self.steps = 0

    def take_step(self) -> bool:
        """Count a step; return False when the program is too large to be followed any further."""
        self.steps += 1
        return self.steps <= _MOST_STEPS

    @property
    def too_large(self) -> bool:
        """The program was too large to be followed to its end."""
        return self.steps > _MOST_STEPS

    @abstractmethod
    def evaluate(self, node: ast.expr | None, scope: Scope) -> Value:
        """Return what an expression is."""

    @abstractmethod
    def execute(self, statements: Sequence[ast.stmt], scope: Scope) -> bool:
        """Follow statements; return whether the program continues after them."""

    @abstractmethod
    def bind(self, target: ast.expr, value: Value, scope: Scope) -> None:
        """Assign."""

    @abstractmethod
    def apply(self, callee: Value, arguments: Arguments, node: ast.Call, scope: Scope) -> Value:
        """Return what a call of a value gives."""

    @abstractmethod
    def follow(self, function: Function, arguments: Arguments, *, label: str = "") -> Value:
        """Return what a function of the program gives for these arguments."""

    @abstractmethod
    def subscript(self, base: Value, index: Value, node: ast.expr | None) -> Value:
        """Return `base[index]`."""

    def call(self, name: str, receiver: Value | None, arguments: Arguments, node: ast.Call) -> Call:
        """Note a call of something that is not of the program."""
        made = Call(
            name,
            receiver,
            arguments.positional,
            arguments.keywords,
            exact=arguments.exact,
            within=tuple(self.stack),
            via=tuple(self.sites[:-1]),
            undecided=tuple(self.undecided),
            node=node,
        )
        self.calls.append(made)
        return made

    def follow_with_unknown(self, function: Function, *, label: str = "") -> Value:
        """Follow a function that nobody calls here: its annotations and defaults say what its parameters are."""
        return self.follow(function, Arguments(exact=False), label=label)
