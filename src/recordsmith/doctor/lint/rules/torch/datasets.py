"""Rules on PyTorch datasets: their length, lists that belong together, windows, transforms that are not used."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Function,
    Item,
    Literal,
    Object,
    Operation,
    ProgramClass,
    Value,
    walk,
)
from recordsmith.doctor.lint.libraries.control_flow import function_of, statement_of
from recordsmith.doctor.lint.libraries.torch.data import DATASET, ITERABLE, base_dataset
from recordsmith.doctor.lint.libraries.torch.modules import derives_from
from recordsmith.doctor.lint.libraries.torch.transforms import is_random_step, step_name, transform_steps
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.torch.masks import IMAGE_READERS, is_mask
from recordsmith.doctor.lint.rules.torch.splits import torch_loaders
from recordsmith.rules import Finding, Severity, rule

__all__ = ["DATASET_RULES"]


def _methods(program: Program, name: str) -> Iterator[tuple[ProgramClass, ast.FunctionDef]]:
    """The methods of a name, of all map-style datasets of the program."""
    for one in program.classes:
        member = one.members.get(name)
        known = derives_from(one, DATASET) and not derives_from(one, ITERABLE)
        if known and isinstance(member, Function) and isinstance(member.definition, ast.FunctionDef):
            yield one, member.definition


@rule("P141", "length-counts-batches", Severity.WARNING)
def length_counts_batches(program: Program) -> Iterator[Finding]:
    """The `__len__` of a dataset is the number of batches, where a DataLoader expects that of examples.

    Why it matters:
        A DataLoader asks for the examples 0 to `len(dataset) - 1`. If the length is divided by the batch size, most
        examples are never read: with a batch size of 32, training sees the first 3 % of the data.

    Example:
        `def __len__(self): return len(self.files) // self.batch_size`, beside a `__getitem__` that gives one example.

    Fix:
        Return the number of examples; the DataLoader makes the batches.
    """
    for one, length in _methods(program, "__len__"):
        returns = [node.value for node in ast.walk(length) if isinstance(node, ast.Return) and node.value is not None]
        given = next((node for _, node in _methods_of(one, "__getitem__")), None)
        if len(returns) != 1 or given is None or _gives_batches(given):
            continue
        divides = [node for node in ast.walk(returns[0]) if isinstance(node, ast.BinOp)]
        batch = next((node for node in divides if _is_by_batch(node)), None)
        if batch is not None:
            yield program.finding(
                length_counts_batches,
                returns[0],
                f"`__len__` of `{one.definition.name}` is divided by `{ast.unparse(batch.right)}`, but `__getitem__` "
                "gives one example: the DataLoader never reads the others.",
            )


def _methods_of(one: ProgramClass, name: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    member = one.members.get(name)
    if isinstance(member, Function) and isinstance(member.definition, ast.FunctionDef):
        yield name, member.definition


def _is_by_batch(node: ast.BinOp) -> bool:
    by = ast.unparse(node.right).rpartition(".")[2]
    return isinstance(node.op, ast.FloorDiv | ast.Div) and bool(
        re.search(r"^batch(_?size)?$|_batch_size$|^bs$", by, re.IGNORECASE)
    )


def _gives_batches(function: ast.FunctionDef) -> bool:
    """It gives whole batches, as the sequences of Keras do: a range of rows that depends on the batch size."""
    return bool(re.search(r"batch|\bbs\b", ast.unparse(function), re.IGNORECASE))


@rule("P142", "filtered-alone", Severity.WARNING)
def filtered_alone(program: Program) -> Iterator[Finding]:
    """A dataset leaves out some inputs, and keeps all labels: from there on, every pair is wrong.

    Why it matters:
        Both lists are indexed with the same number. After the first input that was left out, each input gets the label
        of another one, no error is raised, and the model learns nothing.

    Example:
        `self.images = [x for x in images if x is not None]` beside `self.labels = labels`.

    Fix:
        Filter the pairs: `pairs = [(x, y) for x, y in zip(images, labels) if x is not None]`.
    """
    for one, given in _methods(program, "__getitem__"):
        indexed = _fields_by_index(given)
        init = next((node for _, node in _methods_of(one, "__init__")), None)
        if init is None or len(indexed) < 2:
            continue
        made = {name: node.value for node in ast.walk(init) if isinstance(node, ast.Assign) for name in _field(node)}
        filtered = [name for name in indexed if _filters(made.get(name))]
        plain = [name for name in indexed if name in made and _keeps_all(made[name])]
        rebuilt = "\n".join(ast.unparse(node) for node in init.body)
        for name in filtered[:1]:
            others = [other for other in plain if len(re.findall(rf"self\.{other}\b", rebuilt)) == 1]
            if others and len(re.findall(rf"self\.{name}\b", rebuilt)) == 1:
                yield program.finding(
                    filtered_alone,
                    made[name],
                    f"`self.{name}` leaves some rows out and `self.{others[0]}` keeps all, but both are indexed with "
                    "the same number: the pairs no longer belong together.",
                )
    yield from _masked_alone(program)


def _masked_alone(program: Program) -> Iterator[Finding]:
    """One field is picked by a condition, `table[mask]`, and the other one, of the same index, is not."""
    for made in program.instances:
        given = next((node for _, node in _methods_of(made.program_class, "__getitem__")), None)
        names = _fields_by_index(given) if given is not None else []
        values = {name: made.fields[name] for name in names if name in made.fields}
        picked = {name: _condition_of(value) for name, value in values.items()}
        chosen = [name for name in values if picked[name] is not None]
        plain = [name for name in values if picked[name] is None and _is_table_column(values[name])]
        if len(chosen) == 1 and plain and values[chosen[0]].node is not None:
            yield program.finding(
                filtered_alone,
                values[chosen[0]].node or made.program_class.definition,
                f"`self.{chosen[0]}` leaves some rows out and `self.{plain[0]}` keeps all, but both are indexed with "
                "the same number: the pairs no longer belong together.",
            )
            return


def _condition_of(value: Value) -> Operation | None:
    """The comparison by which rows were picked."""
    for one in walk(value, 60):
        for part in walk(one.index, 12) if isinstance(one, Item) and not one.attribute else ():
            if isinstance(part, Operation) and part.operator == "compare":
                return part
    return None


def _is_table_column(value: Value) -> bool:
    """A column or the index of a table that was read, with nothing that leaves rows out."""
    for _ in range(12):
        match value:
            case Item(base=base, attribute=True) | Item(base=base, index=Literal(value=str())):
                value = base
            case Call(name=".tolist" | ".to_numpy" | ".astype" | ".copy", receiver=inner) if inner is not None:
                value = inner
            case Call(name="torch.as_tensor" | "torch.tensor" | "numpy.array" | "builtins.list", args=(inner, *_)):
                value = inner
            case Call(name=name):
                return name.startswith("pandas.read_")
            case _:
                return False
    return False


def _fields_by_index(function: ast.FunctionDef) -> list[str]:
    """The fields that are indexed with the parameter of `__getitem__`."""
    if len(function.args.args) < 2:
        return []
    index, found = function.args.args[1].arg, []
    for node in ast.walk(function):
        match node:
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id="self"), attr=name),
                slice=ast.Name(id=used) | ast.Tuple(elts=[ast.Name(id=used), *_]),
            ) if used == index:
                found.append(name)
    return list(dict.fromkeys(found))


def _field(node: ast.Assign) -> list[str]:
    return [
        target.attr
        for target in node.targets
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self"
    ]


def _filters(value: ast.expr | None) -> bool:
    return isinstance(value, ast.ListComp) and any(one.ifs for one in value.generators) and len(value.generators) == 1


def _keeps_all(value: ast.expr) -> bool:
    """A parameter, or a list made of one."""
    if isinstance(value, ast.Call) and len(value.args) == 1 and not value.keywords:
        named = ast.unparse(value.func) in (
            "list",
            "tuple",
            "np.array",
            "np.asarray",
            "torch.tensor",
            "torch.as_tensor",
        )
        return named and isinstance(value.args[0], ast.Name)
    return isinstance(value, ast.Name)


@rule("P143", "mask-read-and-dropped", Severity.WARNING)
def mask_read_and_dropped(program: Program) -> Iterator[Finding]:
    """A mask is read and never used: what is returned as the mask was made from the image.

    Why it matters:
        The target is then a copy of the input. The loss goes down, and the model has learnt nothing about the classes.

    Example:
        `mask = Image.open(mask_path)`, then `image = transform(image)` and `mask = mask_transform(image)`.

    Fix:
        Give the transform the mask: `mask = mask_transform(mask)`.
    """
    for call in program.calls:
        if call.name not in IMAGE_READERS or not isinstance(call.node, ast.Call):
            continue
        read, owner = statement_of(call.expression), function_of(call.expression)
        if not isinstance(read, ast.Assign) or not isinstance(owner, ast.FunctionDef) or len(read.targets) != 1:
            continue
        target = read.targets[0]
        if not isinstance(target, ast.Name) or not is_mask(target) or read not in owner.body:
            continue
        after = owner.body[owner.body.index(read) + 1 :]
        again = next((one for one in after if _stores(one, target.id)), None)
        between = after[: after.index(again) + 1] if again is not None else []
        if again is not None and isinstance(again, ast.Assign) and not any(_loads(one, target.id) for one in between):
            yield program.finding(
                mask_read_and_dropped,
                again,
                f"`{target.id}` is read from a file and replaced here without being used: "
                f"`{ast.unparse(again.value)}` is made from something else.",
            )

    yield from _label_dropped(program)


_PREPARES = re.compile(r"__getitem__|__call__|collat|preprocess|encode|tokenize|prepare|convert", re.IGNORECASE)
_LABEL = re.compile(r"(^|_)(labels?|targets?|masks?|tags?|y)(_|$)", re.IGNORECASE)


def _label_dropped(program: Program) -> Iterator[Finding]:
    """`labels = item["labels"]`, and then `labels = ids + padding`, without the first having been used."""
    for function in program.source.nodes:
        if not isinstance(function, ast.FunctionDef) or not _PREPARES.search(function.name):
            continue
        for place, node in enumerate(function.body):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript() | ast.Call()) if _LABEL.search(name):
                    after = function.body[place + 1 :]
                    again = next((one for one in after if _stores(one, name)), None)
                    if not isinstance(again, ast.Assign) or any(
                        _loads(one, name) for one in after[: after.index(again) + 1]
                    ):
                        continue
                    reads = {one.id for one in ast.walk(again.value) if isinstance(one, ast.Name)}
                    others = [one for one in reads if re.search(r"ids?$|image|img|input|text|feature|^x", one)]
                    if others:
                        yield program.finding(
                            mask_read_and_dropped,
                            again,
                            f"`{name}` is replaced here without having been used: `{ast.unparse(again.value)}` is made "
                            f"from `{min(others)}`, and the label is a copy of the input.",
                        )
                        return


def _stores(node: ast.AST, name: str) -> bool:
    return any(
        isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Store) for one in ast.walk(node)
    )


def _loads(node: ast.AST, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Load) for one in ast.walk(node))


@rule("P144", "windows-split-by-chance", Severity.WARNING)
def windows_split_by_chance(program: Program) -> Iterator[Finding]:
    """A PyTorch dataset of overlapping windows is divided by `random_split`.

    Why it matters:
        Neighbouring windows share nearly all their values. After a random split, nearly every validation window has
        neighbours in the training data: the score is far better than any forecast of the future will be.

    Example:
        `random_split(Windows(series), [0.8, 0.2])`, where `__getitem__` returns `self.series[i : i + 24]`.

    Fix:
        Divide the series first, and make the windows of each part: `Windows(series[:n])` and `Windows(series[n:])`.
    """
    for call in program.calls:
        dataset = base_dataset(call.argument(0, "dataset")) if call.name == "torch.utils.data.random_split" else None
        if not isinstance(dataset, Object):
            continue
        given = next((node for _, node in _methods_of(dataset.program_class, "__getitem__")), None)
        if given is not None and len(given.args.args) > 1 and _returns_window(given):
            yield program.finding(
                windows_split_by_chance,
                call.expression,
                f"`{dataset.program_class.definition.name}` gives overlapping windows of one series, and they are "
                "split at random: validation windows overlap training windows.",
                advice="Divide the series by time first, and make a dataset of each part.",
            )


def _returns_window(function: ast.FunctionDef) -> bool:
    """It cuts `self.series[i : i + n]`, with the index itself as the beginning."""
    index = function.args.args[1].arg
    for node in ast.walk(function):
        match node:
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id="self")),
                slice=ast.Slice(lower=ast.Name(id=lower), upper=ast.BinOp(left=ast.Name(id=left), op=ast.Add())),
            ):
                return lower == left == index
    return False


@rule("P145", "transform-not-used", Severity.WARNING)
def transform_not_used(program: Program) -> Iterator[Finding]:
    """A transform with random steps is made for training and never used.

    Why it matters:
        The training images come without augmentation, although the program looks as if they had one.

    Example:
        `train_tf = Compose([RandomHorizontalFlip(), ToTensor()])`, and `ImageFolder("train", transform=val_tf)`.

    Fix:
        Give the training dataset its own transform.
    """
    if program.source.cells or not torch_loaders(program):
        return
    used = {node.id for node in program.source.nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    used |= {str(node.value) for node in program.source.nodes if isinstance(node, ast.Constant)}  # by its name
    for call in program.calls:
        statement = statement_of(call.expression) if isinstance(call.node, ast.Call) else None
        if not isinstance(statement, ast.Assign) or statement.value is not call.node or len(statement.targets) != 1:
            continue
        if getattr(statement, "source", program.source) is not program.source:
            continue  # a module of settings may have more than this program uses
        steps, _ = transform_steps(call)
        random = [one for one in steps if is_random_step(one)]
        target = statement.targets[0]
        if not random or not isinstance(target, ast.Name) or target.id in used:
            continue
        if re.search(r"train|aug", target.id, re.IGNORECASE) and not program.mentions(r"\bglobals\(|\blocals\("):
            yield program.finding(
                transform_not_used,
                statement,
                f"`{target.id}`, with `{step_name(random[0])}`, is never used: the training images are not augmented.",
            )


DATASET_RULES = [
    length_counts_batches,
    filtered_alone,
    mask_read_and_dropped,
    windows_split_by_chance,
    transform_not_used,
]
