"""The rule on means of colours that are subtracted in another order than the channels have."""

from __future__ import annotations

import math
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Group, Item, Literal, Operation, Value
from recordsmith.doctor.lint.libraries.scaling import scaling_of
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["CHANNEL_CONSTANT_RULES"]

# The mean colour of ImageNet, red first: as shares, and as bytes in two versions.
_MEANS = ((0.485, 0.456, 0.406), (123.68, 116.779, 103.939), (123.675, 116.28, 103.53))
_ARRAYS = {
    "numpy.array",
    "numpy.asarray",
    "numpy.float32",
    "torch.tensor",
    "torch.Tensor",
    "torch.FloatTensor",
    "torch.as_tensor",
    "tensorflow.constant",
    "tensorflow.convert_to_tensor",
}
_SAME_NUMBERS = {".reshape", ".view", ".astype", ".float", ".to", ".unsqueeze"}


@rule("P294", "means-in-another-order", Severity.WARNING)
def means_in_another_order(program: Program) -> Iterator[Finding]:
    """The mean of each colour is subtracted from another colour.

    Why it matters:
        OpenCV reads blue, green, red; Pillow, TensorFlow and torchvision read red, green, blue. The constants of
        ImageNet come in both orders. In the wrong one, red is shifted by the mean of blue: a pretrained model gets
        other colours than it was trained on.

    Example:
        `image = np.asarray(Image.open(path), "float32") - [103.939, 116.779, 123.68]`

    Fix:
        Write the constants in the order of the channels: `[123.68, 116.779, 103.939]` for red, green, blue.
    """
    seen: set[int] = set()
    for operation in program.operations:
        match operation:
            case Operation(operator="-", operands=(image, given), node=node) if node is not None:
                order = _order_of(_numbers(given))
                channels = _channels(image) if order else ""
                if channels and channels != order and id(node) not in seen:
                    seen.add(id(node))
                    yield program.finding(
                        means_in_another_order,
                        node,
                        f"The means are in the order {order}, and the image has its channels in the order {channels}: "
                        "red and blue are shifted by each other's mean.",
                    )
    yield from _by_channel(program)


def _by_channel(program: Program) -> Iterator[Finding]:
    """`image[..., 0] -= 103.939`, channel by channel."""
    shifted: dict[int, tuple[Call, dict[int, float]]] = {}
    for call in program.calls:
        match call:
            case Call(
                name=".__setitem__",
                args=(
                    Group(members=(*_, Literal(value=int() as channel))),
                    Operation(operator="-", operands=(_, Literal(value=float() as mean))),
                ),
            ) if call.receiver is not None and call.node is not None:
                shifted.setdefault(id(call.receiver), (call, {}))[1][channel % 3] = mean
    for call, means in shifted.values():
        order = _order_of(tuple(means.get(channel, 0.0) for channel in range(3)))
        channels = _channels(call.receiver) if order else ""
        if channels and channels != order:
            yield program.finding(
                means_in_another_order,
                call.expression,
                f"The means are in the order {order}, and the image has its channels in the order {channels}: red and "
                "blue are shifted by each other's mean.",
            )


def _channels(value: Value | None) -> str:
    found = scaling_of(value)
    return "" if found is None else found.channels


def _numbers(value: Value | None) -> tuple[float, ...]:
    """The numbers of a constant array, if that is what a value is."""
    match value:
        case Group(members=members):
            known = [one.value for one in members if isinstance(one, Literal) and isinstance(one.value, int | float)]
            inner = _numbers(members[0]) if len(members) == 1 and not known else ()
            # as channels of a tensor: [[[0.485]], [[0.456]], [[0.406]]]
            if not known and len(members) == 3:
                nested = [_numbers(one) for one in members]
                inner = tuple(one[0] for one in nested if len(one) == 1)
            return tuple(known) if len(known) == len(members) else inner
        case Call(name=name) if name in _ARRAYS:
            return _numbers(value.argument(0))
        case Call(name=name) if name in _SAME_NUMBERS:
            return _numbers(value.receiver)
        case Item(base=base, attribute=False):
            return _numbers(base)
        case Operation(
            operator="*" | "/" as operator, operands=(inner_value, Literal(value=int() | float() as by))
        ) if by:
            return tuple(one * by if operator == "*" else one / by for one in _numbers(inner_value))
    return ()


def _order_of(numbers: tuple[float, ...]) -> str:
    """The order of the colours that constants are in: "RGB", "BGR", or "" if they are not those of ImageNet."""
    for means in _MEANS:
        for order, wanted in (("RGB", means), ("BGR", means[::-1])):
            if len(numbers) == 3 and all(
                math.isclose(one, other, rel_tol=0.01) for one, other in zip(numbers, wanted, strict=True)
            ):
                return order
    return ""


CHANNEL_CONSTANT_RULES = [means_in_another_order]
