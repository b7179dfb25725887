"""The exceptions that recordsmith raises.

    RecordsmithError
    ├── reading           CorruptRecordError   TruncatedFileError   CompressionError   NotTFRecordError
    │                     ChangedFileError
    ├── data and schema   SchemaError   SchemaMismatchError   EncodeError
    ├── use               PipelineError
    └── installation      MissingExtraError

All but the last are also a ValueError, and the last is also an ImportError, so that code which knows nothing of
recordsmith still catches them. The facts are attributes (`path`, `record`, `offset`, ...); the text is put together
from them in one place, `RecordsmithError.__str__`, so that every message has the same order: what is wrong, where,
what was found and expected, what to do.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import os
import re
from collections.abc import Callable, Iterable
from itertools import islice
from types import ModuleType
from typing import Any, ClassVar, Self

from recordsmith.wording.visible_text import printable

__all__ = [
    "ChangedFileError",
    "CompressionError",
    "CorruptRecordError",
    "EncodeError",
    "MissingExtraError",
    "NotTFRecordError",
    "PipelineError",
    "RecordsmithError",
    "SchemaError",
    "SchemaMismatchError",
    "TruncatedFileError",
    "advise",
    "did_you_mean",
    "import_extra",
    "in_words_of_command_line",
    "list_names",
    "reason_of",
]

_MOST_COMPARED = 5000  # names that may have been meant: comparing takes long
_LONGEST_FACT = 300  # characters of a found or expected value that a message shows


class RecordsmithError(Exception):
    """The base class of all errors of recordsmith about data.

    Attributes, each None if it is not known:
        problem: the first line of the message.
        path: the file.
        record: the record's number in the file, counted from 0 as in `ds[i]`.
        offset: the byte offset in the (decompressed) file.
        row: the row of the batch or of the columns at hand, counted from 0.
        feature: the feature's name.
        found, expected: what the data contains and what it should contain.
        advice: what to do about it.
        example: Python code that does it, in several lines.

    >>> print(RecordsmithError("The count is wrong.", path="a.tfrecord", record=7, found=3, expected="4 values"))
    The count is wrong.
      where:    a.tfrecord, record 7
      found:    3
      expected: 4 values
    """

    _facts: ClassVar[tuple[str, ...]] = (
        *("path", "record", "offset", "row", "feature", "found", "expected", "advice", "example"),
    )

    path: str | None

    def __init__(  # noqa: PLR0913 - every fact has its own name, and none is needed
        self,
        problem: str,
        *,
        path: str | os.PathLike[str] | None = None,
        record: int | None = None,
        offset: int | None = None,
        row: int | None = None,
        feature: str | None = None,
        found: object = None,
        expected: object = None,
        advice: str | None = None,
        example: str | None = None,
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.path = None if path is None else os.fspath(path)
        self.record = record
        self.offset = offset
        self.row = row
        self.feature = feature
        self.found = found
        self.expected = expected
        self.advice = advice
        self.example = example

    def at(
        self,
        *,
        path: str | os.PathLike[str] | None = None,
        record: int | None = None,
        offset: int | None = None,
        row: int | None = None,
        feature: str | None = None,
    ) -> Self:
        """Fill in what is not yet known about the place, and return the error itself.

        Layers that know more than the one that failed add to its error on the way up; what the inner layer already
        said stays.

        >>> EncodeError("None in a required feature.", row=3).at(row=0, feature="label").row
        3
        """
        if self.path is None and path is not None:
            self.path = os.fspath(path)
        if self.record is None:
            self.record = record
        if self.offset is None:
            self.offset = offset
        if self.row is None:
            self.row = row
        if self.feature is None:
            self.feature = feature
        return self

    def __str__(self) -> str:
        return self._text(str)

    def on_command_line(self) -> str:
        """Return the message with options in the words of the command line, where it names any.

        >>> error = RecordsmithError("The file exists.", advice=advise("Replace it with {overwrite}.", overwrite=True))
        >>> print(error)
        The file exists.
          to do:    Replace it with overwrite=True.
        >>> print(error.on_command_line())
        The file exists.
          to do:    Replace it with --overwrite.
        """
        return self._text(in_words_of_command_line)

    def _text(self, worded: Callable[[str], str]) -> str:
        place = [] if self.path is None else [os.fsdecode(self.path)]
        if self.record is not None:
            place.append(f"record {self.record}")
        if self.offset is not None:
            place.append(f"byte {self.offset}")
        if self.row is not None:
            place.append(f"row {self.row}")
        if self.feature is not None:
            place.append(f"feature {self.feature!r}")
        lines = [printable(" ".join(worded(self.problem).split("\n")))]
        if place:
            lines.append("  where:    " + printable(", ".join(place)))
        if self.found is not None:
            lines.append("  found:    " + _one_line(self.found))
        if self.expected is not None:
            lines.append("  expected: " + _one_line(self.expected))
        if self.advice is not None:
            lines.append("  to do:    " + printable(worded(self.advice)))
        if self.example is not None:
            lines += ["", *("    " + printable(line) for line in self.example.split("\n"))]
        return "\n".join(lines)

    def __reduce__(self) -> tuple[Any, ...]:
        # The default would call the class with the problem alone and lose the facts; worker processes send errors home.
        facts = {name: getattr(self, name) for name in self._facts}
        return _rebuild, (type(self), self.problem, {**self.__dict__, **facts})


class CorruptRecordError(RecordsmithError, ValueError):
    """A record's bytes do not match their checksum, or its payload cannot be parsed.

    >>> print(CorruptRecordError("The data does not match its checksum.", path="a.tfrecord", record=2, offset=140))
    The data does not match its checksum.
      where:    a.tfrecord, record 2, byte 140
    """


class TruncatedFileError(RecordsmithError, ValueError):
    """The file ends inside a record.

    >>> print(TruncatedFileError("The file ends inside a record.", path="a.tfrecord", record=2, offset=140))
    The file ends inside a record.
      where:    a.tfrecord, record 2, byte 140
    """


class CompressionError(RecordsmithError, ValueError):
    """The compressed data is damaged, or has another compression than the given one.

    >>> print(CompressionError("The gzip stream is damaged.", path="a.tfrecord.gz"))
    The gzip stream is damaged.
      where:    a.tfrecord.gz
    """


class NotTFRecordError(RecordsmithError, ValueError):
    """The file is not a TFRecord file.

    >>> print(NotTFRecordError("This is a zip archive.", path="a.tfrecord", advice="Unpack it first."))
    This is a zip archive.
      where:    a.tfrecord
      to do:    Unpack it first.
    """


class ChangedFileError(RecordsmithError, ValueError):
    """The file was changed or replaced while it was in use.

    >>> print(ChangedFileError("The file was changed while it was in use.", path="a.tfrecord"))
    The file was changed while it was in use.
      where:    a.tfrecord
    """


class SchemaError(RecordsmithError, ValueError):
    """A schema or a feature is not valid.

    >>> print(SchemaError("There is no dtype 'flaot32'.", feature="x", expected="a numpy dtype"))
    There is no dtype 'flaot32'.
      where:    feature 'x'
      expected: a numpy dtype
    """


class SchemaMismatchError(RecordsmithError, ValueError):
    """What is stored does not match the schema.

    >>> print(SchemaMismatchError("The kind differs.", feature="x", found="int64 list", expected="float list"))
    The kind differs.
      where:    feature 'x'
      found:    int64 list
      expected: float list
    """


class EncodeError(RecordsmithError, ValueError):
    """A value does not fit its feature. It was not written.

    >>> print(EncodeError("A value does not fit.", row=3, feature="age", found=300, expected="uint8, 0 to 255"))
    A value does not fit.
      where:    row 3, feature 'age'
      found:    300
      expected: uint8, 0 to 255
    """


class PipelineError(RecordsmithError, ValueError):
    """A source, a loader or a command was used in a way that cannot work.

    >>> print(PipelineError("A row is longer than 8.", row=3, found=12, advice="Pass truncate=True to cut it."))
    A row is longer than 8.
      where:    row 3
      found:    12
      to do:    Pass truncate=True to cut it.
    """


class MissingExtraError(RecordsmithError, ImportError):
    """An optional package is missing. The message names the command that installs it.

    >>> print(MissingExtraError("pyarrow", "arrow", purpose="Dataset.to_arrow"))
    Dataset.to_arrow needs pyarrow, which is not installed.
      to do:    pip install "pyarrow>=15.0"
    """

    # ImportError keeps `name` outside the instance's __dict__, where pickling would not see it.
    _facts: ClassVar[tuple[str, ...]] = (*RecordsmithError._facts, "name")  # noqa: SLF001 - its own base's

    def __init__(self, module: str, extra: str, *, purpose: str = "This") -> None:
        super().__init__(
            f"{purpose} needs {module}, which is not installed.",
            advice=f"{_installer()} {_requirements(module, extra)}",
        )
        self.name = module


# Modules that several packages provide; one of them is suggested, and any will do.
_SUGGESTED = {"cv2": '"opencv-python-headless>=4.11"', "tensorflow": '"tensorflow>=2.16"'}
# Packages that are not called like their module.
_PACKAGES = {"google": "protobuf", "imblearn": "imbalanced-learn", "sklearn": "scikit-learn", "yaml": "pyyaml"}


def _installer() -> str:
    """Return the command that installs into this environment; uv makes environments without pip."""
    return "pip install" if importlib.util.find_spec("pip") else "uv pip install"


def _requirements(module: str, extra: str) -> str:
    """Return the packages of an extra, as arguments of pip; they can be installed wherever recordsmith came from."""
    top = module.partition(".")[0]
    suggested = _SUGGESTED.get(top)
    if suggested is not None:
        return suggested
    import importlib.metadata  # takes a while, and is needed only here

    try:
        declared = importlib.metadata.requires("recordsmith") or []
    except importlib.metadata.PackageNotFoundError:  # a source tree that is not installed
        declared = []
    wanted = re.compile(rf"""extra == ['"]{re.escape(extra)}['"]""")
    named = [name.strip() for name, _, marker in (line.partition(";") for line in declared) if wanted.search(marker)]
    return " ".join(f'"{name}"' for name in named) or _PACKAGES.get(top, top)


