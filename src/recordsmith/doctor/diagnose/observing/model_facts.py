"""What is known of a model: what it expects, what it answers, its loss, and what training a copy of it showed."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "FirstLayerFacts",
    "InputSpec",
    "LossFacts",
    "ModelFacts",
    "OutputFacts",
    "SignalFacts",
]


@dataclass(frozen=True, slots=True)
class InputSpec:
    """An input as the model declares it; shape with its batch dimension, None where it is free."""

    name: str
    shape: tuple[int | None, ...]
    dtype: str = "float32"


@dataclass(frozen=True, slots=True)
class OutputFacts:
    """What the model answered to the first batch.

    Attributes:
        shape: of the answer, the batch dimension first.
        min, max: of its values.
        sums_to_one: the values of each row are parts of 1.
        logarithms: they are logarithms of such parts.
        finite: all are numbers.
        varies: different rows have different answers.

    >>> OutputFacts((32, 10), 0.0, 1.0, sums_to_one=True).units
    10
    """

    shape: tuple[int, ...]
    min: float
    max: float
    sums_to_one: bool = False
    logarithms: bool = False
    finite: bool = True
    varies: bool = True

    @property
    def units(self) -> int:
        """How many values an answer has."""
        return self.shape[-1] if len(self.shape) > 1 else 1


@dataclass(frozen=True, slots=True)
class LossFacts:
    """A loss.

    Attributes:
        name: its name as it is written in code.
        kind: "sparse-categorical" (a class by its number), "categorical" (one-hot), "binary", "regression", "other".
        from_logits: it takes raw scores; None where that makes no difference or is not known.
        takes_logarithms: it takes logarithms of probabilities.
        ignored: the label that it leaves out; None without one.
    """

    name: str
    kind: str
    from_logits: bool | None = None
    takes_logarithms: bool = False
    ignored: int | None = None


@dataclass(frozen=True, slots=True)
class FirstLayerFacts:
    """The first layer with weights to be learned, and the values that reach it.

    Attributes:
        name: the layer.
        kind: "linear" (dense and convolution), "embedding", "normalising", "other".
        min, max, deviation: of what reaches it.
        largest_spread: as for columns.
        entries: for an embedding, how many rows its table has.
    """

    name: str
    kind: str
    min: float
    max: float
    deviation: float = 0.0
    largest_spread: float = 0.0
    entries: int | None = None


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What can be known of a model.

    Attributes:
        framework: "keras" or "torch".
        inputs: what it declares to take; empty where it declares nothing.
        output_shape: as it declares it; None where it does not.
        activation: that of its last layer, such as "softmax"; empty where it is not known.
        loss: its loss; None where none is known.
        refusal: what the model said when it was given the first batch; empty if it took it.
        loss_refusal: what the loss said.
        pairs_rows: the loss is another one if targets change places: each is compared with its own row.
        output: what it answered.
        first_layer: the first layer with weights that saw values.
        embeddings: every embedding that saw ids.
        normalises: it has a layer that normalises what passes through.
        own_training: it brings its own train_step, so that targets and losses may be anything.
        weights, learnt: how many weights it has, and how many of them are to be learned.
        time_first: a layer that takes (time, rows, values) and was given (rows, time, values); empty without one.
        batch_norm: its first layer of batch normalisation that needs several rows, where it has one.
        pretrained: the name of a well-known network in it whose weights are trained; empty without one.
        other_optimizer: the program has no optimizer of this model, but one of weights of the same shapes whose model
            does not exist any more.
        evaluating: a PyTorch module with dropout or batch normalisation that is in evaluation mode.
        halving_metrics: the metrics of a Keras model that count outputs above 0.5 as class 1.
        optimizer: the type of the optimizer that trains it; empty where it is not known.
        learning_rate: that of the optimizer.
    """

    framework: str
    inputs: tuple[InputSpec, ...] = ()
    output_shape: tuple[int | None, ...] | None = None
    activation: str = ""
    loss: LossFacts | None = None
    refusal: str = ""
    loss_refusal: str = ""
    pairs_rows: bool = False
    output: OutputFacts | None = None
    first_layer: FirstLayerFacts | None = None
    embeddings: tuple[FirstLayerFacts, ...] = ()
    normalises: bool = False
    own_training: bool = False
    weights: int = 0
    learnt: int = 0
    time_first: str = ""
    batch_norm: str = ""
    pretrained: str = ""
    other_optimizer: bool = False
    evaluating: bool = False
    halving_metrics: tuple[str, ...] = ()
    optimizer: str = ""
    learning_rate: float | None = None

    @property
    def units(self) -> int | None:
        """How many values an answer has; None where it is not known."""
        if self.output is not None:
            by_place = self.loss is not None and self.loss.kind == "sparse-categorical" and len(self.output.shape) > 2
            classes_second = self.framework == "torch" and by_place  # (rows, classes, places)
            return self.output.shape[1] if classes_second else self.output.units
        return None if self.output_shape is None else self.output_shape[-1]


@dataclass(frozen=True, slots=True)
class SignalFacts:
    """What training a copy of the model showed.

    Attributes:
        steps: how many steps were taken on one batch.
        first_loss: of that batch before training.
        best_loss: the least that was reached.
        guess_loss: what a model that always answers the same would reach; None where it is not known.
        bad_step: the step at which the loss became NaN or infinite; None if it never did.
        gradient_norm: of all weights together, at the first step; None where it is not finite.
        gradients: how many weights could be learned.
        zero_gradients: how many of them had a gradient of zero, or none at all, in every position.
        true_loss, permuted_loss: on held-out rows, after training on the true and on permuted labels.
        kept_apart: how many rows those are; 0 where this was not tried.
        advantage: how clearly true labels win: the mean difference over the rows in standard errors.
        model_free: by how many deviations a simple guess from the inputs beats chance; None where it was not tried.
        control_steps: how many steps each was trained.
        seconds_per_step: what a step of training takes.
        rate_loss: the loss after some steps at the learning rate of the optimizer; None where this was not tried.
    """

    steps: int = 0
    first_loss: float = 0.0
    best_loss: float = 0.0
    guess_loss: float | None = None
    bad_step: int | None = None
    gradient_norm: float | None = 0.0
    gradients: int = 0
    zero_gradients: int = 0
    true_loss: float = 0.0
    permuted_loss: float = 0.0
    kept_apart: int = 0
    advantage: float = 0.0
    model_free: float | None = None
    control_steps: int = 0
    seconds_per_step: float | None = None
    rate_loss: float | None = None
