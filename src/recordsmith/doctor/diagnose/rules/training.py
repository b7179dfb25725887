"""Rules on training: how fast it is fed, and what a copy of the model learns."""

from __future__ import annotations

from collections.abc import Iterator

from recordsmith.doctor.diagnose.observing.observations import Observations
from recordsmith.rules import Finding, Severity, rule

__all__ = ["TRAINING_RULES"]

_MANY_ROWS = 4000


@rule("T070", "input-slower-than-model", Severity.INFO)
def input_slower_than_model(observed: Observations) -> Iterator[Finding]:
    """A batch takes longer to arrive than a training step takes.

    Why it matters:
        The model waits for data. A faster GPU would change nothing.

    Example:
        Large images are decoded one by one for a small model.

    Fix:
        Work on several rows at once (`num_parallel_calls=tf.data.AUTOTUNE`), `.cache()` what never changes,
        `.prefetch()`, store images in the size in which they are used.
    """
    signal = observed.signal
    wait = observed.epochs[0].seconds_per_batch if observed.epochs else None
    if signal is None or signal.seconds_per_step is None or wait is None or observed.epochs[0].batches < 4:
        return
    if wait > 2 * signal.seconds_per_step and wait > 0.005:
        stage = f" Most of it is spent in {observed.slowest}." if observed.slowest else ""
        yield input_slower_than_model.finding(
            f"A batch takes {wait * 1000:.0f} ms to arrive, and a training step {signal.seconds_per_step * 1000:.0f} "
            f"ms: the input is the bottleneck.{stage}"
        )


@rule("T080", "loss-not-a-number", Severity.ERROR)
def loss_not_a_number(observed: Observations) -> Iterator[Finding]:
    """The loss became NaN or infinite within a few steps on one batch.

    Why it matters:
        From then on every weight is NaN.

    Example:
        Inputs that are far too large; a logarithm of 0 in a custom loss.

    Fix:
        Check the values of the inputs first; then try a smaller learning rate, or clip the gradients.
    """
    signal = observed.signal
    if signal is not None and signal.bad_step is not None:
        when = "already before training" if signal.bad_step == 0 else f"after {signal.bad_step} steps"
        yield loss_not_a_number.finding(f"The loss is NaN or infinite {when} on the first batch.")


@rule("T081", "gradients-zero", Severity.ERROR)
def gradients_zero(observed: Observations) -> Iterator[Finding]:
    """No weight gets a gradient: all gradients are exactly zero or missing.

    Why it matters:
        The weights never change, however long training takes.

    Example:
        An argmax or a rounding between the weights and the loss; all units of a ReLU layer dead; a softmax over one
        unit.

    Fix:
        Follow the gradient back from the loss to find where it is lost.
    """
    signal = observed.signal
    if signal is None or not signal.gradients or signal.bad_step is not None:
        return
    if signal.zero_gradients == signal.gradients:
        yield gradients_zero.finding(
            f"All {signal.gradients} weights have a gradient of zero, or none, on the first batch."
        )


@rule("T082", "cannot-learn-one-batch", Severity.WARNING)
def cannot_learn_one_batch(observed: Observations) -> Iterator[Finding]:
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
    signal = observed.signal
    if signal is None or signal.bad_step is not None or signal.steps < 100:
        return
    guess = signal.guess_loss
    if guess is not None and guess > 1e-3 and signal.best_loss > 0.95 * guess:
        blind = observed.model is not None and observed.model.output is not None and not observed.model.output.varies
        yield cannot_learn_one_batch.finding(
            f"After {signal.steps} steps on one batch the loss is {signal.best_loss:.4g}; always predicting the same "
            f"gives {guess:.4g}.{' The outputs do not depend on the inputs at all.' if blind else ''}",
            evidence={"first": signal.first_loss, "best": signal.best_loss, "guess": guess},
            severity=Severity.WARNING if blind else Severity.INFO,
        )


@rule("T083", "labels-without-signal", Severity.WARNING)
def labels_without_signal(observed: Observations) -> Iterator[Finding]:
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
    signal = observed.signal
    if signal is None or not signal.kept_apart or signal.control_steps < 100 or signal.model_free is None:
        return
    if signal.advantage < 2 and signal.model_free < 2.5:
        records, rows = observed.records, observed.order.rows if observed.order is not None else 0
        confirmed = records is not None and records.compared > 0 and records.agree >= 0.98 * records.compared
        yield labels_without_signal.finding(
            f"On {signal.kept_apart} held-out rows, the loss is {signal.true_loss:.4g} after training on the true "
            f"labels and {signal.permuted_loss:.4g} after training on shuffled ones ({signal.control_steps} steps "
            "each): the labels seem to have nothing to do with the inputs.",
            evidence={
                "true": signal.true_loss,
                "permuted": signal.permuted_loss,
                "advantage": signal.advantage,
                "model_free": signal.model_free,
            },
            severity=Severity.INFO if confirmed or rows < _MANY_ROWS else Severity.WARNING,
        )


