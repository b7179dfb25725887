"""Whether labels stayed with their features: each element is looked up on disk, and its label compared.

By number, where the pipeline says which record a row is; by content, where the values are those on disk, also after the
usual scalings were undone; otherwise by the most similar record, which counts only where it stands out clearly.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recordsmith.dataset import StoredDataset
from recordsmith.doctor.diagnose.observing.batch import Batch
from recordsmith.doctor.diagnose.observing.content import (
    colour_signature,
    content_numbers,
    content_when_swapped,
    image_signature,
    steps_between_bytes,
)
from recordsmith.doctor.diagnose.observing.image_measuring import as_images
from recordsmith.doctor.diagnose.observing.observations import PairExample, RecordFacts
from recordsmith.doctor.diagnose.observing.sampling import SampledEpoch
from recordsmith.doctor.diagnose.observing.stored_rows import FeatureRows, StoredRows, read_stored_rows
from recordsmith.doctor.diagnose.probes.label_order import class_values

__all__ = ["Match", "compare_with_records"]

Array = npt.NDArray[Any]
_LOOKED_FOR = 1024
_ALIKE = 0.9  # how similar an image has to be to the one on disk
_ALIKE_IN_COLOUR = 0.6
_STANDS_OUT = 0.1  # and how much less similar the next one with another label


@dataclass(frozen=True, slots=True)
class Match:
    """An element and its record: the row's place among the sampled ones, the record's number, and how sure that is."""

    row: int
    record: int
    sureness: float


@dataclass(frozen=True, slots=True)
class _Found:
    feature: str
    how: str
    change: str
    matches: list[Match]


def compare_with_records(
    dataset: StoredDataset, epoch: SampledEpoch, *, label: str | None, seconds: float
) -> tuple[RecordFacts, list[Match]]:
    """Look the elements of an epoch up among the records, and compare their labels."""
    kept = epoch.kept
    rows = _first_rows(kept)
    sizes = {int(np.asarray(row).size) for batch in kept[:1] for column in batch.inputs.values() for row in column[:1]}
    stored = read_stored_rows(dataset, label=label, seconds=seconds, sizes=sizes)
    numbers = [batch.index for batch in kept]
    if kept and all(number is not None for number in numbers):
        every = np.concatenate([number for number in numbers if number is not None])[: len(rows)]
        matches = [Match(row, int(number), 1.0) for row, number in enumerate(every.tolist())]
        feature = next((name for name, one in stored.features.items() if one.images), "")
        found = _Found(feature, "index", "", matches)
    else:
        found = _by_content(rows, stored)
        if len(found.matches) < len(rows) / 2:
            found = max(found, _by_likeness(kept, rows, stored), key=lambda one: len(one.matches))
    labels = _fed_labels(kept)[: len(rows)]
    facts = _facts(dataset, stored, found, len(rows))
    facts |= _whole_epoch(epoch, found, len(rows))
    facts |= _compared_colours(rows, stored, found)
    facts["wrapped"] = _wrapped(rows, stored)
    if stored.label and labels and found.matches:
        facts |= _compare(dataset, stored, found, labels)
    return RecordFacts(dataset.files[0] if len(dataset.files) == 1 else _folder(dataset), **facts), found.matches


def _first_rows(kept: list[Batch]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for batch in kept:
        for place in range(batch.rows):
            if len(rows) >= _LOOKED_FOR:
                return rows
            rows.append({name: column[place] for name, column in batch.inputs.items() if place < len(column)})
    return rows


def _fed_labels(kept: list[Batch]) -> list[Any]:
    labels: list[Any] = []
    for batch in kept:
        values = class_values(next(iter(batch.target.values()))) if len(batch.target) == 1 else None
        if values is None or len(values) != batch.rows:
            return []
        labels += [_plain(value) for value in values.tolist()]
    return labels


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, (bool, float)) and float(value).is_integer():
        return int(value)
    return value


def _by_content(rows: list[dict[str, Any]], stored: StoredRows) -> _Found:
    best = _Found("", "", "", [])
    for name in rows[0] if rows else ():
        for feature, there in stored.features.items():
            # A feature that says nothing about which record it is (a flag, a constant) proves nothing.
            if len(there.by_content) < max(2, stored.looked_at / 2):
                continue
            matches, changes = [], Counter[str]()
            for place, row in enumerate(rows):
                for change, key in (*content_numbers(row[name]), *content_when_swapped(row[name])):
                    if key in there.by_content:
                        matches.append(Match(place, there.by_content[key][0], 1.0))
                        changes[change] += 1
                        break
            better = len(matches) > len(best.matches) or (len(matches) == len(best.matches) and name == feature)
            if matches and better:
                best = _Found(feature, "content", changes.most_common(1)[0][0], matches)
    return best


def _by_likeness(kept: list[Batch], rows: list[dict[str, Any]], stored: StoredRows) -> _Found:
    best = _Found("", "", "", [])
    for name in rows[0] if rows else ():
        values = [row[name] for row in rows]
        images = [as_images(np.asarray(batch.inputs[name])) for batch in kept if name in batch.inputs][:1]
        for feature, there in stored.features.items():
            if images and images[0] is not None and any(one is not None for one in there.signatures):
                matches = _similar_images(values, there, stored)
            else:
                matches = _similar_vectors(values, there)
            if len(matches) > len(best.matches):
                best = _Found(feature, "nearest", "", matches)
    return best


def _similar_images(values: list[Any], there: FeatureRows, stored: StoredRows) -> list[Match]:
    numbers = [number for number, one in enumerate(there.signatures) if one is not None]
    table = np.stack([one for one in there.signatures if one is not None])
    labels = np.array([_code(stored, number) for number in numbers])
    matches = []
    for place, value in enumerate(values):
        images = as_images(np.asarray(value)[np.newaxis])
        mine = None if images is None else image_signature(images[0])
        if mine is None:
            continue
        square = mine.reshape(16, 16)
        likeness = np.max([table @ one.ravel() for one in (square, square[:, ::-1], square[::-1])], axis=0)
        at = int(likeness.argmax())
        others = likeness[labels != labels[at]] if stored.label else np.delete(likeness, at)
        margin = float(likeness[at] - others.max()) if others.size else 1.0
        if likeness[at] >= _ALIKE and margin >= min(_STANDS_OUT, 1.05 - _ALIKE):
            matches.append(Match(place, numbers[at], float(likeness[at])))
    return matches


def _similar_vectors(values: list[Any], there: FeatureRows) -> list[Match]:
    """Find vectors again after each position was shifted and scaled, as by standardising."""
    numbers = [number for number, one in enumerate(there.vectors) if one is not None]
    kinds = {one.shape for one in there.vectors if one is not None}
    arrays = [np.asarray(value) for value in values]
    if len(kinds) != 1 or any(array.dtype.kind not in "iuf" for array in arrays):
        return []
    size = next(iter(kinds))[0]
    if size < 2 or any(array.size != size for array in arrays) or len(arrays) < 32 or len(numbers) < 32:
        return []
    disk = _standardised(np.stack([one for one in there.vectors if one is not None]))
    fed = _standardised(np.stack([array.ravel().astype(np.float64) for array in arrays]))
    if disk is None or fed is None:
        return []
    matches = []
    for place, row in enumerate(fed):
        distance = np.sqrt(((disk - row) ** 2).mean(axis=1))
        first, second = np.partition(distance, 1)[:2]
        if first < 0.25 and first < 0.3 * second:
            matches.append(Match(place, numbers[int(distance.argmin())], float(1 - first / second)))
    return matches


def _standardised(table: Array) -> Array | None:
    if not np.isfinite(table).all():
        return None
    deviation = table.std(axis=0)
    return np.asarray((table - table.mean(axis=0)) / np.where(deviation > 0, deviation, 1))


def _code(stored: StoredRows, number: int) -> int:
    return hash(stored.labels[number]) if stored.label and number < len(stored.labels) else number


def _facts(dataset: StoredDataset, stored: StoredRows, found: _Found, elements: int) -> dict[str, Any]:
    there = stored.features.get(found.feature, FeatureRows())
    records = [match.record for match in found.matches]
    steps = np.diff(records) if len(records) > 1 else np.empty(0)
    return {
        "count": stored.count,
        "looked_at": stored.looked_at,
        "names": tuple(dataset.schema),
        "feature": found.feature,
        "how": found.how,
        "change": "" if found.change == "as it is" else found.change,
        "found": len(found.matches),
        "elements": elements,
        "sureness": float(np.mean([match.sureness for match in found.matches])) if found.matches else 0.0,
        "label": stored.label,
        "stored_classes": stored.classes if len(stored.classes) <= 1000 else {},
        "class_names": tuple(getattr(dataset.schema.get(stored.label), "names", ()) or ()),
        "longest_run": stored.longest_run,
        "file_order": bool(steps.size >= 15 and (steps == 1).mean() > 0.95),
        "extreme": there.extreme / there.images if there.images else None,
        "flat": there.flat / there.images if there.images else None,
        "jumps": _jumps(stored, there),
    }


def _jumps(stored: StoredRows, there: FeatureRows) -> float | None:
    """Return how often neighbours jump in the images that were found again, or in the only ones that there are."""
    with_images = [there] if there.images else [one for one in stored.features.values() if one.images]
    return with_images[0].jumps / with_images[0].images if len(with_images) == 1 else None


def _wrapped(rows: list[dict[str, Any]], stored: StoredRows) -> int:
    """Count the images that are a record's with a number added to all pixels, of which some overflowed."""
    count = 0
    for there in (one.by_steps for one in stored.features.values() if one.by_steps):
        for value in (value for row in rows for value in row.values()):
            steps = steps_between_bytes(value)
            if steps is None or steps[0] not in there:
                continue
            first, least, greatest = there[steps[0]]
            added = (steps[1] - first) % 256
            count += greatest + added > 255 and least - (256 - added) < 0  # neither adding nor taking away fits
    return count


