"""Mistakes that an editor must show. Both checkers report an ignore that nothing needs, so each line proves itself."""

from __future__ import annotations

import recordsmith as rs


def mistakes() -> None:
    """None of this is run."""
    rs.Scalar("int46")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    rs.Tensor("float23", (2,))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    rs.Tensor("float32", 2)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    rs.Sparse("flaot32", size=3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    rs.Packed({"a": ("unit8", (2,))})  # type: ignore[dict-item]  # pyright: ignore[reportArgumentType]
    rs.Scalar("int64", storage="lists")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    rs.Schema({"x": rs.Scalar})  # type: ignore[dict-item]  # pyright: ignore[reportArgumentType]
    rs.Schema({"x": rs.Text()})["x"].nams  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]

    rs.make("photos", "data", on_error="stopp")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    rs.make("photos", "data", preprocess="tfidf")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    rs.make("photos", "data", splits="train=1")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    rs.copy("data")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    rs.export("data", "out", on_error="quarantine")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

    ds = rs.open("data")
    ds.batch("32")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    ds.batch(32, drop_remainder=True)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    ds.shard(0, 2, remainder="rest")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    ds.images(layout="CHW")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    for batch in ds.batch(32):
        batch.shape  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    rs.finish  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
