"""Calls that only return something, as statements whose result nobody keeps; P035 reports them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.edits import Edit
from recordsmith.doctor.lint.interpreter.values import Call, Literal, Value
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Severity

__all__ = ["dropped_results"]

_RETURNS_NEW = re.compile(
    r"tensorflow\.(cast|reshape|expand_dims|squeeze|transpose|clip_by_value|random\.shuffle)"
    r"|tensorflow\.image\.((stateless_)?random_\w+|resize\w*|flip\w*|adjust_\w+|convert_image_dtype|rot90|\w*crop\w*)"
    r"|numpy\.(expand_dims|reshape|transpose|flip|fliplr|flipud|squeeze|roll|rot90|random\.permutation)"
    r"|numpy\.(append|concatenate|vstack|hstack|stack|delete|clip)|tensorflow\.(concat|stack)"
    r"|sklearn\.utils\.shuffle|keras\.utils\.to_categorical|cv2\.(resize|cvtColor|flip|GaussianBlur)"
    r"|keras\.random\.shuffle|jax\.random\.permutation|keras\.(preprocessing\.sequence|utils)\.pad_sequences"
)
_OF_ARRAYS = {".astype", ".reshape"}
_OF_TABLES = {
    ".drop", ".dropna", ".fillna", ".drop_duplicates", ".rename", ".reset_index", ".sample", ".replace",
    ".sort_values", ".sort_index", ".set_index", ".ffill", ".bfill",
}  # fmt: skip
_PURE_MODULES = ("np.", "numpy.", "tf.", "len", "int", "float", "range", "list", "zip", "sorted", "tuple", "min", "max")
_CHANGES = re.compile(r"shuffle|seed|save|write|print|assign|put|fill|copyto|summary|assert|debugging")


def dropped_results(program: Program) -> Iterator[tuple[ast.Call, str, list[Edit] | None, Severity | None]]:
    """Yield each such call: where, what is wrong, how to change it, and how severe it is if not an error."""
    if program.source.cells:
        return  # a notebook shows the value of a statement
    blobs = program.mentions(r"\bcaffe\.")  # their `reshape` changes them in place
    exported = "# In[" in program.source.text or _shows_values(program.source.tree)
    seen: set[int] = set()
    for call in program.calls:
        if call.node is None or id(call.node) in seen or not _is_statement(call.node):
            continue
        name = call.name.rpartition(".")[2]
        into = call.name.startswith("cv2.") and (len(call.args) > 2 or "dst" in call.keywords)
        if into:
            continue  # the result is written into an array that is given
        known = _RETURNS_NEW.fullmatch(call.name) and "out" not in call.keywords
        of_array = call.name in _OF_ARRAYS and not call.keywords and not blobs
        if known or of_array or _is_table_method(call) or _is_transform(call):
            seen.add(id(call.node))
            random = "random" in call.name or "shuffle" in call.name or "permutation" in call.name
            message = f"`{name}` returns a new value, which is not used here: the line has no effect."
            severity = None if random else Severity.INFO if exported else Severity.WARNING
            yield call.expression, message, _kept(program, call), severity
    for node in program.source.nodes:
        if isinstance(node, ast.Call) and _is_statement(node):
            definition = _definition(program, node)
            if definition is not None and _only_returns(definition):
                message = (
                    f"`{definition.name}` changes nothing and only returns a result, which is not used here: the line "
                    "has no effect."
                )
                yield node, message, None, Severity.INFO if exported else None


def _shows_values(module: ast.Module) -> bool:
    """A notebook as a script: some of its statements are values, which a notebook would show."""
    shown = 0
    for statement in module.body:
        match statement:
            case ast.Expr(value=ast.Name() | ast.Attribute() | ast.Subscript()):
                shown += 1
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="head" | "tail" | "describe" | "value_counts"))):
                shown += 1
    return shown > 1


def _is_statement(node: ast.AST) -> bool:
    parent = getattr(node, "parent", None)
    if not isinstance(parent, ast.Expr):
        return False
    return not isinstance(getattr(parent, "parent", None), ast.With | ast.Try)  # a test of what it raises


def _is_table_method(call: Call) -> bool:
    in_place = call.argument(None, "inplace")
    if call.name not in _OF_TABLES or in_place is not None or not _is_table(call.receiver):
        return False
    share = call.argument(None, "frac")
    return call.name != ".sample" or (isinstance(share, Literal) and share.value == 1)


def _is_transform(call: Call) -> bool:
    """`scaler.transform(x)`: unlike `fit_transform`, it learns nothing and only returns the new values."""
    maker = call.receiver
    while isinstance(maker, Call) and maker.name == ".fit":
        maker = maker.receiver
    of_scaler = isinstance(maker, Call) and maker.name.startswith(("sklearn.preprocessing.", "sklearn.decomposition."))
    return call.name == ".transform" and of_scaler


def _is_table(value: Value | None) -> bool:
    while isinstance(value, Call) and value.name in _OF_TABLES:
        value = value.receiver
    return isinstance(value, Call) and value.name.startswith(("pandas.read_", "pandas.DataFrame", "pandas.concat"))


def _kept(program: Program, call: Call) -> list[Edit] | None:
    """`x = ` before the call, where it is plain what `x` is."""
    func = call.expression.func
    method = call.name.startswith(".") and isinstance(func, ast.Attribute)
    first = call.expression.args[0] if call.expression.args else None
    subject = func.value if method and isinstance(func, ast.Attribute) else first
    if not isinstance(subject, ast.Name) or call.name == "sklearn.utils.shuffle":
        return None
    begin, _ = getattr(call.expression, "source", program.source).span(call.expression)
    return [Edit(begin, begin, f"{subject.id} = ")]


def _definition(program: Program, node: ast.Call) -> ast.FunctionDef | None:
    """The function of this module that a statement calls, or the method of the class that it is in."""
    match node.func:
        case ast.Name(id=name):
            members: list[ast.stmt] = program.source.tree.body
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            owner: ast.AST | None = node
            while owner is not None and not isinstance(owner, ast.ClassDef):
                owner = getattr(owner, "parent", None)
            members = owner.body if isinstance(owner, ast.ClassDef) else []
        case _:
            return None
    found = [one for one in members if isinstance(one, ast.FunctionDef) and one.name == name]
    return found[0] if len(found) == 1 and not found[0].decorator_list else None


def _only_returns(definition: ast.FunctionDef) -> bool:
    """It computes something with numpy or TensorFlow and returns it, and does nothing else."""
    returns = False
    for statement in definition.body:
        match statement:
            case ast.Expr(value=ast.Constant()):
                continue
            case ast.Assign(targets=targets, value=value):
                names = [one for target in targets for one in ast.walk(target) if isinstance(one, ast.expr)]
                if not all(isinstance(one, ast.Name | ast.Tuple | ast.List) for one in names):
                    return False
            case ast.Return(value=ast.expr() as value):
                returns = not isinstance(value, ast.Constant)
            case _:
                return False
        if not all(_is_pure(one) for one in ast.walk(value) if isinstance(one, ast.Call)):
            return False
        if any(isinstance(one, ast.Yield | ast.YieldFrom | ast.Await) for one in ast.walk(value)):
            return False
    return returns and len(definition.body) > 1


def _is_pure(call: ast.Call) -> bool:
    text = ast.unparse(call.func)
    return text.startswith(_PURE_MODULES) and not _CHANGES.search(text)
