"""The chart for the README, drawn from the results (`python -m bench.reporting.chart results.json chart.svg`)."""

from __future__ import annotations

import importlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OURS, THEIRS = "#0f766e", "#b6bec9"
INK, FAINT, PAPER, FRAME = "#111827", "#6b7280", "#ffffff", "#d1d5db"
TIMES = "\N{MULTIPLICATION SIGN}"

# The page, in inches: two columns of panels between a head and a foot.
WIDTH, HEAD, FOOT, MARGIN = 10.4, 1.0, 0.62, 0.28
COLUMN_LEFT, COLUMN_WIDTH = (MARGIN, 5.42), 4.7
TITLE, ROW, GAP = 0.36, 0.56, 0.16
NAME_WIDTH, RATIO_WIDTH, BAR = 0.42, 0.85, 0.21


@dataclass(frozen=True, slots=True)
class Pair:
    """Two bars of one subject: recordsmith and the best of a peer. A longer bar is always the better one."""

    subject: str
    ours: float
    theirs: float
    unit: str
    peer: str

    @property
    def ratio(self) -> float:
        """How many times better recordsmith is."""
        return self.ours / self.theirs


@dataclass(frozen=True, slots=True)
class Panel:
    """A group of pairs under one title."""

    title: str
    pairs: list[Pair]


def draw_chart(document: dict[str, Any], path: Path) -> list[Path]:
    """Draw the results as SVG and PNG; nothing where matplotlib, recordsmith or all its peers are missing."""
    columns = [[panel for panel in column if panel.pairs] for column in _panels(document)]
    if not any(columns):
        return []
    try:
        pyplot = _pyplot()
    except ImportError:
        return []
    height = HEAD + max(map(_column_height, columns)) + FOOT
    figure = pyplot.figure(figsize=(WIDTH, height), facecolor=PAPER, edgecolor=FRAME, linewidth=2)
    page = figure.add_axes((0, 0, 1, 1))
    page.axis("off")
    page.set_xlim(0, WIDTH)
    page.set_ylim(height, 0)
    _draw_head(page, columns)
    for left, panels in zip(COLUMN_LEFT, columns, strict=True):
        # The shorter column is spread over the height of the longer one.
        spare = height - HEAD - FOOT - _column_height(panels)
        top = HEAD
        for panel in panels:
            _draw_panel(page, panel, left=left, top=top)
            top += _column_height([panel]) + spare / max(1, len(panels) - 1)
    page.text(MARGIN, height - FOOT / 2, _footer(document), fontsize=7.5, color=FAINT, va="center", linespacing=1.6)
    path.parent.mkdir(parents=True, exist_ok=True)
    written = [path.with_suffix(".svg"), path.with_suffix(".png")]
    for target in written:
        # No date inside, so that drawing the same results again gives the same file.
        metadata = {"Date": None} if target.suffix == ".svg" else None
        figure.savefig(target, facecolor=PAPER, edgecolor=FRAME, dpi=160, metadata=metadata)
    pyplot.close(figure)
    return written


def _column_height(panels: list[Panel]) -> float:
    return sum(TITLE + len(panel.pairs) * ROW + GAP for panel in panels)


def _pyplot() -> Any:
    matplotlib: Any = importlib.import_module("matplotlib")
    matplotlib.use("Agg")
    # Letters as shapes, so that the SVG looks the same everywhere; a fixed salt, so that its ids do not change.
    matplotlib.rcParams.update({"svg.fonttype": "path", "svg.hashsalt": "recordsmith", "font.family": "DejaVu Sans"})
    return importlib.import_module("matplotlib.pyplot")


def _draw_head(page: Any, columns: list[list[Panel]]) -> None:
    peers = list(dict.fromkeys(pair.peer for panels in columns for panel in panels for pair in panel.pairs))
    page.text(MARGIN, 0.34, "How fast is recordsmith?", fontsize=16, weight="bold", color=INK, va="center")
    their_words = f"{' or '.join(peers)}, each in the fastest of several ways to use it"
    for left, colour, words in ((MARGIN, OURS, "recordsmith"), (MARGIN + 1.2, THEIRS, their_words)):
        page.barh(0.68, 0.13, 0.13, left=left, color=colour)
        page.text(left + 0.2, 0.685, words, fontsize=9, color=INK, va="center")