def _compared_colours(rows: list[dict[str, Any]], stored: StoredRows, found: _Found) -> dict[str, int]:
    """Count the images whose red is where the record's is, and those where it is where the record has blue."""
    colours = stored.features.get(found.feature, FeatureRows()).colours
    same = swapped = 0
    for match in found.matches:
        there = colours[match.record] if match.record < len(colours) else None
        for value in rows[match.row].values() if there is not None else ():
            images = as_images(np.asarray(value)[np.newaxis])
            mine = None if images is None else colour_signature(images[0])
            if mine is None or there is None:
                continue
            square = mine.reshape(16, 16)
            turned = [float(there @ one.ravel()) for one in (square, square[:, ::-1], square[::-1])]
            likeness = max(turned, key=abs)  # the image may have been mirrored
            same += likeness > _ALIKE_IN_COLOUR
            swapped += likeness < -_ALIKE_IN_COLOUR
    return {"coloured": same + swapped, "swapped": swapped}


def _whole_epoch(epoch: SampledEpoch, found: _Found, rows: int) -> dict[str, Any]:
    """Count how many different records came, where the whole epoch was read and rows are known by their content."""
    if not epoch.whole or found.how not in ("index", "content") or len(found.matches) < 0.98 * rows:
        return {}
    if found.how == "index":
        numbers = [batch.batch.index for batch in epoch.batches]
        every = np.concatenate([number for number in numbers if number is not None])
    else:
        every = np.concatenate([batch.content for batch in epoch.batches])
    different = len(np.unique(every))
    return {"different": different, "repeated": len(every) - different}


