"""Parses the option values of `recordsmith make`."""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from recordsmith.errors import RecordsmithError, did_you_mean

if TYPE_CHECKING:
    from recordsmith.making.preprocessing import Preprocessor

__all__ = [
    "balance_option",
    "map_function",
    "numbers_option",
    "preprocessors",
    "size_option",
]

Numbers = tuple[str, int | str | None]

_STRATEGIES = ("oversample", "undersample")


def size_option(_ctx: click.Context | None, _param: click.Parameter | None, value: str | None) -> Any:
    """Read height and width.

    >>> size_option(None, None, "224x320"), size_option(None, None, "96")
    ((224, 320), (96, 96))
    """
    if value is None:
        return None
    match = re.fullmatch(r"\s*([1-9]\d*)(?:\s*[xX×*,]\s*([1-9]\d*))?\s*", value)
    if match is None:
        raise click.BadParameter(f"{value!r} is not a height and a width, such as 224x320.")
    return int(match[1]), int(match[2] or match[1])


def balance_option(_ctx: click.Context | None, _param: click.Parameter | None, value: str | None) -> Any:
    """Read a strategy, counts of classes, or the name of a sampler.

    >>> balance_option(None, None, "oversample"), balance_option(None, None, "SMOTE")
    ('oversample', 'SMOTE')
    >>> balance_option(None, None, "cat=500,dog=500")
    {'cat': 500, 'dog': 500}
    """
    if value is None or "=" not in value:
        if value is not None and value not in _STRATEGIES and value.islower():  # samplers have capitals
            raise click.BadParameter(
                f"{value!r} is neither {_STRATEGIES[0]} nor {_STRATEGIES[1]}, nor counts such as cat=500,dog=500, nor "
                f"a sampler of imbalanced-learn such as SMOTE.{did_you_mean(value, _STRATEGIES)}"
            )
        return value
    counts: dict[str, int] = {}
    for part in value.split(","):
        name, _, count = part.rpartition("=")
        if not name.strip() or not count.strip().isdecimal():
            raise click.BadParameter(f"{part!r} is not a class and a count, such as cat=500.")
        if name.strip() in counts:
            raise click.BadParameter(f"The class {name.strip()!r} is given twice.")
        counts[name.strip()] = int(count)
    return counts


def numbers_option(
    _ctx: click.Context | None, param: click.Parameter | None, values: Sequence[str]
) -> tuple[Numbers, ...]:
    """Read features, each with a size, a file, or nothing more.

    >>> numbers_option(None, None, ["text=10_000", "title", "body=tokenizer.json"])
    (('text', 10000), ('title', None), ('body', 'tokenizer.json'))
    """
    found: list[Numbers] = []
    for value in values:
        feature, equals, amount = (part.strip() for part in value.partition("="))
        plain = amount.replace("_", "")
        takes_files = param is None or param.name != "tfidf"
        if not feature or (equals and not amount) or (amount and not takes_files and not plain.isdecimal()):
            wanted = "a feature, or a feature and a size, such as text=10000"
            raise click.BadParameter(f"{value!r} is not {wanted}.")
        found.append((feature, int(plain) if plain.isdecimal() else amount or None))
    return tuple(found)


def preprocessors(
    vocabulary: Sequence[Numbers], tokenize: Sequence[Numbers], tfidf: Sequence[Numbers]
) -> tuple[Preprocessor, ...]:
    """Return what turns texts into numbers, as the options say it."""
    from recordsmith.making.preprocessing import BpeIds, Tfidf, VocabularyIds

    features = [feature for feature, _ in (*vocabulary, *tokenize, *tfidf)]
    for feature in features:
        if features.count(feature) > 1:
            raise RecordsmithError(
                f"The text {feature!r} can be replaced in only one way.",
                feature=feature,
                advice="In Python, preprocess=[...] with into= and keep_text= can store each under its own name.",
            )
    made: list[Preprocessor] = []
    for feature, amount in vocabulary:
        made.append(_preprocessor(VocabularyIds, feature, amount, file="vocabulary"))
    for feature, amount in tokenize:
        made.append(_preprocessor(BpeIds, feature, amount, file="tokenizer"))
    for feature, amount in tfidf:
        made.append(_preprocessor(Tfidf, feature, amount, file=""))
    return tuple(made)


def _preprocessor(
    kind: Callable[..., Preprocessor], feature: str, amount: int | str | None, *, file: str
) -> Preprocessor:
    if amount is None:
        return kind(feature)
    if isinstance(amount, int):
        return kind(feature, amount)
    if not os.path.exists(amount):
        raise RecordsmithError(
            f"The value after {feature + '='!r} is neither a size nor an existing file.",
            found=amount,
            expected=f"a size such as {feature}=10000, or the file of a {file}",
        )
    return kind(feature, **{file: amount})


def map_function(name: str) -> Callable[[dict[str, Any]], Any]:
    """Import a function, given as module:function. Modules of the current folder are found too.

    >>> map_function("json:dumps").__name__
    'dumps'
    >>> map_function("json:dupms")
    Traceback (most recent call last):
    recordsmith.errors.RecordsmithError: The module 'json' has no function 'dupms'. Did you mean 'dumps'?
      where:    ...
    """
    module_name, colon, function_name = name.partition(":")
    if not colon or not module_name or not function_name:
        raise RecordsmithError("A function must be given as MODULE:FUNCTION.", found=name, expected="mine:clean")
    if module_name.endswith(".py"):
        module_name = module_name[: -len(".py")].replace(os.sep, ".")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name not in (module_name, module_name.partition(".")[0]):
            raise _cannot_import(module_name, error) from error
        beside = [file[: -len(".py")] for file in os.listdir() if file.endswith(".py")]
        raise RecordsmithError(
            f"There is no module {module_name!r}.{did_you_mean(module_name, beside)}",
            path=os.getcwd(),
            advice="Run the command in the folder of the module, or install the module.",
        ) from None
    except Exception as error:
        raise _cannot_import(module_name, error) from error
    function = getattr(module, function_name, None)
    if not callable(function):
        names = [each for each, value in vars(module).items() if callable(value) and not each.startswith("_")]
        raise RecordsmithError(
            f"The module {module_name!r} has no function {function_name!r}.{did_you_mean(function_name, names)}",
            path=module.__file__,
        )
    return function  # type: ignore[no-any-return] # what it takes and gives is seen row by row


def _cannot_import(module: str, error: Exception) -> RecordsmithError:
    return RecordsmithError(f"The module {module!r} cannot be imported.", found=f"{type(error).__name__}: {error}")