def _draw_panel(page: Any, panel: Panel, *, left: float, top: float) -> None:
    page.text(left, top + TITLE / 2, panel.title, fontsize=10.5, weight="bold", color=INK, va="center")
    start, longest = left + NAME_WIDTH, COLUMN_WIDTH - NAME_WIDTH - RATIO_WIDTH
    for row, pair in enumerate(panel.pairs):
        middle = top + TITLE + (row + 0.5) * ROW
        unit = longest / max(pair.ours, pair.theirs)
        page.text(start - 0.09, middle, pair.subject, ha="right", va="center", fontsize=9.5, color=INK)
        bars = (
            (middle - BAR / 2, pair.ours, OURS, PAPER, ""),
            (middle + BAR / 2, pair.theirs, THEIRS, INK, f"{pair.peer}  "),
        )
        for y, value, colour, on_colour, name in bars:
            page.barh(y, value * unit, BAR * 0.94, left=start, color=colour)
            inside = value * unit > 0.6 * longest
            page.text(
                start + value * unit + (-0.06 if inside else 0.06),
                y + 0.005,
                name + _amount(value, pair.unit),
                ha="right" if inside else "left",
                va="center",
                fontsize=8,
                color=on_colour if inside else FAINT,
            )
        ratio = f"{pair.ratio:.0f}{TIMES}" if pair.ratio >= 20 else f"{pair.ratio:.1f}{TIMES}"
        page.text(start + longest + 0.11, middle, ratio, va="center", fontsize=14, weight="bold", color=OURS)


def _amount(value: float, unit: str) -> str:
    if unit == "records/s":
        scaled, prefix = (value / 1e6, "M ") if value >= 1e6 else (value / 1e3, "k ")
        return f"{scaled:.2f} {prefix}records/s" if scaled < 10 else f"{scaled:.0f} {prefix}records/s"
    if unit == "GB/s":
        return f"{value:.2f} GB/s" if value >= 0.1 else f"{value * 1000:.0f} MB/s"
    return f"{1 / value:.2f} s"


def _panels(document: dict[str, Any]) -> tuple[list[Panel], list[Panel]]:
    """The panels of the left and of the right column."""
    sections = {section["task"]: section for section in document["sections"]}
    nothing: dict[str, Any] = {"task": "", "figures": []}
    read, write, random, startup = (sections.get(task, nothing) for task in ("read", "write", "random", "startup"))
    left = [
        Panel("Read into numpy batches, CRC checked", _rate_pairs(read, "TensorFlow", "tensorflow")),
        Panel("Random access, 256 records a call", _rate_pairs(random, "array_record", "array_record")),
    ]
    right = [
        Panel("Write from columns", _rate_pairs(write, "TensorFlow", "tensorflow", our_forms="columns")),
        Panel("Write from rows (Python dicts)", _rate_pairs(write, "TensorFlow", "tensorflow", our_forms="rows")),
        Panel("Start Python, open, first batch", _startup_pairs(startup)),
    ]
    return left, right


def _rate_pairs(section: dict[str, Any], peer_title: str, peer: str, *, our_forms: str = "") -> list[Pair]:
    pairs = []
    for subject in dict.fromkeys(figure["subject"] for figure in section["figures"]):
        ours = _best(section, subject, "recordsmith", our_forms)
        theirs = _best(section, subject, peer, "")
        if ours is None or theirs is None:
            continue
        by_bytes = subject != "tab" and section["task"] != "random"
        key, unit, size = ("bytes_per_second", "GB/s", 1e9) if by_bytes else ("records_per_second", "records/s", 1.0)
        pairs.append(Pair(subject, ours[key] / size, theirs[key] / size, unit, peer_title))
    return pairs


def _best(section: dict[str, Any], subject: str, peer: str, form_start: str) -> dict[str, Any] | None:
    figures = [
        figure
        for figure in section["figures"]
        if figure["subject"] == subject and figure["peer"] == peer and figure["form"].startswith(form_start)
    ]
    return max(figures, key=lambda figure: float(figure["records_per_second"]), default=None)


def _startup_pairs(section: dict[str, Any]) -> list[Pair]:
    seconds = {(figure["peer"], figure["form"].split()[0]): figure["best_seconds"] for figure in section["figures"]}
    ours, theirs = seconds.get(("recordsmith", "open")), seconds.get(("tensorflow", "open"))
    # The bar is the inverse of the time, so that longer is better here too.
    return [Pair("tab", 1 / ours, 1 / theirs, "s", "TensorFlow")] if ours and theirs else []


def _footer(document: dict[str, Any]) -> str:
    machine, versions = document["machine"], document["versions"]
    libraries = " · ".join(
        f"{name} {versions[name]}" for name in ("recordsmith", "tensorflow", "array_record") if name in versions
    )
    scale = "" if document["scale"] == 1 else f" · scale {document['scale']:g}"
    datasets = " · ".join(f"{name}: {facts['about']}" for name, facts in document["datasets"].items())
    return (
        f"{datasets}\n{machine['cpu']}, {machine['cores']} cores · {libraries} · best of {document['repeats']}, "
        f"files in the page cache{scale} · {document['date'][:10]} · make bench"
    )


if __name__ == "__main__":
    for drawn in draw_chart(json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])):
        print(drawn)
