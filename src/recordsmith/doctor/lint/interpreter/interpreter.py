"""The interpreter: it follows a module from top to bottom, then every function that nothing in the module called."""

from __future__ import annotations

import ast

from recordsmith.doctor.lint.interpreter.calls import Calls
from recordsmith.doctor.lint.interpreter.expressions import Expressions
from recordsmith.doctor.lint.interpreter.scope import Scope
from recordsmith.doctor.lint.interpreter.statements import Statements
from recordsmith.doctor.lint.interpreter.values import Function, Module, Object, Value
from recordsmith.doctor.lint.libraries.torch.data import load_for_others

__all__ = ["Interpreter"]


class Interpreter(Statements, Calls, Expressions):
    """Follows a module symbolically; nothing is imported or executed.

    >>> interpreter = Interpreter()
    >>> scope = interpreter.run(ast.parse("import tensorflow as tf; ds = tf.data.TFRecordDataset('a').batch(2 * 16)"))
    >>> [stage.constant(0, "batch_size") for stage in scope.lookup("ds").stages]
    [32]
    """

    attribute = Expressions.attribute
    evaluate_call = Calls.evaluate_call

    def run(self, tree: ast.Module) -> Scope:
        """Follow a whole module and return its names."""
        scope = Scope()
        self.execute(tree.body, scope)
        own = set(map(id, ast.walk(tree)))
        for program_class in [one for one in self.classes if id(one.definition) in own]:
            made = self.instances.get(id(program_class.definition)) or Object(program_class)
            self.objects += [] if made in self.objects else [made]
            members = sorted(program_class.members.items(), key=lambda entry: entry[0] != "__init__")
            for _, member in members:
                if isinstance(member, Function) and id(member.definition) not in self.followed:
                    self.follow_with_unknown(Function(member.definition, member.scope, owner=made))
            load_for_others(self, made)
        for function in self.functions:
            if id(function.definition) not in self.followed and id(function.definition) in own:
                self.follow_with_unknown(function)
        return scope

    def submodule(self, module: Module, name: str) -> Value | None:  # noqa: ARG002 - a project uses them
        """Return a module inside an imported package: none is imported here."""
        return None
