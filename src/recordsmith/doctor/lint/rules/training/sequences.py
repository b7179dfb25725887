"""Rules on sequences: every time step against one target, and word numbers of another tokenizer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recordsmith.doctor.lint.interpreter.values import Call, Item, Literal, walk
from recordsmith.doctor.lint.libraries.labels import targets_of
from recordsmith.doctor.lint.libraries.models import CompiledModel
from recordsmith.doctor.lint.libraries.ranks import is_column
from recordsmith.doctor.lint.program import Program
from recordsmith.rules import Finding, Severity, rule

__all__ = ["SEQUENCE_RULES"]

_RECURRENT = re.compile(r"keras\.layers\.(LSTM|GRU|SimpleRNN|CuDNNLSTM|CuDNNGRU)")
_KEEPS_STEPS = re.compile(
    r"keras\.layers\.(Dense|Dropout|TimeDistributed|BatchNormalization|LayerNormalization|Activation|ReLU|LeakyReLU"
    r"|SpatialDropout1D|Embedding|Masking|GaussianNoise)"
)
_STARTS = ("keras.Input", "keras.layers.Input", "keras.layers.InputLayer")


@rule("P288", "every-step-against-one-target", Severity.ERROR)
def every_step_against_one_target(program: Program) -> Iterator[Finding]:
    """The model gives an answer for every time step, and there is one target for the whole sequence.

    Why it matters:
        With `return_sequences=True` in the last recurrent layer, `Dense` is applied to each step. The loss then
        compares all steps with the one target, or with those of other rows: the model learns a mean.

    Example:
        `LSTM(32, return_sequences=True)`, `Dense(1)`, trained on targets of the shape (n, 1).

    Fix:
        Leave `return_sequences=True` out of the last recurrent layer.
    """
    for model in program.models:
        recurrent = _last_recurrent(model)
        if recurrent is None or model.loss == "categorical":
            continue
        for target, labels in targets_of(model):
            if is_column(target) or (labels is not None and labels.kind == "binary"):
                yield program.finding(
                    every_step_against_one_target,
                    recurrent.expression,
                    "This layer returns every time step, so the model gives an answer for each of them, and there is "
                    "one target for the whole sequence.",
                    advice="Leave out `return_sequences=True` here.",
                )
                break


def _last_recurrent(model: CompiledModel) -> Call | None:
    """The recurrent layer whose steps all reach the output; None if there is none, or nobody knows."""
    found: Call | None = None
    for layer in model.layers or ():
        inner = layer.argument(0, "layer") if layer.name == "keras.layers.Bidirectional" else layer
        if isinstance(inner, Call) and _RECURRENT.fullmatch(inner.name):
            returns = inner.argument(None, "return_sequences")
            if returns is not None and not isinstance(returns, Literal):
                return None
            found = inner if isinstance(returns, Literal) and returns.value else None
        elif layer.name not in _STARTS and not _KEEPS_STEPS.fullmatch(layer.name):
            found = None
    return found


@rule("P289", "embedding-of-other-words", Severity.ERROR)
def embedding_of_other_words(program: Program) -> Iterator[Finding]:
    """The rows of an embedding are filled by the word numbers of another tokenizer than the texts have.

    Why it matters:
        Each tokenizer numbers words by how often it met them. With the numbers of another one, every word gets the
        vector of some other word: the pretrained embedding is noise.

    Example:
        `x = tokenizer.texts_to_sequences(texts)`, and `for word, i in other.word_index.items(): matrix[i] = ...`

    Fix:
        Fill the matrix by `tokenizer.word_index`, of the tokenizer that made the inputs.
    """
    used = {
        id(one.receiver): one.receiver for one in program.calls if one.name == ".texts_to_sequences" and one.receiver
    }
    if not all(isinstance(one, Call) and one.name.endswith(".Tokenizer") for one in used.values()):
        return  # one that was loaded from a file may be the same
    embeddings = [one for one in program.calls if one.name == "keras.layers.Embedding"]
    for call in program.calls:
        if call.name != ".__setitem__" or call.receiver is None or not used:
            continue
        makers = [
            one.base
            for one in walk(call.args[0], 40)
            if isinstance(one, Item) and isinstance(one.index, Literal) and one.index.value == "word_index"
        ]
        known = [one for one in makers if isinstance(one, Call) and one.name.endswith(".Tokenizer")]
        fills = any(part is call.receiver for one in embeddings for part in walk(one, 60))
        if known and fills and not any(id(one) in used for one in known):
            yield program.finding(
                embedding_of_other_words,
                call.expression,
                "The rows of the embedding are filled by the word numbers of another tokenizer than the one that "
                "numbers the texts: every word gets the vector of another word.",
            )
            return


SEQUENCE_RULES = [every_step_against_one_target, embedding_of_other_words]
