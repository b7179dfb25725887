"""Which of Python's own types a value is, where the source says it."""

from __future__ import annotations

from recordsmith.doctor.lint.interpreter.values import Call, Group, Literal, Operation, Symbol, Table, Value

__all__ = ["is_instance", "python_type"]

_TEXT_CALLS = {"builtins.str", "builtins.repr", "json.dumps", "os.path.basename", "os.path.dirname", "os.path.join"}
_TEXT_METHODS = {".decode", ".format", ".hexdigest", ".strftime", ".isoformat"}
_TEXT_KEEPERS = {".lower", ".upper", ".strip", ".replace", ".title", ".join", ".rstrip", ".lstrip"}
_BYTES_METHODS = {".tobytes", ".tostring", ".encode", ".SerializeToString"}


def python_type(value: Value | None) -> str | None:
    """Return the name of a value's type; None if the source does not say.

    >>> python_type(Literal("x")), python_type(Call(".tobytes", None)), python_type(Call("f", None))
    ('str', 'bytes', None)
    """
    if isinstance(value, Literal):
        return type(value.value).__name__
    if isinstance(value, Group):
        return "list" if value.is_list else "tuple"
    if isinstance(value, Table):
        return "dict"
    if isinstance(value, Operation):
        text = value.operator == "text" or (value.operator in ("+", "%") and python_type(value.operands[0]) == "str")
        return "str" if text else None
    if not isinstance(value, Call):
        return None
    if value.name in _TEXT_KEEPERS:
        return "str" if python_type(value.receiver) == "str" else None
    if value.name in _TEXT_CALLS or value.name in _TEXT_METHODS:
        return "str"
    return "bytes" if value.name in _BYTES_METHODS else None


def is_instance(value: Value | None, types: Value | None) -> bool | None:
    """Decide `isinstance(value, types)`; None if the source does not say.

    >>> is_instance(Literal("x"), Group((Symbol("builtins.bytes"), Symbol("builtins.str"))))
    True
    """
    known = python_type(value)
    if known is None or types is None:
        return None
    wanted = types.members if isinstance(types, Group) else (types,)
    names = {one.path.rpartition(".")[2] for one in wanted if isinstance(one, Symbol)}
    if known in names or (known == "bool" and "int" in names) or "object" in names:
        return True
    # What is not a type of Python's own, such as type(tf.constant(0)) or np.ndarray, these values are not.
    return False if not names & {"Sequence", "Iterable", "Mapping", "Number", "Real", "Integral", "Sized"} else None
