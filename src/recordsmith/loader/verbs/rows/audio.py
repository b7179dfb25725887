"""audio: encoded sounds become arrays of samples, resampled and mixed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from recordsmith.audio import AudioError, decode_audio
from recordsmith.errors import PipelineError, list_names
from recordsmith.loader.engine.encoded_values import encoded_bytes, undecodable
from recordsmith.loader.engine.row_access import RowValues
from recordsmith.loader.plan import Plan, RowChange, Rows
from recordsmith.loader.verbs.arguments import check_whole_number, verb
from recordsmith.loader.verbs.chain import Chain, LoaderT
from recordsmith.schema import Audio, Bytes, Tensor

__all__ = ["AudioVerb"]


@dataclass(frozen=True)
class SoundsDecoded(RowChange):
    """Turns a column of encoded sounds into arrays of samples."""

    feature: str
    rate: int | None
    channels: int | None
    heavy = True

    def apply(self, rows: Rows) -> Rows:
        """Return the rows with arrays."""
        column = rows.columns[self.feature]
        decoded = RowValues()
        for row in range(len(rows)):
            try:
                data = encoded_bytes(column, row, "sound", AudioError)
                samples = decode_audio(data.tobytes(), rate=self.rate, channels=self.channels)
            except AudioError as error:
                raise undecodable(error, self.feature, int(rows.numbers[row])) from None
            decoded.append(samples[:, 0] if self.channels == 1 else samples)
        rows.columns = {**rows.columns, self.feature: decoded}
        return rows


class AudioVerb(Chain[LoaderT]):
    """Gives a chain the method `audio`."""

    @verb
    def audio(self, rate: int | None = None, *, channels: int | None = None, feature: str | None = None) -> LoaderT:
        """Decode sounds to float32 samples from -1 to 1. Needs the extra "audio".

        A row has an array of shape (samples,) for one channel, and (samples, channels) for several. A batch of rows of
        different length is an `rs.Ragged`; `.padded_batch(n)` makes one array of it. A sound that cannot be decoded is
        an error that names the record.

        Args:
            rate: resample to this number of samples per second; None keeps the rate of each sound.
            channels: 1 averages all channels; None uses that of the schema, or keeps those of each sound.
            feature: the feature with the sounds; None: the only `rs.Audio` of the schema.
        """
        plan = self.plan
        plan.before_batching("audio", "decode whole batches. Decode first: .audio(...).padded_batch(n).")
        name = _the_feature(plan) if feature is None else feature
        kind = plan.feature(name, "audio")
        if plan.has(f"decoded {name}"):
            raise PipelineError(f"The sounds of {name!r} are decoded already.", advice="One .audio() is enough.")
        if kind is not None and not (isinstance(kind, Audio) or (isinstance(kind, Bytes) and not kind.shape)):
            raise PipelineError(
                f"audio needs encoded sounds, and {name!r} has none.",
                feature=name,
                found=repr(kind),
                expected="an Audio or a Bytes feature",
            )
        for what, number in (("The rate", rate), ("The number of channels", channels)):
            if number is not None:
                check_whole_number(what, number, least=1)
        declared = kind if isinstance(kind, Audio) else Audio()
        depth = declared.channels if channels is None else int(channels)
        shape = (None,) if depth == 1 else (None, depth)
        features = None if plan.features is None else {**plan.features, name: Tensor(np.float32, shape)}
        settings = {"feature": name, "rate": rate, "channels": depth}
        change = SoundsDecoded(name, None if rate is None else int(rate), depth)
        return self._then(
            replace(
                plan.then("audio", settings, features=features, known=plan.known | {f"decoded {name}"}),
                changes=(*plan.changes, change),
            )
        )


def _the_feature(plan: Plan) -> str:
    """Return the one feature of sounds."""
    if plan.features is None:
        raise PipelineError(
            "The features after .map() are not known.", advice="Name the sounds: .audio(feature='audio')."
        )
    sounds = [name for name, feature in plan.features.items() if isinstance(feature, Audio)]
    if len(sounds) == 1:
        return sounds[0]
    if sounds:
        raise PipelineError(
            "There are several features of sounds.",
            expected=list_names(sounds),
            advice=f"Choose one: .audio(feature={sounds[0]!r}). To decode several, write .audio() for each.",
        )
    encoded: list[Any] = [name for name, its in plan.features.items() if isinstance(its, Bytes) and not its.shape]
    advice = "Declare it in the schema: rs.Audio()."
    if encoded:
        advice = f"Name the feature that contains encoded sounds: .audio(feature={encoded[0]!r})."
    raise PipelineError("There is no feature of sounds.", found=list_names(plan.features), advice=advice)
