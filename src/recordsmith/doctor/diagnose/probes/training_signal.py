"""Training a copy of the model: can it learn one batch, and does it learn more from true labels than from others."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from recordsmith.doctor.diagnose.models import Trainer
from recordsmith.doctor.diagnose.observing.batch import Batch
from recordsmith.doctor.diagnose.observing.model_facts import LossFacts, SignalFacts
from recordsmith.doctor.diagnose.observing.observations import LabelFacts
from recordsmith.doctor.diagnose.probes.label_order import class_values
from recordsmith.doctor.diagnose.probes.label_signal import label_signal

__all__ = ["probe_signal"]

_RATES = (0.01, 0.001)
_STEPS = 200
_CONTROL_STEPS = 300
_RATE_STEPS = 60
_LEAST_KEPT_APART = 96
_MOST_ROWS = 128


def probe_signal(
    trainer: Trainer,
    batches: list[Batch],
    *,
    loss: LossFacts | None,
    labels: LabelFacts | None,
    seconds: float,
    seed: int = 0,
    rate: float | None = None,
) -> SignalFacts:
    """Train copies for a bounded time, and return what that showed; `rate` is a learning rate to try."""
    begun = time.perf_counter()
    first = batches[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = np.arange(min(first.rows, _MOST_ROWS))
        facts = _one_batch(trainer, first, rows, loss, begun + seconds / 2)
        if facts["bad_step"] is None:
            facts |= _control(trainer, batches, labels, begun + seconds, seed)
            if rate is not None:
                facts["rate_loss"] = _loss_at(trainer, trainer.prepared(first, rows), rate)
    trainer.reset()
    return SignalFacts(**facts)


def _one_batch(trainer: Trainer, batch: Batch, rows: Any, loss: LossFacts | None, until: float) -> dict[str, Any]:
    """Try to memorise one batch, at two learning rates."""
    given = trainer.prepared(batch, rows)
    first_loss, gradients = trainer.gradients(given)
    norm = float(np.sqrt(sum(float((one.astype(np.float64) ** 2).sum()) for one in gradients if one is not None)))
    best, taken, bad = first_loss, 0, None
    seconds = None
    guess = _guess_loss(batch, rows, loss)
    for rate in _RATES:
        trainer.reset()
        trainer.step(given, rate)  # the first builds what the others use
        begun = time.perf_counter()
        for step in range(1, _STEPS):
            value = trainer.step(given, rate)
            taken += 1
            if not np.isfinite(value):
                bad = step if bad is None else bad
                break
            best = min(best, value)
            bad = None
            learnt = guess is not None and best < guess / 2 and step >= _STEPS // 4
            if learnt or time.perf_counter() > until:
                break
        seconds = (time.perf_counter() - begun) / max(taken, 1) if seconds is None else seconds
        if (guess is not None and best < guess / 2) or time.perf_counter() > until:
            break
    return {
        "steps": taken,
        "first_loss": first_loss,
        "best_loss": best,
        "guess_loss": guess,
        "bad_step": 0 if not np.isfinite(first_loss) else bad,
        "gradient_norm": norm if np.isfinite(norm) else None,
        "gradients": len(gradients),
        "zero_gradients": sum(one is None or not one.any() for one in gradients),
        "seconds_per_step": seconds,
    }


def _loss_at(trainer: Trainer, given: Any, rate: float) -> float:
    """Return the least of the last losses after some steps at a learning rate."""
    trainer.reset()
    losses = [trainer.step(given, rate) for _ in range(_RATE_STEPS)]
    return float(np.nanmin([*losses[-5:], np.inf]))


def _guess_loss(batch: Batch, rows: Any, loss: LossFacts | None) -> float | None:
    """Return what always predicting the same would cost; None where the loss is not one of the usual ones."""
    if loss is None or len(batch.target) != 1:
        return None
    target = next(iter(batch.target.values()))
    if isinstance(target, list) or target.dtype.kind not in "iufb":
        return None
    target = target[rows]
    if loss.kind in ("sparse-categorical", "categorical"):
        values = class_values(target)
        return None if values is None else _entropy(np.unique(values, return_counts=True)[1] / len(values))
    if loss.kind == "binary":
        means = target.reshape(len(target), -1).astype(np.float64).mean(axis=0)
        means = means if target.ndim < 3 else means.mean(keepdims=True)  # a mask: one guess for all places
        if not ((means >= 0) & (means <= 1)).all():
            return None
        return float(np.mean([_entropy(np.array([mean, 1 - mean])) for mean in means]))
    numbers = target.astype(np.float64)
    name = loss.name.lower().replace("_", "")
    if name in ("mse", "meansquarederror", "mseloss"):
        return float(numbers.var(axis=0).mean())
    if name in ("mae", "meanabsoluteerror", "l1loss"):
        return float(np.abs(numbers - np.median(numbers, axis=0)).mean())
    return None


def _entropy(shares: Any) -> float:
    positive = shares[shares > 0]
    return float(-(positive * np.log(positive)).sum())


def _control(
    trainer: Trainer, batches: list[Batch], labels: LabelFacts | None, until: float, seed: int
) -> dict[str, Any]:
    """Train on true and on permuted labels, and compare on held-out rows."""
    whole = [batch for batch in batches if batch.rows == batches[0].rows]
    apart = max(1, len(whole) // 3)
    train, kept = whole[:-apart], whole[-apart:]
    rows = sum(batch.rows for batch in kept)
    if rows < _LEAST_KEPT_APART or len(train) < 2 or labels is None or labels.kind != "classes" or labels.classes < 2:
        return {}
    generator = np.random.default_rng(seed)
    held = [trainer.prepared(batch) for batch in kept]
    true = [trainer.prepared(batch) for batch in train]
    permuted = [trainer.prepared(batch, np.arange(batch.rows), generator.permutation(batch.rows)) for batch in train]
    losses, steps = [], _CONTROL_STEPS
    half = (until - time.perf_counter()) / 2
    for given in (true, permuted):
        trainer.reset()
        begun = time.perf_counter()
        taken = 0
        while taken < steps:
            trainer.step(given[taken % len(given)], _RATES[1])
            taken += 1
            if time.perf_counter() - begun > half:
                break
        steps = min(steps, taken)  # permuted labels are given no more steps than true ones had
        losses.append(np.concatenate([trainer.row_losses(batch) for batch in held]))
    difference = losses[1] - losses[0]
    error = float(difference.std(ddof=1) / np.sqrt(len(difference))) if len(difference) > 1 else 0.0
    return {
        "true_loss": float(losses[0].mean()),
        "permuted_loss": float(losses[1].mean()),
        "kept_apart": rows,
        "model_free": label_signal(batches, seed=seed),
        "advantage": float(difference.mean() / error) if error > 0 else 0.0,
        "control_steps": steps,
    }
