"""Which of Python's own types a value is, where the source says it."""

from __future__ import annotations

from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Choice,
    Group,
    Item,
    Literal,
    Many,
    Operation,
    Parameter,
    Slice,
    Symbol,
    Table,
    Unknown,
    Value,
)

__all__ = ["is_instance", "member_type", "python_type", "type_named"]

_TEXT_CALLS = {"builtins.str", "builtins.repr", "json.dumps", "os.path.basename", "os.path.dirname", "os.path.join"}
_TEXT_METHODS = {".decode", ".format", ".hexdigest", ".strftime", ".isoformat"}
_TEXT_KEEPERS = {".lower", ".upper", ".strip", ".replace", ".title", ".join", ".rstrip", ".lstrip"}
_PIECES = (".split", ".rsplit", ".splitlines", ".partition", ".rpartition")
_NUMBERS = {"builtins.float": "float", "builtins.int": "int", "builtins.len": "int"}
_JSON = {"json.load", "json.loads"}
_BYTES_METHODS = {".tobytes", ".tostring", ".encode", ".SerializeToString"}
_FILES = {"builtins.open", "io.open", "tensorflow.io.gfile.GFile", "codecs.open"}
_LISTS_OF_TEXT = {"os.listdir", "glob.glob", "glob.iglob", "os.path.splitext", "os.path.split"}
_ROWS = {"csv.reader", "csv.DictReader"}
_OF_LIBRARIES = ("numpy.", "tensorflow.", "torch.", "pandas.", "PIL.", "jax.")
# Which of Python's types these abstract ones include.
_ABSTRACT = {
    "Iterable": {"str", "bytes", "list", "tuple", "dict", "set", "range"},
    "Collection": {"str", "bytes", "list", "tuple", "dict", "set", "range"},
    "Sized": {"str", "bytes", "list", "tuple", "dict", "set", "range"},
    "Container": {"str", "bytes", "list", "tuple", "dict", "set", "range"},
    "Sequence": {"str", "bytes", "list", "tuple", "range"},
    "MutableSequence": {"list"},
    "Mapping": {"dict"},
    "MutableMapping": {"dict"},
    "Number": {"int", "float", "bool", "complex"},
    "Real": {"int", "float", "bool"},
    "Integral": {"int", "bool"},
    "Callable": set[str](),
    "PathLike": set[str](),
    "Path": set[str](),
}
_CONCRETE = {"str", "bytes", "int", "float", "bool", "list", "tuple", "dict", "set", "NoneType", "range", "complex"}
_CONCRETE |= {"bytearray", "memoryview", "frozenset", "slice"}


def python_type(value: Value | None) -> str | None:  # noqa: PLR0911 - one for each kind of value
    """Return the name of a value's type; None if the source does not say.

    >>> python_type(Literal("x")), python_type(Call(".tobytes", None)), python_type(Call("f", None))
    ('str', 'bytes', None)
    """
    match value:
        case Literal(value=constant):
            return type(constant).__name__
        case Group(is_list=is_list):
            return "list" if is_list else "tuple"
        case Table():
            return "dict"
        case Many(node=node) if type(node).__name__ == "ListComp":
            return "list"
        case Parameter(annotation=annotation) if annotation is not None:
            return annotation.partition("[")[0]
        case Operation(operator=operator, operands=operands):
            text = operator == "text" or (operator in ("+", "%") and python_type(operands[0]) == "str")
            return "str" if text else _number_type(operator, operands)
        case Choice(options=options):
            kinds = {python_type(one) for _, one in options}
            return kinds.pop() if len(kinds) == 1 else None
        case Call():
            return _call_type(value)
        case Item(base=base, index=index, attribute=True):
            name = index.value if isinstance(index, Literal) else None
            named = name in ("stem", "suffix", "name") and _is_path(base)
            return "str" if named or (name in ("text", "tag") and _is_of_xml(base)) else None
        case Item(base=Item(base=Call(name="builtins.enumerate")), index=Literal(value=0)):
            return "int"
        case Item(base=Item(index=Literal(value="shape"), attribute=True), index=Literal(value=int())):
            return "int"
        case Item():
            return _member_type(value)
    return None


def _call_type(call: Call) -> str | None:
    if call.name in _TEXT_KEEPERS:
        return "str" if python_type(call.receiver) == "str" or _is_of_json(call.receiver) else None
    if call.name in _NUMBERS:
        return _NUMBERS[call.name]
    if call.name in (".read", ".readline"):
        return _file_type(call.receiver)
    if call.name in _TEXT_CALLS or call.name in _TEXT_METHODS:
        return "str"
    return "bytes" if call.name in _BYTES_METHODS else None


def _number_type(operator: str, operands: tuple[Value, ...]) -> str | None:
    """The type of a sum, product or quotient of two of Python's own numbers."""
    kinds = {python_type(one) for one in operands}
    if operator not in ("+", "-", "*", "/", "%", "//") or not kinds <= {"int", "float"}:
        return None
    return "float" if operator == "/" or "float" in kinds else "int"


