"""What people say about a dataset, and no file does: its licence, how to cite it, where it comes from, its version."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from recordsmith.errors import RecordsmithError, did_you_mean, list_names
from recordsmith.storage.json_descriptions import JsonObject

__all__ = ["Metadata"]

_VERSION = re.compile(r"[0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,9}")
_LONGEST = 1 << 16  # characters of one entry


@dataclass(frozen=True)
class Metadata:
    """What is said about a dataset; what is not said is empty.

    Attributes:
        description: what the data is.
        license: under which conditions it may be used: a name such as "CC-BY-4.0", or a URL.
        citation: how to cite it, such as an entry of BibTeX.
        homepage: the URL of a page about it.
        version: three numbers with dots.
        supervised_keys: the input and the target, for tfds.load(..., as_supervised=True).

    >>> Metadata.checked({"license": "CC-BY-4.0"}).to_json()
    {'license': 'CC-BY-4.0'}
    """

    description: str = ""
    license: str = ""
    citation: str = ""
    homepage: str = ""
    version: str = ""
    supervised_keys: tuple[str, str] | None = None

    @classmethod
    def checked(cls, given: Mapping[str, Any] | None, description: str = "") -> Metadata:
        """Check what was given; `description` is given next to it."""
        entries = dict(given or {})
        known = [one.name for one in fields(cls)]
        for name in entries:
            if name not in known:
                raise RecordsmithError(
                    f"Unknown metadata entry {name!r}.{did_you_mean(str(name), known)}",
                    expected=list_names(known),
                )
        if description and entries.setdefault("description", description) != description:
            raise RecordsmithError("The dataset has two descriptions.", found="description, and one in metadata")
        keys = entries.pop("supervised_keys", None)
        if isinstance(keys, str):
            keys = [key.strip() for key in keys.split(",")]
        for name, text in entries.items():
            if not isinstance(text, str) or len(text) > _LONGEST:
                raise RecordsmithError(
                    f"The {name} of a dataset must be a string.",
                    found=repr(text)[:80],
                    expected=f"at most {_LONGEST} characters",
                )
        if entries.get("version") and not _VERSION.fullmatch(entries["version"]):
            raise RecordsmithError(
                "The version of a dataset must have three numbers, because TFDS requires it.",
                found=repr(entries["version"])[:80],
                expected="a text such as 1.0.0",
            )
        if keys is None:
            return cls(**entries)
        if not isinstance(keys, Iterable) or len(pair := tuple(keys)) != 2 or not all(isinstance(k, str) for k in pair):
            raise RecordsmithError(
                "supervised_keys must be two names: the input and the target.", found=repr(keys)[:80]
            )
        return cls(**entries, supervised_keys=pair)

    @classmethod
    def of(cls, document: JsonObject) -> Metadata:
        """Read it from a manifest."""
        keys = document.texts("supervised_keys")
        texts = {one.name: document.text(one.name, "") for one in fields(cls) if one.name != "supervised_keys"}
        return cls(**texts, supervised_keys=(keys[0], keys[1]) if len(keys) == 2 else None)

    def to_json(self) -> dict[str, Any]:
        """Return what is said, JSON-ready."""
        return {name: list(one) if isinstance(one, tuple) else one for name, one in asdict(self).items() if one}

    def over(self, other: Metadata) -> Metadata:
        """Return this, and from another one what this does not say.

        >>> Metadata(version="2.0.0").over(Metadata(version="1.0.0", license="MIT")).to_json()
        {'license': 'MIT', 'version': '2.0.0'}
        """
        return replace(other, **{one.name: value for one in fields(self) if (value := getattr(self, one.name))})

    def renamed(self, new_name: Callable[[str], str], names: Iterable[str]) -> Metadata:
        """Return what still holds after features were renamed or left out; `names` are those that there are now."""
        if self.supervised_keys is None:
            return self
        first, second = map(new_name, self.supervised_keys)
        return replace(self, supervised_keys=(first, second) if {first, second} <= set(names) else None)

    def check_features(self, names: Iterable[str]) -> None:
        """Raise if it names a feature that the dataset does not have."""
        known = list(names)
        for name in self.supervised_keys or ():
            if name not in known:
                raise RecordsmithError(
                    f"supervised_keys names a feature that the dataset does not have.{did_you_mean(name, known)}",
                    feature=name,
                    found=repr(name),
                    expected=list_names(known),
                )