def import_extra(module: str, extra: str, *, purpose: str = "This") -> ModuleType:
    """Import an optional package, or raise the MissingExtraError that names its install command.

    >>> import_extra("json", "arrow", purpose="An example").loads("[1]")
    [1]
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name not in (module, module.partition(".")[0]):  # it is there, and one of its own needs is not
            raise
        raise MissingExtraError(module, extra, purpose=purpose) from None


def reason_of(error: BaseException) -> str:
    """Return the message of an error in one line, to be quoted in another error.

    >>> reason_of(SchemaError("It is wrong.", path="a.json")), reason_of(ValueError("no number"))
    ('It is wrong.', 'no number')
    """
    return error.problem if isinstance(error, RecordsmithError) else (str(error).splitlines() or [""])[0]


def did_you_mean(name: str, existing: Iterable[str]) -> str:
    """Say which existing name is nearest, as a sentence to append to a message; empty if none is near.

    >>> "There is no feature 'imgae'." + did_you_mean("imgae", ["image", "label"])
    "There is no feature 'imgae'. Did you mean 'image'?"
    >>> did_you_mean("xyz", ["image", "label"])
    ''
    """
    names = list(islice(existing, _MOST_COMPARED))
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if not near:
        # Capitals are a common slip, and difflib counts each of them as a difference.
        by_folded_name = {other.casefold(): other for other in names}
        near = [by_folded_name[folded] for folded in difflib.get_close_matches(name.casefold(), by_folded_name, 1, 0.6)]
    return f" Did you mean {near[0]!r}?" if near else ""


class _Advice(str):  # noqa: SLOT000 - a str has no slots to add to
    """A text that names options as Python does, and that knows what the command line calls them."""

    command_line: str


def advise(text: str, **options: Any) -> str:
    """Return a text about options: {name} becomes name=value in Python, and --name on the command line.

    Args:
        text: with the names of options in braces.
        options: the value that each is to have; ... for none. Two texts where the two say it in different ways.

    >>> advise("Leave {split} out, or give {layout}.", split=..., layout="flat")
    "Leave split out, or give layout='flat'."
    >>> in_words_of_command_line(advise("Leave {split} out, or give {on_error}.", split=..., on_error="skip"))
    'Leave --split out, or give --on-error skip.'
    """
    python, command_line = text, text
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        if isinstance(value, tuple):
            said, flag = value
        else:
            said = name if value is ... else f"{name}={value!r}"
            flag = flag if value in (..., True) else f"{flag} {value}"
        python = python.replace(f"{{{name}}}", said)
        command_line = command_line.replace(f"{{{name}}}", flag)
    advice = _Advice(python)
    advice.command_line = command_line
    return advice


def in_words_of_command_line(text: str) -> str:
    """Return a text as the command line says it, if it names options.

    >>> in_words_of_command_line("Give another file.")
    'Give another file.'
    """
    return text.command_line if isinstance(text, _Advice) else text


def list_names(names: Iterable[str], limit: int = 8) -> str:
    """List names for a message, shortened when there are many.

    >>> list_names(["image", "label"])
    "'image', 'label'"
    >>> list_names([f"x{i}" for i in range(100)], limit=3)
    "'x0', 'x1', 'x2' and 97 more"
    >>> list_names([])
    'none'
    """
    every = list(names)
    if not every:
        return "none"
    shown = ", ".join(repr(name) for name in every[:limit])
    return shown if len(every) <= limit else f"{shown} and {len(every) - limit} more"


def _one_line(fact: object) -> str:
    text = fact if isinstance(fact, str) else repr(fact)
    text = printable(" ".join(text[: 2 * _LONGEST_FACT].split("\n")))
    return text if len(text) <= _LONGEST_FACT else text[: _LONGEST_FACT - 3] + "..."


def _rebuild(kind: type[RecordsmithError], problem: str, state: dict[str, Any]) -> RecordsmithError:
    error = kind.__new__(kind, problem)
    RecordsmithError.__init__(error, problem)
    for name, value in state.items():
        setattr(error, name, value)
    return error
