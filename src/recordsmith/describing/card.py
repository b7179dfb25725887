"""`rs.card`: a dataset described for people and for other programs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal

from recordsmith.checking.check import check
from recordsmith.dataset.layout import find_layout
from recordsmith.describing.contents import card_blocks
from recordsmith.describing.croissant import croissant_document
from recordsmith.describing.text import html_page, markdown_text
from recordsmith.errors import RecordsmithError, did_you_mean, list_names
from recordsmith.wording.visible_text import json_text
from recordsmith.workers.progress_display import OnPhase, ShowProgress

__all__ = ["CardKind", "card"]

PathLike = str | os.PathLike[str]
CardKind = Literal["markdown", "html", "croissant"]

_KINDS = ("markdown", "html", "croissant")


def card(
    paths: PathLike | Sequence[PathLike], *, to: CardKind = "markdown", progress: OnPhase | ShowProgress = "auto"
) -> str:
    r"""Describe a dataset: what is in it, how much, how it was made, and under which licence.

    Args:
        paths: the dataset: a file, a folder, a glob or a list of them, local or remote.
        to: "markdown" or "html" for people: splits, classes, and figures of each feature, from a pass over all records.
            "croissant" for search engines and other programs: the JSON of a croissant.json, from the manifest.
        progress: as in `rs.check`.

    >>> import recordsmith as rs, tempfile
    >>> folder = tempfile.mkdtemp() + "/numbers"
    >>> made = rs.make([{"n": n} for n in range(10)], folder, metadata={"license": "CC0-1.0"})
    >>> print(rs.card(folder).split("\n\n")[1])
    10 records in 1 split and 1 file, 300 bytes.
    """
    if to not in _KINDS:
        raise RecordsmithError(
            f"Unknown kind of card {to!r}.{did_you_mean(str(to), _KINDS)}", expected=list_names(_KINDS)
        )
    if to == "croissant":
        return json_text(croissant_document(find_layout(paths))) + "\n"
    blocks = card_blocks(check(paths, progress=progress))
    return markdown_text(blocks) if to == "markdown" else html_page(blocks)