def _compare(dataset: StoredDataset, stored: StoredRows, found: _Found, labels: list[Any]) -> dict[str, Any]:
    pairs = [
        (match, stored.labels[match.record], labels[match.row])
        for match in found.matches
        if match.row < len(labels) and stored.labels[match.record] is not None
    ]
    if not pairs:
        return {}
    there = [one for _, one, _ in pairs]
    fed = [one for _, _, one in pairs]
    mapping: dict[str, str] = {}
    if _is_measured(there) and _is_measured(fed):
        same = _same_numbers(there, fed)
        by_chance = 0.0
    else:
        same = [one == other for one, other in zip(there, fed, strict=True)]
        usual = _usual(there, fed)
        # A renaming uses all the labels that came; always the most common one would look consistent too.
        renamed = len(set(usual.values())) >= min(len(set(fed)), len(usual))
        if sum(same) < 0.98 * len(same) and renamed and _consistency(there, fed) > 0.95:
            mapping = {str(one): str(other) for one, other in list(usual.items())[:20]}
            same = [usual[one] == other for one, other in zip(there, fed, strict=True)]
        by_chance = _by_chance(there, fed)
    wrong = [pair for pair, right in zip(pairs, same, strict=True) if not right]
    return {
        "compared": len(pairs),
        "agree": sum(same),
        "by_chance": by_chance,
        "mapping": mapping,
        "examples": tuple(
            PairExample(*dataset.place_of(match.record), str(one), str(other), match.sureness)
            for match, one, other in wrong[:5]
        ),
    }


def _is_measured(values: list[Any]) -> bool:
    numbers = all(isinstance(value, (int, float)) for value in values)
    return numbers and any(isinstance(value, float) for value in values)


def _same_numbers(there: list[Any], fed: list[Any]) -> list[bool]:
    """Compare measured targets; one that was shifted, scaled or bent without changing the order counts as the same."""
    one, other = np.array(there, np.float64), np.array(fed, np.float64)
    same = np.isclose(one, other, rtol=1e-4, atol=1e-6)
    if same.mean() < 0.98 and len(one) >= 16 and np.ptp(one) > 0 and np.ptp(other) > 0:
        ranks = [np.argsort(np.argsort(values)) for values in (one, other)]
        if abs(float(np.corrcoef(ranks[0], ranks[1])[0, 1])) > 0.98:
            return [True] * len(there)
    return list(same.tolist())


def _usual(there: list[Any], fed: list[Any]) -> dict[Any, Any]:
    """Return for each stored label the one that elements with it mostly came with."""
    counts: dict[Any, Counter[Any]] = {}
    for one, other in zip(there, fed, strict=True):
        counts.setdefault(one, Counter())[other] += 1
    return {one: came.most_common(1)[0][0] for one, came in counts.items()}


def _consistency(there: list[Any], fed: list[Any]) -> float:
    """Return how often two elements with the same stored label came with the same label."""
    alike = together = 0
    for value in set(there):
        counts = Counter(label for one, label in zip(there, fed, strict=True) if one == value)
        total = sum(counts.values())
        together += total * (total - 1)
        alike += sum(count * (count - 1) for count in counts.values())
    return alike / together if together else 0.0


def _by_chance(there: list[Any], fed: list[Any]) -> float:
    stored, came = Counter(there), Counter(fed)
    return sum(stored[value] * came[value] for value in stored) / (len(there) * len(fed))


def _folder(dataset: StoredDataset) -> str:
    return dataset.files[0].rpartition("/")[0] or dataset.files[0]
