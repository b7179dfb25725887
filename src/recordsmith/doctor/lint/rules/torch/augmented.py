"""Random changes of validation and test data in PyTorch programs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import (
    Call,
    Choice,
    Element,
    Function,
    Group,
    Item,
    Literal,
    Operation,
    Slice,
    Value,
    walk,
)
from recordsmith.doctor.lint.libraries.control_flow import statement_of
from recordsmith.doctor.lint.libraries.randomness import drawn_in, draws
from recordsmith.doctor.lint.libraries.tensorflow.pipelines import Pipeline
from recordsmith.doctor.lint.libraries.torch.data import split_of
from recordsmith.doctor.lint.libraries.torch.transforms import (
    applied_transforms,
    is_random_step,
    step_name,
    transform_steps,
)
from recordsmith.doctor.lint.program import Program
from recordsmith.doctor.lint.rules.torch.splits import dataset_of, is_drawn, torch_loaders, trains

__all__ = ["augmented_in_torch", "hugging_face_transforms"]

_DRAWS = re.compile(
    r"(numpy\.random|random)\.(random|rand|randn|randint|uniform|normal|choice|random_sample|gauss)"
    r"|torch\.(rand|randint|randn)|\.(random|uniform|normal|integers|randint|rand|randn)"
)
_MOVES = re.compile(
    r"cv2\.(flip|rotate|warpAffine)|numpy\.(flip|fliplr|flipud|rot90|roll)|torch\.(flip|rot90)"
    r"|torchvision\.transforms\.functional\.(hflip|vflip|rotate|affine|adjust_\w+|crop)|PIL\.ImageOps\.(mirror|flip)"
    r"|PIL\.ImageEnhance\.\w+|scipy\.ndimage\.(rotate|shift|zoom)"
)


def augmented_in_torch(program: Program) -> Iterator[tuple[Call, Pipeline, str, bool]]:
    """Yield what changes validation or test data at random: the place, the loader, its name, whether it is a split."""
    read = {node.id for node in program.source.nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    for pipeline in torch_loaders(program):
        made = statement_of(pipeline.source.call.expression) if pipeline.source.call is not None else None
        match made:
            case ast.Assign(targets=[ast.Name(id=name)]) if name not in read and program.uses:
                continue  # other data is used, and this is not
        if not program.is_for_testing(pipeline) or any("tta" in name.lower() for name in pipeline.all_names):
            continue
        call = pipeline.source.call
        element = pipeline.element
        if split_of(dataset_of(pipeline)) is not None and _transform_replaced(program):
            continue  # what the split has then is said by a rule of its own
        others = [
            one for one in torch_loaders(program) if trains(program, one) and dataset_of(one) is dataset_of(pipeline)
        ]
        if others and not (is_drawn(pipeline) and all(map(is_drawn, others))):
            continue  # it reads the training data: that is said by a rule of its own
        random = [step for _, steps, _ in applied_transforms(element) for step in steps if is_random_step(step)]
        if random and call is not None:
            yield call, pipeline, step_name(random[0]), split_of(dataset_of(pipeline)) is not None
            continue
        for step in pipeline.source.steps:
            near = [one for one in pipeline.source.steps if one.within == step.within]
            if _MOVES.fullmatch(step.name) and any(map(_draws, near)):
                yield step, pipeline, step.name.rpartition(".")[2], False
                break
        else:
            drawn = _changed_by_draw(pipeline)
            if drawn is not None:
                yield drawn, pipeline, drawn.name.rpartition(".")[2], False


def _transform_replaced(program: Program) -> bool:
    """`val.dataset.transform = plain` sets the transform of a dataset that was split."""
    return any(
        call.name == ".__setattr__"
        and isinstance(call.receiver, Item)
        and split_of(call.receiver.base) is not None
        and isinstance(call.args[0], Literal)
        and str(call.args[0].value).startswith("transform")
        for call in program.calls
    )


def hugging_face_transforms(program: Program) -> Iterator[tuple[Call, str]]:
    """Yield `dataset["test"].set_transform(f)` where `f` applies a random transform, with the name of that."""
    for call in program.calls:
        part = call.receiver.index if isinstance(call.receiver, Item) else None
        named = part.value if isinstance(part, Literal) else ""
        function = call.argument(0, "transform") if call.name in (".set_transform", ".with_transform") else None
        if named not in ("test", "validation", "val", "valid") or not isinstance(function, Function):
            continue
        inside = {id(node) for node in ast.walk(function.definition)}
        for one in program.calls:
            steps = transform_steps(one.receiver)[0] if one.name == "()" and id(one.node) in inside else []
            random = next((step for step in steps if is_random_step(step)), None)
            if random is not None:
                yield call, step_name(random)
                break


def _changed_by_draw(pipeline: Pipeline) -> Call | None:
    """The random number that is added to an example, or that says which part of it is kept or overwritten."""
    members = pipeline.element.members if isinstance(pipeline.element, Group) else (pipeline.element,)
    whole = {id(one) for member in members for one in (member, getattr(member, "of", None))}
    for value in _made_of(members[0]) if members else ():
        parts: tuple[Value, ...] = ()
        match value:
            case Operation(operator="+" | "-" | "*", operands=(one, other)) if not {id(one), id(other)} & whole:
                parts = (one, other)  # an example that is given beside its noisy version is the target
            case Item(index=Slice(lower=lower, upper=upper)):
                parts = tuple(part for part in (lower, upper) if part is not None)
            case Choice(by=by) if by is not None:
                parts = (by,)
            case Call(name=name, args=(_, *rest)) if _CHANGES.match(name) and (rest or value.receiver is not None):
                parts = tuple(one for one in (*value.args, *value.keywords.values()) if _is_number(one))
        drawn = next((found for part in parts if (found := drawn_in(part)) is not None and found.in_map), None)
        if drawn is not None and not drawn.undecided and _draws(drawn):
            return drawn
    for step in pipeline.source.steps:
        index = step.args[0] if step.name == ".__setitem__" and step.args else None
        cuts = [one for one in walk(index, 20) if isinstance(one, Slice)]
        drawn = next((found for cut in cuts for end in (cut.lower, cut.upper) if (found := drawn_in(end))), None)
        if drawn is not None and not step.undecided and drawn.in_map:
            return drawn
    return None


def _draws(call: Call) -> bool:
    """It draws a random number, and not always the same one, as `random.uniform(*scale)` does with a fixed scale."""
    if not _DRAWS.fullmatch(call.name) or not call.exact:
        return False
    numbers = [one.value for one in call.args if isinstance(one, Literal)]
    return len(numbers) != len(call.args) or len(numbers) < 2 or len(set(numbers)) > 1


_CHANGES = re.compile(
    r"(torchvision\.transforms\.functional|cv2|scipy\.ndimage|skimage\.transform|PIL\.ImageEnhance)\.(?!imread)"
    r"|(numpy|torch)\.(roll|rot90|flip|dot|matmul|add|multiply|where|clip)$|\.(rotate|crop|roll|dot|enhance)$"
)


def _is_number(value: Value) -> bool:
    """A drawn number, or numbers computed from it; not the example itself."""
    return not any(isinstance(one, Call) and re.search(r"read|load|open", one.name) for one in walk(value, 60))


def _made_of(value: Value) -> Iterator[Value]:
    """A value and the arrays that it was made from; not what says which row of them is taken, which may be drawn."""
    waiting, seen = [value], 0
    while waiting and seen < _MOST_PARTS:
        one, seen = waiting.pop(0), seen + 1
        yield one
        match one:
            case Operation(operands=operands):
                waiting += operands
            case Item(base=base):
                waiting.append(base)
            case Choice(options=options):
                waiting += [option for _, option in options] if draws(one.by) else []
            case Element(of=Value() as of):
                waiting.append(of)
            case Call(receiver=receiver, args=args) if drawn_in(Call(one.name, None)) is None:
                waiting += [*([receiver] if receiver is not None else []), *args]


_MOST_PARTS = 200
