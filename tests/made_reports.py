"""Reports made by hand: one as a real dataset would give it, and one whose every text is hostile."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import recordsmith as rs
from recordsmith.dataset.row_decoding import RowOverview
from recordsmith.facts.dataset_facts import Damage, DatasetFacts, DuplicateFacts, LabelFacts, ShardFacts, SplitFacts
from recordsmith.facts.value_facts import (
    FeatureFacts,
    FrequentValue,
    Histogram,
    ImageFacts,
    LengthFacts,
    NumberFacts,
    StringFacts,
)
from recordsmith.images.png import png_bytes
from recordsmith.report import GridImage, HistogramSection, ImageGrid, Report, Section, TableSection, TextSection
from recordsmith.rules import Finding, Location, RuleText, Severity

SCRIPT = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
HOSTILE = [
    SCRIPT,
    "\"'`><svg/onload=alert(3)>",
    "bell\x07 escape\x1b[31mred\x1b[0m\r\nnext",
    "\u202eright to left\u202c \u2066isolate\u2069 \ufeff",
    "surrogate \udcff end",
    "{{7*7}} ${7*7} <%= 7 %> %s %(x)s",
    "javascript:alert(4)//",
    "::error file=x::injected",
    "x" * 20_000,
    "&lt;b&gt; &amp; \0",
    "猫🐈 é",
]


def png(width: int, height: int, colour: tuple[int, int, int] = (200, 80, 40)) -> bytes:
    """An image with a gradient."""
    shades = np.linspace(0.3, 1, width)[None, :, None] * np.linspace(1, 0.6, height)[:, None, None]
    rows = (shades * np.array(colour)).astype(np.uint8)
    return png_bytes(rows)


def bell(low: float, high: float, bins: int = 40, middle: float = 0.5) -> Histogram:
    edges = np.linspace(low, high, bins + 1)
    heights = np.exp(-(((np.arange(bins) / bins - middle) * 6) ** 2)) * 900
    return Histogram(tuple(edges.tolist()), tuple(heights.astype(int).tolist()))


def pets_features() -> tuple[FeatureFacts, ...]:
    words = ("short hair", "sleeping", "outside", "on a sofa", "with a ball\n")
    weights = NumberFacts(
        9_990,
        0.4,
        71.5,
        12.75,
        9.5,
        nan=2,
        quantiles={0.0: 0.4, 0.5: 9.8, 1.0: 71.5},
        histogram=bell(0.4, 71.5, 40, 0.2),
    )
    labels = NumberFacts(
        12_000, 0, 2, 0.8, 0.7, zeros=7_000, integral=True, histogram=Histogram((0, 1, 2, 3), (7, 4, 1))
    )
    tokens = NumberFacts(480_000, 0, 9_999, 812.0, 1400.5, zeros=12, integral=True, histogram=bell(0, 9_999, 50, 0.05))
    return (
        FeatureFacts(
            "image",
            False,
            12_000,
            0,
            kinds={"bytes": 12_000},
            lengths=LengthFacts(1, 1, 1.0),
            stored_bytes=1_150_000_000,
            distinct=11_998,
            strings=StringFacts(12_000, 1_150_000_000, LengthFacts(8_000, 240_000, 95_000.0)),
            images=ImageFacts(
                {"jpeg": 11_990, "png": 8},
                {3: 11_990, 1: 8},
                LengthFacts(120, 1080, 412.0),
                LengthFacts(160, 1920, 550.5),
                no_header=2,
                decoded=512,
                undecodable=1,
            ),
        ),
        FeatureFacts(
            "label",
            False,
            12_000,
            0,
            kinds={"int64": 12_000},
            lengths=LengthFacts(1, 1, 1.0),
            stored_bytes=180_000,
            distinct=3,
            frequent=(FrequentValue(0, 7_000), FrequentValue(1, 4_000), FrequentValue(2, 1_000)),
            numbers=labels,
        ),
        FeatureFacts(
            "weight",
            False,
            9_990,
            2_010,
            kinds={"float": 9_990},
            lengths=LengthFacts(1, 1, 1.0),
            stored_bytes=240_000,
            distinct=4_120,
            distinct_exact=False,
            distinct_error=0.02,
            numbers=weights,
        ),
        FeatureFacts(
            "tokens",
            False,
            12_000,
            0,
            empty=3,
            kinds={"int64": 12_000},
            lengths=LengthFacts(0, 128, 40.0),
            stored_bytes=900_000,
            distinct=9_800,
            distinct_exact=False,
            distinct_error=0.02,
            numbers=tokens,
        ),
        FeatureFacts(
            "image/description",
            False,
            12_000,
            0,
            kinds={"bytes": 12_000},
            lengths=LengthFacts(1, 1, 1.0),
            stored_bytes=400_000,
            distinct=5,
            frequent=tuple(FrequentValue(word.encode(), 4_000 - 700 * n) for n, word in enumerate(words)),
            strings=StringFacts(
                12_000, 380_000, LengthFacts(7, 12, 9.0), ascii=12_000, utf8=12_000, trailing_space=1_200
            ),
        ),
    )


def pets_facts() -> DatasetFacts:
    features = pets_features()
    shards = [
        ShardFacts(
            f"data/pets-{split}.tfrecord-{n:05d}-of-{of:05d}",
            split,
            96_000_000 - n * 1_500_000,
            None,
            1_000 - 10 * n,
            95_000_000,
            8_100,
            241_000,
            {"example": 1_000 - 10 * n},
        )
        for split, of in (("train", 10), ("val", 1), ("test", 1))
        for n in range(of)
    ]
    damage = Damage(
        "data-crc", shards[3].path, 71_402_113, 742, 95_113, "The data does not match its checksum.", "0x1d2e", "0x77aa"
    )
    shards[3] = replace(shards[3], damages=(damage,), damage_count=1)
    label = LabelFacts(
        "label",
        True,
        ("cat", "dog", "axolotl"),
        {
            "train": {"cat": 5_900, "dog": 3_300, "axolotl": 800},
            "val": {"cat": 600, "dog": 350, "axolotl": 50},
            "test": {"cat": 500, "dog": 500},
        },
        longest_run={"train": 640},
    )
    splits = {
        name: SplitFacts(name, records, records * 96_000, files, features)
        for name, records, files in (("train", 10_000, 10), ("val", 1_000, 1), ("test", 1_000, 1))
    }
    schema = rs.Schema(
        {
            "image": rs.Image(encoding="jpeg"),
            "label": rs.Label(["cat", "dog", "axolotl"]),
            "weight": rs.Scalar("float32", optional=True),
            "tokens": rs.Tensor("int64", (None,)),
            "image/description": rs.Text(),
        }
    )
    return DatasetFacts(
        ("data",),
        tuple(shard.path for shard in shards),
        records=12_000,
        bytes=1_152_000_000,
        schema=schema,
        described_by="data/recordsmith.json",
        shards=tuple(shards),
        splits=splits,
        features=features,
        labels=(label,),
        duplicates=DuplicateFacts({"train": 2}, {("train", "test"): 1}),
        seconds=1.25,
    )


def pets_rows(count: int = 6) -> tuple[RowOverview, ...]:
    names = ("cat", "dog", "axolotl")
    colours = ((214, 120, 60), (70, 110, 170), (200, 120, 160))
    rows = []
    for n in range(count):
        values: dict[str, Any] = {
            "image": png(48 + 16 * (n % 3), 48, colours[n % 3]),
            "label": names[n % 3],
            "weight": None if n % 4 == 3 else np.float32(n * 1.25),
            "tokens": np.arange(n * 7),
            "image/description": "sleeping on a sofa",
        }
        rows.append(RowOverview(n * 17, "data/pets-train.tfrecord-00000-of-00010", n * 17, b"", "example", values))
    return tuple(rows)


def pets_findings() -> tuple[Finding, ...]:
    return (
        Finding(
            "F002",
            "data-crc-wrong",
            Severity.ERROR,
            "The data of record 742 does not match its checksum: 95,113 bytes are not what was written.",
            Location("data/pets-train.tfrecord-00003-of-00010", "train", record=742, offset=71_402_113),
            "Mend the file with `recordsmith repair`, or write it again.",
            evidence={"found": "0x1d2e", "expected": "0x77aa", "bytes": 95_113},
        ),
        Finding(
            "V001",
            "not-a-number",
            Severity.ERROR,
            "2 of 9,990 values of 'weight' are NaN.",
            Location("data/pets-train.tfrecord-00001-of-00010", "train", record=88, feature="weight"),
            "Leave these records out, or declare `finite=True` so that writing refuses them.",
            count=2,
            places=(Location("data/pets-val.tfrecord-00000-of-00001", "val", record=3, feature="weight"),),
            evidence={"nan": 2, "values": 9_990, "share": 0.0002},
        ),
        Finding(
            "V005",
            "white-space-in-text",
            Severity.WARNING,
            "1,200 of 12,000 texts of 'image/description' end with white space, such as 'with a ball\\n'.",
            Location(feature="image/description"),
            "Strip the texts before writing them.",
            count=1_200,
        ),
        Finding(
            "D002",
            "class-absent-from-split",
            Severity.WARNING,
            "Class 'axolotl' does not occur in split 'test'.",
            Location("data", "test", feature="label"),
            "Split again with `--stratify label`.",
            evidence={"classes": {"cat": 500, "dog": 500, "axolotl": 0}},
        ),
        Finding(
            "D007",
            "uneven-shards",
            Severity.INFO,
            "Shards have 910 to 1,000 records.",
            Location("data", "train"),
            "Nothing has to be done.",
        ),
    )


RULES = {
    "V001": RuleText("A feature holds NaN or infinity.", "", "One NaN makes the loss NaN.", "log(0)", "Remove them."),
}


def pets_report() -> Report:
    return Report(
        "check",
        pets_findings(),
        pets_facts(),
        subject="data",
        rules=RULES,
        samples=pets_rows(),
    )


def lint_report() -> Report:
    source = "    ds = ds.repeat().shuffle(1000)\n"
    return Report(
        "lint",
        (
            Finding(
                "P002",
                "repeat-before-shuffle",
                Severity.WARNING,
                "`repeat` stands before `shuffle`: epochs run into each other.",
                Location("train.py", line=12, column=10, end_line=12, end_column=21),
                "Shuffle first, and repeat after it.",
                quoted=source,
                corrected="    ds = ds.shuffle(1000).repeat()\n",
            ),
            Finding(
                "P001",
                "unchecked",
                Severity.ERROR,
                "A feature 'lable' is asked for that the data does not have.",
                Location("train.py", line=7, column=5, end_line=9, end_column=6),
                "Ask for 'label'.",
                quoted="    f = {\n        'lable': x,\n    }\n",
            ),
        ),
        subject="train.py",
    )


def diagnose_report() -> Report:
    generator = np.random.default_rng(0)
    grid_images = [
        GridImage(generator.integers(0, 255, (40, 60, 3)).astype(np.uint8), "cat", "record 0"),
        GridImage(generator.normal(size=(40, 40, 1)).astype(np.float32), "dog", "record 1"),
        GridImage(np.full((30, 30), np.nan, np.float32), "nothing", "record 2"),
    ]
    return Report(
        "diagnose",
        (
            Finding(
                "T001", "constant-input", Severity.ERROR, "All inputs are equal.", Location(feature="image"), "Look."
            ),
        ),
        sections=(
            ImageGrid("What the model sees", tuple(grid_images), "One of each class, as it arrives."),
            HistogramSection("weight", {"stored": bell(0, 70, 30, 0.2), "as it arrives": bell(-2, 3, 30)}),
            TableSection("Batches", ("batch", "loss", "note"), ((1, 2.31, "first"), (2, float("nan"), None))),
            TextSection("Summary", "The labels are right.\n\nThe images are not."),
            TextSection("Code", "ds = ds.map(f)\nds = ds.batch(2)", code=True),
        ),
        subject="train.py",
    )


def hostile_report() -> Report:
    """Every text that can come from data or from the file system is hostile."""
    findings = tuple(
        Finding(
            "V001",
            "not-a-number",
            (Severity.ERROR, Severity.WARNING, Severity.INFO)[n % 3],
            text,
            Location(text[:200], text, n, n, text),
            text,
            places=(Location(text[:200], record=n),),
            evidence={text[:50]: text, "nan": float("nan"), "bytes": text.encode(errors="replace")},
            quoted=text,
            corrected=text,
        )
        for n, text in enumerate(HOSTILE)
    )
    features = tuple(
        FeatureFacts(
            text,
            n % 2 == 1,
            10,
            0,
            kinds={"bytes": 10},
            lengths=LengthFacts(1, 1, 1.0),
            distinct=2,
            frequent=(FrequentValue(text.encode(errors="surrogateescape"), 9), FrequentValue(b"\xff\xfe", 1)),
            strings=StringFacts(10, 100, LengthFacts(1, 10, 2.0), utf8=10),
        )
        for n, text in enumerate(HOSTILE)
    )
    shards = tuple(ShardFacts(text[:200], text, 100, None, 1, 10, 1, 1, {text: 1}) for text in HOSTILE)
    splits = {text: SplitFacts(text, 1, 100, 1, features) for text in HOSTILE}
    label = LabelFacts(SCRIPT, False, tuple(HOSTILE), {text: dict.fromkeys(HOSTILE, 3) for text in HOSTILE})
    values: dict[str, Any] = {text: text for text in HOSTILE} | {
        "bytes": b"\xff\xd8\xff\xe0<script>",
        "photo": b"\x89PNG\r\n\x1a\n" + b"\0" * 40,
        "list": HOSTILE,
        "nested": {SCRIPT: np.arange(3)},
        "svg": b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(5)'/>",
    }
    facts = DatasetFacts(
        tuple(HOSTILE),
        tuple(text[:200] for text in HOSTILE),
        records=len(HOSTILE),
        bytes=1_000,
        described_by=SCRIPT,
        shards=shards,
        splits=splits,
        features=features,
        labels=(label,),
    )
    sections: tuple[Section, ...] = (
        ImageGrid(SCRIPT, (GridImage(np.zeros((4, 4, 3), np.uint8), SCRIPT, SCRIPT),), SCRIPT),
        HistogramSection(SCRIPT, {text: Histogram((0.0, 1.0), (1,)) for text in HOSTILE}, SCRIPT),
        TableSection(SCRIPT, (SCRIPT, "b"), tuple((text, None) for text in HOSTILE), SCRIPT),
        *(TextSection(text, text, code=n % 2 == 0) for n, text in enumerate(HOSTILE)),
    )
    rows = (
        RowOverview(0, SCRIPT, 0, b"", "example", values, {SCRIPT: HOSTILE}),
        RowOverview(1, HOSTILE[4], 1, SCRIPT.encode(), "text", None),
    )
    return Report(
        "check", findings, facts, sections, subject=SCRIPT, samples=rows, rules={"V001": RuleText(*[SCRIPT] * 5)}
    )
