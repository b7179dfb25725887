"""What is done to each record of a copy: nothing, or which features it is decoded to and encoded from.

names     as the input has them: in conditions, groups, and before they are renamed
reading   the schema by which records are decoded
writing   the schema by which they are encoded again; None where their bytes stay as they are
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from recordsmith.copying.absent_values import without_defaults
from recordsmith.errors import RecordsmithError, SchemaError, advise, did_you_mean, list_names
from recordsmith.images import Preparation
from recordsmith.query.where import Where, compile_where
from recordsmith.schema import Bytes, Image, Label, Schema, Tensor
from recordsmith.schema.presence import with_required

__all__ = ["Changes", "CopyPlan", "plan_copy"]

_LOSSY = ("jpeg", "webp")


@dataclass(frozen=True)
class Changes:
    """What is asked to be changed about the records.

    Attributes:
        features: the only features to keep, in this order; None keeps all.
        drop: features to leave out.
        rename: new names by old ones.
        schema: what the records are to hold; None keeps what they hold.
        cast: casts and images may lose information.
    """

    features: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    rename: Mapping[str, str] = field(default_factory=dict)
    schema: Schema | None = None
    cast: bool = False

    @property
    def any(self) -> bool:
        """Whether records have to be encoded again."""
        return bool(self.features is not None or self.drop or self.rename or self.schema is not None)


@dataclass(frozen=True)
class CopyPlan:
    """How each record is copied.

    Attributes:
        schema: what the copy holds; None where that is not known, and need not be.
        writing: the schema by which records are encoded again; None copies their bytes.
        reading: the features that must be decoded for it, by their old names; None where none are.
        where: the condition that a record has to meet.
        where_schema: the features that it looks at.
        check: the features that every record must have, although nothing is done with them.
        label: the feature whose classes are counted, by its new name.
        stratum: the feature whose classes are divided equally, by its new name.
        group: the feature whose equal values stay together, by its old name.
        images: what is done to images, by the old names of their features.
        renamed: new names by old ones.
        left_out: features of the input that the copy does not have.
        provenance: features that do not count when records are compared for being identical, by their new names.
    """

    schema: Schema | None
    writing: Schema | None = None
    reading: Schema | None = None
    where: Where | None = None
    where_schema: Schema | None = None
    check: Schema | None = None
    label: str | None = None
    stratum: str | None = None
    group: str | None = None
    group_schema: Schema | None = None
    images: Mapping[str, Preparation] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    provenance: tuple[str, ...] = ()


def plan_copy(  # noqa: PLR0913 - each is a fact of its own, named by the caller
    known: Schema | None,
    changes: Changes,
    *,
    declared: bool,
    all_declared: bool,
    describe: bool,
    where: str | None,
    stratify: str | bool | None,
    group: str | None,
    provenance: Iterable[str] = (),
) -> CopyPlan:
    """Plan a copy.

    Args:
        known: what the records hold; None if nobody asked.
        changes: what is to become of them.
        declared: `known` is what a description says, and not what a look at the records found.
        all_declared: every input has that description.
        describe: the copy gets a description although its input has none.
        where: a condition.
        stratify: the feature to stratify by; True means the label.
        group: the feature to group by.
        provenance: features that say where a record comes from, and not what it is.

    >>> from recordsmith.schema import Text
    >>> options = dict(declared=True, all_declared=True, describe=False, where=None, stratify=None, group=None)
    >>> plan = plan_copy(Schema({"a": Text(), "b": Text()}), Changes(drop=("b",), rename={"a": "text"}), **options)
    >>> list(plan.writing), list(plan.reading), plan.left_out
    (['text'], ['a'], ('b',))
    """
    compiled = None if where is None else compile_where(where, known or {})
    where_schema = None if compiled is None or known is None else known.select(compiled.names)
    group_schema = None if group is None or known is None else _chosen(known, [group], "to group by")
    written, reading, renamed = _written(known, changes, declared=declared)
    verbatim = reading is None or (changes.schema is not None and declared and written == known and not changes.rename)
    result = written if not verbatim or declared or describe else None
    if compiled is not None and changes.schema is None:
        # Of what the condition asks for, no record of the copy lacks anything.
        names = [renamed.get(name, name) for name in compiled.present]
        if result is not None:
            result = with_required(result, [name for name in names if name in result])
        if written is not None:
            written = with_required(written, [name for name in names if name in written])
    label = _label(result if result is not None else known, stratify=stratify)
    stratum = _stratum(result if result is not None else known, label, renamed, stratify=stratify)
    check = known if verbatim and declared and not all_declared else None
    if reading is not None and written is not None:
        absent = {old: renamed.get(old, old) for old in reading}
        reading = without_defaults(reading, [old for old, new in absent.items() if written[new].optional])
    return CopyPlan(
        schema=result,
        writing=None if verbatim else written,
        reading=None if verbatim else reading,
        where=compiled,
        where_schema=where_schema,
        check=check,
        label=label,
        stratum=stratum,
        group=group,
        group_schema=group_schema,
        images={} if verbatim else _images(known, written, renamed, changes),
        renamed={} if verbatim else renamed,
        left_out=() if verbatim else _left_out(known, reading),
        provenance=tuple(name for old in provenance if (name := renamed.get(old, old)) in (result or ())),
    )


def _written(
    known: Schema | None, changes: Changes, *, declared: bool
) -> tuple[Schema | None, Schema | None, Mapping[str, str]]:
    """Return the schema of the copy, what must be decoded for it, and new names by old ones."""
    if not changes.any or known is None:
        return known, None, {}
    features = known if changes.features is None else _chosen(known, changes.features, "to keep")
    dropped = set(_chosen(known, changes.drop, "to leave out"))
    kept = features.select(name for name in features if name not in dropped)
    if not kept:
        raise SchemaError("No feature is left to copy.", found=f"the features {list_names(known)}")
    _chosen(kept, changes.rename, "to rename")
    renamed = {old: new for old, new in changes.rename.items() if old != new}
    names = [renamed.get(name, name) for name in kept]
    for name in names:
        if names.count(name) > 1:
            raise SchemaError(f"Two features would have the name {name!r}.", advice="Leave one out, or rename it too.")
    plain = Schema({renamed.get(name, name): feature for name, feature in kept.items()})
    if changes.schema is None:
        return plain, kept, renamed
    old_names = {renamed.get(name, name): name for name in kept}
    reading, missing = {}, []
    stored = {(column.key, column.steps): column.kind for column in known.plan()}
    for name, wanted in changes.schema.items():
        old = old_names.get(name, name)
        as_wanted = [(column.key, column.steps, column.kind) for column in wanted.plan(old)]
        if not declared and all(stored.get((key, steps)) == kind for key, steps, kind in as_wanted):
            reading[old] = wanted  # nobody declared what is stored, and it can be this
        elif old in kept:
            reading[old] = known[old]
        elif not wanted.optional:
            missing.append(name)
    if missing:
        near = did_you_mean(missing[0], plain)
        raise SchemaError(
            f"The schema has features that the input does not have: {list_names(missing)}.{near}",
            found=f"the features {list_names(plain)}",
            advice=advise(
                "Rename features of the input with {rename}, or make these optional in the schema.", rename=...
            ),
        )
    return changes.schema, Schema(reading), {old: new for old, new in renamed.items() if old in reading}


def _chosen(schema: Schema, names: Iterable[str], purpose: str) -> Schema:
    wanted: Sequence[str] = list(dict.fromkeys(names))
    for name in wanted:
        if name not in schema:
            raise SchemaError(
                f"There is no feature {name!r} {purpose}.{did_you_mean(name, schema)}", expected=list_names(schema)
            )
    return schema.select(wanted)


def _label(schema: Schema | None, *, stratify: str | bool | None) -> str | None:
    labels = [name for name, feature in (schema or {}).items() if isinstance(feature, Label)]
    if len(labels) == 1:
        return labels[0]
    if stratify is True:
        raise SchemaError(
            "It is not clear which feature is the label.",
            found=f"the features {list_names(schema or ())}",
            advice=advise("Name the feature to stratify by: {stratify}.", stratify="FEATURE"),
        )
    return None


def _stratum(
    schema: Schema | None, label: str | None, renamed: Mapping[str, str], *, stratify: str | bool | None
) -> str | None:
    if not stratify:
        return None
    if stratify is True:
        return label
    name = renamed.get(stratify, stratify)
    _chosen(schema or Schema({}), [name], "to stratify by")
    return name


def _left_out(known: Schema | None, reading: Schema | None) -> tuple[str, ...]:
    read = {(column.key, column.steps) for column in (reading or Schema({})).plan()}
    return tuple(
        name
        for name, feature in (known or Schema({})).items()
        if not any((column.key, column.steps) in read for column in feature.plan(name))
    )


def _images(
    known: Schema | None, written: Schema | None, renamed: Mapping[str, str], changes: Changes
) -> dict[str, Preparation]:
    """Say what must be done to images so that they are what the schema says."""
    found: dict[str, Preparation] = {}
    if changes.schema is None or known is None or written is None:
        return found
    for name, feature in known.items():
        wanted = written.get(renamed.get(name, name)) if renamed.get(name, name) in written else None
        if isinstance(wanted, Image) and isinstance(feature, Tensor) and wanted.encoding in _LOSSY and not changes.cast:
            raise SchemaError(
                f"Encoding the pixels as {wanted.encoding} loses information.",
                feature=name,
                found=feature,
                advice=advise("Allow it with {cast}, or choose encoding='png' in the schema.", cast=True),
            )
        one_string = isinstance(feature, Image) or (isinstance(feature, Bytes) and not feature.shape)
        if not isinstance(wanted, Image) or not one_string:
            continue
        size = None if wanted.height is None or wanted.width is None else (wanted.height, wanted.width)
        # The channels are what decoding gives, whatever is stored: they are converted only where they were others.
        same = not isinstance(feature, Image) or feature.channels == wanted.channels
        channels = None if same else wanted.channels
        try:
            found[name] = Preparation(size=size, channels=channels, encoding=wanted.encoding, orient=False)
        except ValueError as error:
            raise RecordsmithError(f"The images cannot be converted: {error}.", feature=name, found=wanted) from None
    return found