@rule("T084", "gradients-explode", Severity.WARNING)
def gradients_explode(observed: Observations) -> Iterator[Finding]:
    """The gradient of the first batch is huge.

    Why it matters:
        With a usual learning rate the first step moves the weights so far that the loss becomes NaN or stays high.

    Example:
        Inputs or targets in the thousands that were not scaled.

    Fix:
        Scale inputs and targets; or clip: `keras.optimizers.Adam(clipnorm=1.0)`.
    """
    signal = observed.signal
    if signal is None or signal.bad_step == 0:
        return
    if signal.gradient_norm is None:
        yield gradients_explode.finding(
            "The gradient of the first batch is NaN or infinite, although the loss is finite.", severity=Severity.ERROR
        )
    elif signal.gradient_norm > 1e6:
        yield gradients_explode.finding(f"The gradient of the first batch has a norm of {signal.gradient_norm:.2g}.")


@rule("T085", "last-batch-of-one-row", Severity.WARNING)
def last_batch_of_one(observed: Observations) -> Iterator[Finding]:
    """The last batch of an epoch has one row, and the model has a BatchNorm1d.

    Why it matters:
        PyTorch stops at the end of the first epoch: "Expected more than 1 value per channel when training".

    Example:
        257 rows in batches of 32.

    Fix:
        `DataLoader(..., drop_last=True)` for the training data.
    """
    model, sizes = observed.model, observed.batch_sizes
    if model is None or not model.batch_norm or observed.last_batch != 1 or not sizes or max(sizes) < 2:
        return
    yield last_batch_of_one.finding(
        f"The last batch of the epoch has one row, and the layer {model.batch_norm!r} (BatchNorm1d) cannot be trained "
        "on one row.",
        corrected="DataLoader(..., drop_last=True)",
    )


@rule("T087", "optimizer-of-other-weights", Severity.WARNING)
def optimizer_of_other_weights(observed: Observations) -> Iterator[Finding]:
    """The optimizer of the program has the weights of another model, which does not exist any more.

    An optimizer of PyTorch is looked for whose weights have the same shapes as those of this model and belong to no
    module.

    Why it matters:
        `optimizer.step()` changes weights that nobody uses: the loss stays where it is.

    Example:
        The model is made again, or loaded, after its optimizer was made.

    Fix:
        Make the optimizer last: `torch.optim.Adam(model.parameters())`.
    """
    model = observed.model
    if model is not None and model.learnt and model.other_optimizer:
        yield optimizer_of_other_weights.finding(
            "The optimizer has the weights of an earlier model, and none of this one: training does not change it.",
            corrected="optimizer = torch.optim.Adam(model.parameters())",
        )


@rule("T088", "learning-rate", Severity.WARNING)
def learning_rate(observed: Observations) -> Iterator[Finding]:
    """The learning rate is so large that the loss of a single batch rises, or it is 0.

    A learning rate of Adam from 0.03 is tried: a copy is trained with it for 60 steps on the first batch.

    Why it matters:
        Each step jumps over what was learned before; with 0 nothing changes.

    Example:
        `keras.optimizers.Adam(10)`; a schedule whose first value is 0.

    Fix:
        Begin with 0.001 for Adam, 0.01 for SGD.
    """
    model, signal = observed.model, observed.signal
    if model is None or model.learning_rate is None:
        return
    if model.learning_rate == 0:
        yield learning_rate.finding(f"The learning rate of {model.optimizer} is 0: nothing is learned.")
    elif signal is not None and signal.rate_loss is not None and signal.rate_loss > 1.5 * signal.first_loss:
        yield learning_rate.finding(
            f"The learning rate of {model.optimizer} is {model.learning_rate:g}: after 60 steps on one batch the loss "
            f"is {signal.rate_loss:.4g}, and it was {signal.first_loss:.4g} before. It is too large.",
            corrected=f"{model.optimizer}(0.001)",
        )


@rule("T089", "evaluation-mode", Severity.INFO)
def evaluation_mode(observed: Observations) -> Iterator[Finding]:
    """The PyTorch module is in evaluation mode, and has layers that work differently in training.

    Why it matters:
        If the training loop does not call `model.train()`, dropout is off and batch normalisation keeps its initial
        statistics.

    Example:
        A validation function calls `model.eval()`, and nothing calls `model.train()` afterwards.

    Fix:
        Call `model.train()` at the beginning of each epoch. Nothing, if the loop does.
    """
    if observed.model is not None and observed.model.evaluating:
        yield evaluation_mode.finding(
            "The model is in eval mode: dropout and batch normalisation do not work as in training unless the loop "
            "calls model.train().",
            corrected="model.train()",
        )


TRAINING_RULES = (
    input_slower_than_model,
    loss_not_a_number,
    gradients_zero,
    cannot_learn_one_batch,
    labels_without_signal,
    gradients_explode,
    last_batch_of_one,
    optimizer_of_other_weights,
    learning_rate,
    evaluation_mode,
)
