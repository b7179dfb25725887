"""Rules that compare the features that code asks for with those in the data, or in the code that writes it."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator
from dataclasses import dataclass

from recordsmith.doctor.lint.edits import Edit
from recordsmith.doctor.lint.interpreter.values import Group, Item, Literal, Many, Table
from recordsmith.doctor.lint.libraries.arrays import size_of
from recordsmith.doctor.lint.libraries.tensorflow.parse_specs import ParsedFeature, ParseSpec, parse_specs
from recordsmith.doctor.lint.libraries.tensorflow.written_features import WrittenExample, features_of
from recordsmith.doctor.lint.program import Program
from recordsmith.errors import list_names
from recordsmith.rules import Finding, Rule, Severity, rule

__all__ = ["FEATURE_RULES"]


@dataclass(frozen=True, slots=True)
class Existing:
    """What exists under a name: its kind, and how many values each record has, as far as that is known."""

    kind: str | None
    least: int | None
    most: int | None
    written_at: int | None = None


@dataclass(frozen=True, slots=True)
class Storage:
    """The features that exist, and how that is known: "data", "same" (the very example that is parsed), or "code"."""

    features: dict[str, Existing]
    known_by: str

    @property
    def where(self) -> str:
        """In words."""
        return "the data has" if self.known_by == "data" else "the code writes"


def _storage(program: Program, spec: ParseSpec) -> Storage | None:
    direct = features_of(spec.serialized)
    if direct and spec.in_steps:
        return None
    if direct:
        return _of_examples(direct, "same")
    if program.data is not None and program.data.features:
        features = {}
        for one in program.data.features:
            if one.in_steps == spec.in_steps:
                least, most = (one.lengths.min, one.lengths.max) if one.lengths is not None else (None, None)
                least = 0 if one.missing or one.empty else least
                features[one.name] = Existing(one.kind if len(one.kinds) == 1 else None, least, most)
        return Storage(features, "data")
    storage = None if spec.in_steps else _of_examples(program.written_for(spec.serialized, spec.features), "code")
    shared = set(storage.features) & set(spec.features) if storage is not None else set()
    return storage if shared else None


def _of_examples(examples: list[WrittenExample], known_by: str) -> Storage | None:
    if not examples or not all(one.complete for one in examples):
        return None
    features: dict[str, Existing] = {}
    for name in sorted({name for one in examples for name in one.features}):
        found = [one.features[name] for one in examples if name in one.features]
        kinds = {one.kind for one in found}
        sizes = {
            size_of(one.value) if isinstance(one.value, Group) or not isinstance(one.value, Many) else None
            for one in found
        }
        known = sizes - {None}
        least, most = (min(known), max(known)) if known and None not in sizes else (None, None)  # type: ignore[type-var]
        line = found[0].node.lineno if found[0].node is not None else None
        features[name] = Existing(kinds.pop() if len(kinds) == 1 else None, least, most, line)
    return Storage(features, known_by)


def _missing(program: Program) -> Iterator[tuple[ParseSpec, ParsedFeature, Storage, str | None]]:
    for spec in program.parse_specs:
        storage = _storage(program, spec)
        if storage is None:
            continue
        for name, feature in spec.features.items():
            if name not in storage.features:
                free = [other for other in storage.features if other not in spec.features]
                yield spec, feature, storage, _nearest(name, free)


def _is_in_steps(program: Program, spec: ParseSpec, feature: ParsedFeature) -> bool:
    """The data has the feature, but in the feature lists of SequenceExamples."""
    found = [] if program.data is None else program.data.features
    return not spec.in_steps and any(one.in_steps and one.name == feature.name for one in found)


def _of_sequence(program: Program, of: Rule[Program], feature: ParsedFeature, then: str) -> Finding:
    return program.finding(
        of,
        _place(feature),
        f"The records are SequenceExamples, and {feature.name!r} is in their feature_lists, which this parser does not "
        f"read: {then}.",
        advice="Parse them with `tf.io.parse_single_sequence_example`, and ask for it in `sequence_features`.",
        feature=feature.name,
    )


def _nearest(name: str, existing: list[str]) -> str | None:
    """The name that is probably meant. Of names with folders, as "image/width", the folder alone makes no likeness."""
    folder, slash, last = name.rpartition("/")
    beside = {one[len(folder + slash) :]: one for one in existing if one.startswith(folder + slash)}
    for candidates, wanted in ((beside, last), ({one.rpartition("/")[2]: one for one in existing}, last)):
        by_fold = {one.casefold(): whole for one, whole in candidates.items()}
        near = difflib.get_close_matches(wanted.casefold(), by_fold, n=1, cutoff=0.7)
        if near:
            return by_fold[near[0]]
    return None


def _renamed(program: Program, feature: ParsedFeature, near: str | None) -> list[Edit] | None:
    if near is None or feature.key is None:
        return None
    begin, end = getattr(feature.key, "source", program.source).span(feature.key)
    quote = program.text(feature.key)[-1]
    return [Edit(begin, end, f"{quote}{near}{quote}")]


def _place(feature: ParsedFeature) -> ast.expr:
    return feature.key or feature.call.expression


@rule("P020", "hidden-by-default", Severity.ERROR)
def hidden_by_default(program: Program) -> Iterator[Finding]:
    """A feature that does not exist is requested in a way that raises no error.

    Why it matters:
        With a `default_value`, every record yields the default; as a VarLenFeature or RaggedFeature, every record
        yields nothing. No error is raised, and the model is trained on a constant.

    Example:
        `{"lable": tf.io.FixedLenFeature([], tf.int64, default_value=0)}` where the records have "label".

    Fix:
        Correct the name. Leave `default_value` out unless records without the feature are expected.
    """
    for spec, feature, storage, near in _missing(program):
        silent = feature.has_default or feature.form in ("variable", "ragged")
        if silent and _is_in_steps(program, spec, feature):
            gives = "its default value" if feature.has_default else "nothing at all"
            yield _of_sequence(program, hidden_by_default, feature, f"every record silently yields {gives}")
            continue
        if not silent or (near is None and storage.known_by == "code"):
            continue
        gives = "its default value" if feature.has_default else "nothing at all"
        yield program.finding(
            hidden_by_default,
            _place(feature),
            f"There is no feature {feature.name!r}, and every record silently yields {gives}; {storage.where} "
            f"{list_names(storage.features)}.{'' if near is None else f' Did you mean {near!r}?'}",
            edits=_renamed(program, feature, near),
            severity=Severity.ERROR if near is not None else Severity.WARNING,
            evidence={"nearest": near, "existing": sorted(storage.features)},
            feature=feature.name,
        )


@rule("P021", "unknown-feature", Severity.ERROR)
def unknown_feature(program: Program) -> Iterator[Finding]:
    """A feature is requested that does not exist.

    Why it matters:
        Parsing fails at the first record, with a message that does not say which names exist.

    Example:
        `{"imaeg": tf.io.FixedLenFeature([], tf.string)}` where the records have "image".

    Fix:
        Correct the name; `recordsmith show data/` lists those that exist.
    """
    for spec, feature, storage, near in _missing(program):
        if feature.has_default or feature.form in ("variable", "ragged"):
            continue
        if _is_in_steps(program, spec, feature):
            yield _of_sequence(program, unknown_feature, feature, "parsing fails")
            continue
        yield program.finding(
            unknown_feature,
            _place(feature),
            f"There is no feature {feature.name!r}: parsing fails. {storage.where.capitalize()} "
            f"{list_names(storage.features)}.{'' if near is None else f' Did you mean {near!r}?'}",
            edits=_renamed(program, feature, near),
            evidence={"nearest": near, "existing": sorted(storage.features)},
            feature=feature.name,
        )


@rule("P022", "feature-dtype", Severity.ERROR)
def feature_dtype(program: Program) -> Iterator[Finding]:
    """A feature is requested with another dtype than the stored one.

    Why it matters:
        A record stores bytes, float32 or int64, and parsing converts nothing: it fails with "Data types don't match".
        Any other dtype (tf.int32, tf.uint8, tf.float64) is refused in every case.

    Example:
        Written as an int64 list, parsed with `tf.io.FixedLenFeature([], tf.float32)`.

    Fix:
        Parse it as what is stored, and convert afterwards: `tf.cast(parsed["x"], tf.float32)`.
    """
    for spec in program.parse_specs:
        storage = _storage(program, spec)
        for name, feature in spec.features.items():
            exists = None if storage is None else storage.features.get(name)
            if feature.dtype is not None and feature.kind is None:
                yield program.finding(
                    feature_dtype,
                    feature.call.expression,
                    f"{name!r} is asked for as {feature.dtype}, which no record can hold: only tf.string, tf.float32 "
                    "and tf.int64 exist.",
                    feature=name,
                )
            elif exists is not None and exists.kind is not None and feature.kind not in (None, exists.kind):
                stored = {"bytes": "string", "float": "float32", "int64": "int64"}[exists.kind]
                yield program.finding(
                    feature_dtype,
                    feature.call.expression,
                    f"{name!r} is stored as {exists.kind} and asked for as {feature.dtype}: parsing fails.",
                    advice=f"Parse it as tf.{stored}, and convert afterwards with tf.cast."
                    if "string" not in (stored, feature.dtype)
                    else f"Parse it as tf.{stored}.",
                    edits=_retyped(program, feature, stored),
                    evidence={"stored": exists.kind, "asked": feature.dtype},
                    feature=name,
                )


def _retyped(program: Program, feature: ParsedFeature, stored: str) -> list[Edit] | None:
    call = feature.call.expression
    position = 1 if feature.form in ("fixed", "sequence") else 0
    node = call.args[position] if len(call.args) > position else None
    node = node or next((one.value for one in call.keywords if one.arg == "dtype"), None)
    if not isinstance(node, ast.Attribute):
        return None
    begin, end = getattr(node, "source", program.source).span(node)
    return [Edit(begin, end, program.alias(f"tensorflow.{stored}"))]


@rule("P023", "feature-shape", Severity.ERROR)
def feature_shape(program: Program) -> Iterator[Finding]:
    """A feature is requested with a fixed shape that the records do not have.

    Why it matters:
        A FixedLenFeature takes exactly as many values as its shape says; a record with more or fewer stops the training
        when it is reached.

    Example:
        Lists of 3 and 5 values, parsed with `tf.io.FixedLenFeature([5], tf.int64)`.

    Fix:
        Where lengths differ, parse with `tf.io.VarLenFeature` or `tf.io.RaggedFeature` and pad the batch
        (`padded_batch`); otherwise give the stored shape.
    """
    for spec in program.parse_specs:
        storage = _storage(program, spec)
        for name, feature in spec.features.items():
            exists = None if storage is None else storage.features.get(name)
            if exists is None or feature.form != "fixed" or feature.size is None or exists.most is None:
                continue
            least = exists.least if exists.least is not None else exists.most
            if feature.has_default and least == 0:
                least = exists.most
            if (least, exists.most) == (feature.size, feature.size):
                continue
            stored = f"{least}" if least == exists.most else f"{least} to {exists.most}"
            yield program.finding(
                feature_shape,
                feature.call.expression,
                f"{name!r} is asked for with {feature.size} {'value' if feature.size == 1 else 'values'}, but "
                f"{'records hold' if storage is not None and storage.known_by == 'data' else 'it is written with'} "
                f"{stored}: parsing fails.",
                evidence={"asked": feature.size, "least": least, "most": exists.most},
                feature=name,
            )


@rule("P033", "key-not-parsed", Severity.ERROR)
def key_not_parsed(program: Program) -> Iterator[Finding]:
    """A feature is used that was not parsed.

    Why it matters:
        The result of `parse_single_example` has exactly the keys that were requested: any other raises a KeyError.

    Example:
        `parsed["imgae"]`, where "image" was parsed.

    Fix:
        Use the name that was parsed, or add the feature to the dict that is given to the parser.
    """
    for item in program.items:
        if not isinstance(item, Item) or item.attribute or not isinstance(item.index, Literal) or item.node is None:
            continue
        base, key = item.base, item.index.value
        parsed = base.made_by if isinstance(base, Table) and item.missing else None
        specs = list(parse_specs([parsed])) if parsed is not None else []
        if len(specs) != 1 or not isinstance(key, str) or key in specs[0].features:
            continue
        near = _nearest(key, list(specs[0].features))
        node = item.node.slice if isinstance(item.node, ast.Subscript) else item.node
        begin, end = getattr(node, "source", program.source).span(node)
        quoted = isinstance(node, ast.Constant) and near is not None
        yield program.finding(
            key_not_parsed,
            item.node,
            f"{key!r} is not among the features that are parsed ({list_names(specs[0].features)}): this raises a "
            f"KeyError.{'' if near is None else f' Did you mean {near!r}?'}",
            edits=[Edit(begin, end, f'"{near}"')] if quoted else None,
            feature=key,
        )


FEATURE_RULES = [hidden_by_default, unknown_feature, feature_dtype, feature_shape, key_not_parsed]
