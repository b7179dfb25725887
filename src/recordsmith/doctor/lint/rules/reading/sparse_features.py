"""The rule on sparse features that are used as if they were dense."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Group
from recordsmith.doctor.lint.libraries.tensorflow.parse_specs import parsed_feature_of
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["SPARSE_FEATURE_RULES"]

_DENSE_ONLY = re.compile(
    r"tensorflow\.(reshape|one_hot|stack|concat|squeeze|expand_dims|pad|gather|transpose)|tensorflow\.io\.decode_\w+"
    r"|tensorflow\.image\.\w+"
)


@rule("P253", "sparse-used-as-dense", Severity.ERROR)
def sparse_used_as_dense(program: Program) -> Iterator[Finding]:
    """A feature that was parsed as a VarLenFeature is used without making it dense.

    Why it matters:
        `tf.io.VarLenFeature` gives a SparseTensor. `tf.reshape` and most other functions do not take one: they raise a
        TypeError.

    Example:
        `tf.reshape(parsed["pixels"], [28, 28])`, where "pixels" is a VarLenFeature.

    Fix:
        Make it dense first, `tf.sparse.to_dense(parsed["pixels"])`, or parse it as
        `tf.io.FixedLenFeature([28, 28], tf.float32)`.
    """
    for call in program.calls:
        first = call.argument(0) if _DENSE_ONLY.fullmatch(call.name) and call.args else None
        given = first.members if isinstance(first, Group) else (first,)
        features = [parsed_feature_of(one) for one in given]
        feature = next((one for one in features if one is not None and one.form == "variable"), None)
        if feature is None:
            continue
        if not getattr(call.node, "source", program.source).mentions("SparseTensor"):  # else it asks which are sparse
            yield program.finding(
                sparse_used_as_dense,
                call.expression,
                f"{feature.name!r} is parsed as a VarLenFeature, which gives a sparse tensor, and "
                f"`{call.name.rpartition('.')[2]}` takes dense ones only: make it dense first with "
                "`tf.sparse.to_dense`.",
                feature=feature.name,
            )


SPARSE_FEATURE_RULES = [sparse_used_as_dense]
