"""Rules on training: how fast it is fed, and what a copy of the model learns."""

from __future__ import annotations

from collections.abc import Iterator

from recordsmith.doctor.diagnose.observing.observations import Drawn
from recordsmith.rules import Finding, Severity, rule

__all__ = ["TRAINING_RULES"]

_MANY_ROWS = 4000


@rule("T070", "input-slower-than-model", Severity.INFO)
def input_slower_than_model(drawn: Drawn) -> Iterator[Finding]:
    """A batch takes longer to arrive than a training step takes.

    Why it matters:
        The model waits for data. A faster GPU would change nothing.

    Example:
        Large images are decoded one by one for a small model.

    Fix:
        Work on several rows at once (`num_parallel_calls=tf.data.AUTOTUNE`), `.cache()` what never changes,
        `.prefetch()`, store images in the size in which they are used.
    """
    signal = drawn.signal
    wait = drawn.epochs[0].seconds_per_batch if drawn.epochs else None
    if signal is None or signal.seconds_per_step is None or wait is None or drawn.epochs[0].batches < 4:
        return
    if wait > 2 * signal.seconds_per_step and wait > 0.005:
        stage = f" Most of it is spent in {drawn.slowest}." if drawn.slowest else ""
        yield input_slower_than_model.finding(
            f"A batch takes {wait * 1000:.0f} ms to arrive, and a training step {signal.seconds_per_step * 1000:.0f} "
            f"ms: the input is the bottleneck.{stage}"
        )


@rule("T080", "loss-not-a-number", Severity.ERROR)
def loss_not_a_number(drawn: Drawn) -> Iterator[Finding]:
    """The loss became NaN or infinite within a few steps on one batch.

    Why it matters:
        From then on every weight is NaN.

    Example:
        Inputs that are far too large; a logarithm of 0 in a custom loss.

    Fix:
        Check the values of the inputs first; then try a smaller learning rate, or clip the gradients.
    """
    signal = drawn.signal
    if signal is not None and signal.bad_step is not None:
        when = "already before training" if signal.bad_step == 0 else f"after {signal.bad_step} steps"
        yield loss_not_a_number.finding(f"The loss is no number {when} on the first batch.")


@rule("T081", "gradients-zero", Severity.ERROR)
def gradients_zero(drawn: Drawn) -> Iterator[Finding]:
    """No weight gets a gradient: all gradients are exactly zero or missing.

    Why it matters:
        The weights never change, however long training takes.

    Example:
        An argmax or a rounding between the weights and the loss; all units of a ReLU layer dead; a softmax over one
        unit.

    Fix:
        Follow the gradient back from the loss to find where it is lost.
    """
    signal = drawn.signal
    if signal is None or not signal.gradients or signal.bad_step is not None:
        return
    if signal.zero_gradients == signal.gradients:
        yield gradients_zero.finding(
            f"All {signal.gradients} weights have a gradient of zero, or none, on the first batch."
        )


@rule("T082", "cannot-learn-one-batch", Severity.WARNING)
def cannot_learn_one_batch(drawn: Drawn) -> Iterator[Finding]:
    """A copy of the model cannot memorise a single batch.

    It is trained on the first batch alone, by Adam at two learning rates, without dropout. Nearly every model can learn
    a few dozen rows. If it gives every row the same output, something is wrong; if it gets only a little better than
    that, it may be too small, which is an info.

    Why it matters:
        A model that cannot learn one batch will not learn all of them.

    Example:
        Rows that are all alike with different labels; a model whose inputs do not reach its output; inputs that are far
        too small or too large.

    Fix:
        Fix the findings about values first; then check whether the model's output depends on its input at all.
    """
    signal = drawn.signal
    if signal is None or signal.bad_step is not None or signal.steps < 100:
        return
    guess = signal.guess_loss
    if guess is not None and guess > 1e-3 and signal.best_loss > 0.95 * guess:
        blind = drawn.model is not None and drawn.model.output is not None and not drawn.model.output.varies
        yield cannot_learn_one_batch.finding(
            f"After {signal.steps} steps on one batch the loss is {signal.best_loss:.4g}; always answering the same "
            f"costs {guess:.4g}.{' The answers do not depend on the inputs at all.' if blind else ''}",
            evidence={"first": signal.first_loss, "best": signal.best_loss, "guess": guess},
            severity=Severity.WARNING if blind else Severity.INFO,
        )


@rule("T083", "labels-without-signal", Severity.WARNING)
def labels_without_signal(drawn: Drawn) -> Iterator[Finding]:
    """Training on the true labels is no better than training on shuffled ones.

    Two copies of the model are trained for the same number of steps, one on the labels as they came, one on labels that
    were shuffled within each batch, and both are evaluated on other rows. It is reported only where a simple guess from
    the inputs, without the model, is no better than chance either. It is only an info below 4,000 different rows, where
    a weak relation may not show yet, and where `records=` confirmed the labels.

    Why it matters:
        The labels say nothing about the inputs: they may belong to other rows, or the inputs may have lost their
        information.

    Example:
        `np.random.shuffle(x)` without `y`; labels in another order than the files.

    Fix:
        Pass `records=`: each element is then looked up on disk, and its label compared.
    """
    signal = drawn.signal
    if signal is None or not signal.kept_apart or signal.control_steps < 100 or signal.model_free is None:
        return
    if signal.advantage < 2 and signal.model_free < 2.5:
        records, rows = drawn.records, drawn.order.rows if drawn.order is not None else 0
        confirmed = records is not None and records.compared > 0 and records.agree >= 0.98 * records.compared
        yield labels_without_signal.finding(
            f"On {signal.kept_apart} rows kept apart, the loss is {signal.true_loss:.4g} after training on the true "
            f"labels and {signal.permuted_loss:.4g} after training on mixed ones ({signal.control_steps} steps each): "
            "the labels seem to have nothing to do with the inputs.",
            evidence={
                "true": signal.true_loss,
                "permuted": signal.permuted_loss,
                "advantage": signal.advantage,
                "model_free": signal.model_free,
            },
            severity=Severity.INFO if confirmed or rows < _MANY_ROWS else Severity.WARNING,
        )


@rule("T084", "gradients-explode", Severity.WARNING)
def gradients_explode(drawn: Drawn) -> Iterator[Finding]:
    """The gradient of the first batch is huge.

    Why it matters:
        With a usual learning rate the first step moves the weights so far that the loss becomes NaN or stays high.

    Example:
        Inputs or targets in the thousands that were not scaled.

    Fix:
        Scale inputs and targets; or clip: `keras.optimizers.Adam(clipnorm=1.0)`.
    """
    signal = drawn.signal
    if signal is None or signal.bad_step == 0:
        return
    if signal.gradient_norm is None:
        yield gradients_explode.finding(
            "The gradient of the first batch is no number, though the loss is one.", severity=Severity.ERROR
        )
    elif signal.gradient_norm > 1e6:
        yield gradients_explode.finding(f"The gradient of the first batch has a length of {signal.gradient_norm:.2g}.")


TRAINING_RULES = (
    input_slower_than_model,
    loss_not_a_number,
    gradients_zero,
    cannot_learn_one_batch,
    labels_without_signal,
    gradients_explode,
)