def _is_of_json(value: Value | None) -> bool:
    """It comes from JSON, which has text and no bytes."""
    while isinstance(value, Item):
        value = value.base
    return isinstance(value, Call) and value.name in _JSON


def _is_of_xml(value: Value | None) -> bool:
    """An element of a tree of XML."""
    for _ in range(20):
        match value:
            case Item(base=base):
                value = base
            case Call(name=".find" | ".getroot" | ".findall" | ".iter" | ".getchildren", receiver=inner):
                value = inner
            case Call(name=name):
                return name.startswith(("xml.etree.", "lxml.etree."))
            case _:
                return False
    return False


def member_type(value: Value | None) -> str | None:
    """Return the type that all members of a list or another collection have; None if the source does not say.

    >>> member_type(Group((Literal("a"), Literal("b")))), member_type(Parameter("x", annotation="list[int]"))
    ('str', 'int')
    """
    match value:
        case Group(members=members) if members:
            kinds = {python_type(one) for one in members}
            return kinds.pop() if len(kinds) == 1 else None
        case Many(member=member):
            return python_type(member)
        case Parameter(annotation=str() as kind) if kind.startswith("list["):
            return kind[5:-1]
        case Call():
            return _member_type(Item(value, Unknown()))
    return None


def _file_type(file: Value | None) -> str | None:
    """What an open file gives: text, or bytes if its mode says so."""
    if not isinstance(file, Call) or file.name not in _FILES:
        return None
    mode = file.argument(1, "mode")
    if mode is not None and not isinstance(mode, Literal):
        return None
    return "bytes" if mode is not None and "b" in str(mode.value) else "str"


def _member_type(item: Item) -> str | None:
    """The type of one member: a line of a file, a name of a listing, a cell of a CSV file, a piece of a text."""
    base = item.base
    if isinstance(item.index, Slice):
        return python_type(base) if python_type(base) == "str" else None
    if isinstance(base, Call):
        if base.name in _LISTS_OF_TEXT:
            return "str"
        if base.name == "builtins.range":
            return "int"
        if base.name in _PIECES:
            return "str" if python_type(base.receiver) == "str" or _is_of_json(base.receiver) else None
        return _file_type(base.receiver if base.name == ".readlines" else base)
    inner = base.base if isinstance(base, Item) and not base.attribute else None
    if isinstance(inner, Call) and inner.name in _ROWS:
        return "str"  # a cell of a row
    pairs = inner.receiver if isinstance(inner, Call) and inner.name == ".items" else None
    row = pairs.base if isinstance(pairs, Item) else None
    return "str" if isinstance(row, Call) and row.name == "csv.DictReader" else None


def _is_path(value: Value) -> bool:
    """A path of pathlib: a folder above one, a member of a listing, or one that is joined from others."""
    for _ in range(20):
        match value:
            case Item(base=base, index=Literal(value="parent"), attribute=True) | Item(base=base, attribute=False):
                value = base
            case Call(name="builtins.sorted" | "builtins.list" | "builtins.enumerate", args=(inner, *_)):
                value = inner
            case Call(name=".glob" | ".rglob" | ".iterdir" | "pathlib.Path" | ".resolve" | ".absolute"):
                return True
            case Operation(operator="/", operands=(first, *_)):
                value = first
            case _:
                return False
    return False


def type_named(value: Value | None) -> str | None:
    """Return what `type(value)` is: as `python_type`, but never for a value that an annotation only promises."""
    return None if isinstance(value, Parameter) else python_type(value)


def is_instance(value: Value | None, types: Value | None) -> bool | None:
    """Decide `isinstance(value, types)`; None if the source does not say.

    >>> is_instance(Literal("x"), Group((Symbol("builtins.bytes"), Symbol("builtins.str"))))
    True
    >>> is_instance(Literal(3), Symbol("collections.abc.Iterable")), is_instance(Literal(3), Symbol("six.string_types"))
    (False, None)
    """
    known = python_type(value)
    wanted = types.members if isinstance(types, Group) else (types,)
    if known is None or known not in _CONCRETE:
        return None
    verdicts = [_is_one(known, one) for one in wanted]
    return True if True in verdicts else None if None in verdicts else False


def _is_one(known: str, wanted: Value | None) -> bool | None:
    if isinstance(wanted, Call) and wanted.name == "builtins.type" and wanted.args:  # `type(tf.constant(0))`
        made = wanted.args[0]
        return False if isinstance(made, Call) and made.name.startswith(_OF_LIBRARIES) else None
    if not isinstance(wanted, Symbol):
        return None
    name = wanted.path.rpartition(".")[2]
    if name in _ABSTRACT:
        return known in _ABSTRACT[name]
    if wanted.path.startswith("builtins."):
        if name == "object" or (known == "bool" and name == "int"):
            return True
        return known == name if name in _CONCRETE else None
    return False if wanted.path.startswith(_OF_LIBRARIES) else None
