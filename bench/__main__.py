"""The command line of the benchmark: ``python -m bench`` from the project root."""

from __future__ import annotations

import argparse
import datetime as dt
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from bench.data.datasets import DATASETS, SEED
from bench.data.prepare import prepare_dataset
from bench.data.store import default_folder
from bench.measuring.machine import describe_machine, load_average
from bench.measuring.workers import Workers
from bench.reporting.chart import draw_chart
from bench.reporting.report import print_outcomes, print_section
from bench.tasks import TASKS, WITHOUT_DATASETS
from bench.tasks.context import Context

if TYPE_CHECKING:
    from bench.reporting.results import Section

WIDTH_WITHOUT_TERMINAL = 160
BUSY = 0.7
RESULTS = Path(__file__).resolve().parent / "results"


def main() -> int:
    """Prepare the data, run the tasks, and report."""
    arguments = _parse()
    console = Console() if sys.stdout.isatty() else Console(width=WIDTH_WITHOUT_TERMINAL)
    load = load_average()
    if load > BUSY:
        console.print(f"[yellow]The machine is busy (load {load:.1f}): the figures will be too low, for everybody.[/]")
    folder: Path = arguments.dir
    folder.mkdir(parents=True, exist_ok=True)
    with Workers(folder=folder, recordsmith_python=arguments.recordsmith_python) as workers:
        with console.status("") as status:

            def say(text: str) -> None:
                if console.is_terminal:
                    status.update(text)
                elif arguments.verbose:
                    print(text, flush=True)

            writer = _writer(workers, arguments.writer)
            if writer is None:
                console.print(f"Nothing can write the datasets: {workers.skipped}")
                return 2
            datasets = {
                name: prepare_dataset(spec, writer, folder=folder, scale=arguments.scale, say=say)
                for name, spec in DATASETS.items()
                if name in arguments.datasets and not WITHOUT_DATASETS.issuperset(arguments.only)
            }
            context = Context(workers, datasets, folder, arguments.repeats, arguments.scale, say)
            sections = []
            for name, run in TASKS.items():
                if name in arguments.only:
                    sections.append(run(context))
                    print_section(console, sections[-1])
        print_outcomes(console, sections, scale=arguments.scale)
        document = _document(arguments, sections, workers, writer.peer, context)
        document["machine"]["load_before"] = load
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(document, indent=1) + "\n")
    console.print(f"Results: {arguments.json}")
    for path in draw_chart(document, arguments.chart):
        console.print(f"Chart: {path}")
    return 0


def _writer(workers: Workers, wanted: str) -> Any:
    peers = ("recordsmith", "tensorflow") if wanted == "auto" else (wanted,)
    return next((worker for peer in peers if (worker := workers.get(peer)) is not None), None)


def _document(
    arguments: argparse.Namespace, sections: list[Section], workers: Workers, writer: str, context: Context
) -> dict[str, Any]:
    return {
        "date": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "machine": describe_machine(),
        "versions": dict(sorted(workers.versions.items())),
        "scale": arguments.scale,
        "repeats": arguments.repeats,
        "seed": SEED,
        "method": (
            "All files are in the page cache or in memory-backed storage. Every figure is the best of several passes. "
            "The libraries take turns; a turn is one pass, or up to five passes that fit into 0.6 seconds. Each "
            "library runs in its own process. A form that is more than four times slower than the best form of its "
            "library gets one turn, and none is measured again after 20 seconds. Each task describes its own method."
        ),
        "datasets": {
            name: {
                "about": DATASETS[name].about,
                "records": stored.records,
                "bytes": stored.bytes,
                "shards": len(stored.shards),
                "written_by": writer,
            }
            for name, stored in context.datasets.items()
        },
        "sections": [section.to_json() for section in sections],
        "skipped": workers.skipped,
    }


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure recordsmith against its peers.")
    parser.add_argument(
        "--only", type=_names(TASKS), default=list(TASKS), help=f"tasks, with commas between: {', '.join(TASKS)}"
    )
    parser.add_argument(
        "--datasets", type=_names(DATASETS), default=list(DATASETS), help=f"datasets: {', '.join(DATASETS)}"
    )
    parser.add_argument("--scale", type=float, default=1.0, help="part of the records, for a quick run (default 1)")
    parser.add_argument("--repeats", type=int, default=5, help="passes of each peer; the best one counts (default 5)")
    parser.add_argument(
        "--dir", type=Path, default=default_folder(), help="the folder of the data (default %(default)s)"
    )
    parser.add_argument("--json", type=Path, default=RESULTS / "latest.json", help="the results (default %(default)s)")
    parser.add_argument(
        "--chart", type=Path, default=RESULTS / "bench.svg", help="the chart; a PNG is drawn beside it (%(default)s)"
    )
    parser.add_argument(
        "--writer",
        choices=("auto", "recordsmith", "tensorflow"),
        default="auto",
        help="the library that writes the shards",
    )
    parser.add_argument(
        "--recordsmith-python", default=sys.executable, help="interpreter that has recordsmith, if it is another one"
    )
    parser.add_argument("--verbose", action="store_true", help="say each step where there is no terminal")
    return parser.parse_args()


def _names(known: dict[str, Any]) -> Any:
    def parse(text: str) -> list[str]:
        names = text.split(",")
        unknown = [name for name in names if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)}; known: {', '.join(known)}")
        return names

    return parse


if __name__ == "__main__":
    sys.exit(main())
