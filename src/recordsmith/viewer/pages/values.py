"""Values of records as HTML: as a preview on a card, and in full on the page of a record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import urlencode

import numpy as np

from recordsmith.columns import SparseRow
from recordsmith.images import ImageHeader, read_header
from recordsmith.schema import Feature
from recordsmith.viewer.data.class_colours import ClassColours
from recordsmith.viewer.data.media import playable, raw_pixels, square_side
from recordsmith.viewer.pages.annotations import Overlay, is_box_name, overlay_markup, overlay_of
from recordsmith.viewer.pages.plots import envelope, plot
from recordsmith.viewer.pages.value_text import as_text, hex_dump, one_line
from recordsmith.wording.markup import Markup, element, joined
from recordsmith.wording.numbers import bytes_text, count_text, number_text
from recordsmith.wording.visible_text import clipped, printable_lines

__all__ = ["Preview", "ValueRenderer", "address"]

_FEWEST_PLOTTED = 16
_LONGEST_TEXT = 20_000  # characters of a text on the page of a record
_MOST_NUMBERS = 400
_MOST_FRAMES = 2_000
_MOST_ITEMS = 24  # of a list of images or strings that are shown in full
_SOUND_NAMES = ("audio", "waveform", "wave", "speech", "sound", "pcm")
_RATES = ("sample_rate", "sampling_rate", "audio/sample_rate", "rate")
_USUAL_RATE = 16_000
_SMALLEST_SOUND = 2_000  # numbers

Names = Mapping[str, Sequence[str]]


def address(url: str) -> Markup:
    """Return a URL, or a name for our own script, as the value of an attribute; it is never cut, as text would be."""
    return Markup("".join(one if one.isprintable() or one == "\n" else f"&#x{ord(one):x};" for one in escape(url)))


@dataclass(frozen=True, slots=True)
class Preview:
    """The feature that a card shows large, how, and which features that already tells."""

    feature: str
    markup: Markup
    told: frozenset[str] = frozenset()


class ValueRenderer:
    """Renders the values of records of one dataset.

    Args:
        base: where the dataset is on the server, such as /d/0.
        names: the class names of the features that are labels.
        colours: of the classes.
        types: the types of the features.
    """

    def __init__(
        self, base: str, names: Names, colours: ClassColours, types: Mapping[str, Feature | None] | None = None
    ) -> None:
        self._types = types or {}
        self._base = base
        self._colours = colours
        self._names = names

    def media_url(self, number: int, feature: str, **options: str | int) -> Markup:
        """Return the address of an image or a sound of a record."""
        query = urlencode({"f": feature, **options}, errors="surrogateescape")
        return address(f"{self._base}/media/{number}?{query}")

    # --- a card ---

    def preview(self, number: int, values: Mapping[str, Any], side: int) -> Preview | None:
        """Return what shows a record best: an image, frames, a sound, numbers as an image or a plot, or a text."""
        for show in (self._image, self._frames, self._played, self._array, self._text):
            for name, value in values.items():
                found = show(number, name, value, values, side)
                if found is not None:
                    return found
        return None

    def _image(self, number: int, name: str, value: Any, values: Mapping[str, Any], side: int) -> Preview | None:
        if not isinstance(value, bytes):
            return None
        header = read_header(value)
        if header is None or not header.height or not header.width:
            return None
        overlay = overlay_of(values, name, header.upright, self._names, self._colours, self._types)
        markup = self.image(number, name, header, overlay, side=side)
        return Preview(name, markup, overlay.features | {name})

    def image(self, number: int, name: str, header: ImageHeader, overlay: Overlay, *, side: int) -> Markup:
        """Return an image with what is drawn over it."""
        masks = [
            element(
                "img", src=self.media_url(number, feature, i=place, kind="mask"), alt="", class_="mask", loading="lazy"
            )
            for feature, place in overlay.masks
        ]
        large = side > 400
        return element(
            "span",
            element(
                "img",
                src=self.media_url(number, name, kind="image", side=side),
                alt=f"{clipped(name, 60)} of record {number}",
                loading="lazy",
                decoding="async",
                class_="pixels" if max(header.height, header.width) <= 64 else None,
            ),
            masks,
            overlay_markup(overlay, header.upright, labelled=large),
            class_="shown",
        )

    def _frames(self, number: int, name: str, value: Any, _values: Mapping[str, Any], side: int) -> Preview | None:
        if not isinstance(value, (list, np.ndarray)) or not len(value):
            return None
        first = value[0]
        if isinstance(first, bytes) and read_header(first) is not None:
            return Preview(name, self.frames(number, name, len(value), side=side), frozenset({name}))
        return None

    def frames(self, number: int, name: str, count: int, *, side: int) -> Markup:
        """Return a sequence of images with a slider to go through them."""
        return element(
            "span",
            element(
                "img",
                src=self.media_url(number, name, kind="image", side=side, i=0),
                alt=f"{clipped(name, 60)} of record {number}, frame 1 of {count}",
                loading="lazy",
                data_frames=self.media_url(number, name, kind="image", side=side),
            ),
            element(
                "input",
                type="range",
                min=0,
                max=min(count, _MOST_FRAMES) - 1,
                value=0,
                aria_label=f"Frame of {clipped(name, 60)}",
                class_="scrubber",
            )
            if count > 1
            else None,
            element("small", f"{count_text(count, 'frame')}", class_="frames"),
            class_="shown",
        )

    def _played(self, number: int, name: str, value: Any, values: Mapping[str, Any], _side: int) -> Preview | None:
        markup = self.player(number, name, value, values)
        return None if markup is None else Preview(name, markup, frozenset({name}))

    def player(self, number: int, name: str, value: Any, values: Mapping[str, Any]) -> Markup | None:
        """Return a player for a sound or a video; None for anything else."""
        if isinstance(value, bytes):
            kind = playable(value)
            if kind is None:
                return None
            tag = "video" if kind.startswith("video") else "audio"
            source = self.media_url(number, name, kind="play")
            return element("span", element(tag, src=source, controls=True, preload="metadata"), class_="shown")
        if _is_sound(name, value):
            rate = next((int(values[one]) for one in _RATES if _is_rate(values.get(one))), _USUAL_RATE)
            source = self.media_url(number, name, kind="wave", rate=rate)
            flat = np.asarray(value).reshape(-1)
            said = f"{len(flat) / rate:.1f} s" + (
                "" if any(one in values for one in _RATES) else f" at {rate:,} Hz, assumed"
            )
            player = element("audio", src=source, controls=True, preload="none")
            return element("span", envelope(flat), player, element("small", said), class_="shown sound")
        return None

    def _array(self, number: int, name: str, value: Any, values: Mapping[str, Any], _side: int) -> Preview | None:
        pixels = raw_pixels(values, name)
        value = value if pixels is None else pixels
        markup = None if self._names.get(name, ()) else self.drawing(number, name, value)
        return None if markup is None else Preview(name, markup, frozenset({name}))

    def drawing(self, number: int, name: str, value: Any) -> Markup | None:
        """Return numbers as an image or a plot; None if they are too few, or no numbers."""
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "biuf" or value.size < _FEWEST_PLOTTED:
            return None
        flat_square = value.ndim == 1 and square_side(value.size) is not None
        if flat_square or (value.ndim in (2, 3, 4) and min(value.shape[:2]) >= 4):
            said = "×".join(map(str, value.shape))
            side = square_side(value.size) if flat_square else None
            return element(
                "span",
                element(
                    "img",
                    src=self.media_url(number, name, kind="heat"),
                    alt=f"{clipped(name, 60)} of record {number} as an image",
                    loading="lazy",
                    class_="pixels",
                ),
                element("small", f"{said} as {side}×{side}" if side else said, class_="frames"),
                class_="shown",
            )
        return element("span", plot(value.reshape(-1)), class_="shown plotted")

    def _text(self, _number: int, name: str, value: Any, _values: Mapping[str, Any], _side: int) -> Preview | None:
        text = value if isinstance(value, str) else as_text(value[:2000]) if isinstance(value, bytes) else None
        names = self._names.get(name, ())
        if names and isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "iu":
            text = " ".join(names[one] if 0 <= one < len(names) else str(one) for one in value[:200].tolist())
        if text is None or len(text) < 60:
            return None
        return Preview(
            name,
            element("span", element("bdi", clipped(" ".join(text.split()), 600)), class_="excerpt"),
            frozenset({name}),
        )

    # --- the page of a record ---

    def full(self, number: int, name: str, value: Any, values: Mapping[str, Any]) -> Markup:
        """Return all of a value, as far as a page can show it."""
        names = self._names.get(name, ())
        if isinstance(value, bytes):
            return self._full_bytes(number, name, value, values)
        if isinstance(value, str):
            return _paragraph(value)
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            return self._full_numbers(number, name, value, values, names)
        if isinstance(value, (list, tuple, np.ndarray)):
            return self._full_list(number, name, list(value), values)
        if isinstance(value, SparseRow):
            pairs = zip(value.indices[:_MOST_NUMBERS].tolist(), value.values[:_MOST_NUMBERS].tolist(), strict=True)
            return element(
                "pre", ", ".join(f"{index}: {number_text(one)}" for index, one in pairs), class_="numbers-list"
            )
        if isinstance(value, dict):
            rows = [
                element("tr", element("th", clipped(str(key), 80)), element("td", self.full(number, name, inner, {})))
                for key, inner in value.items()
            ]
            return element("table", rows)
        return element(
            "p", element("bdi", one_line(value, names, 400)), self._class_number(value, names), class_="single"
        )

    def _class_number(self, value: Any, names: Sequence[str]) -> Markup | None:
        if names and isinstance(value, (int, np.integer)):
            return element("small", f" class {int(value)} of {len(names):,}")
        return None

    def _full_bytes(self, number: int, name: str, value: bytes, values: Mapping[str, Any]) -> Markup:
        header = read_header(value)
        if header is not None and header.height and header.width:
            overlay = overlay_of(values, name, header.upright, self._names, self._colours, self._types)
            said = f"{header.title}, {count_text(header.channels, 'channel')}, {bytes_text(len(value))}"
            said += f" · {overlay.reading}" if overlay.reading else ""
            shown = self.image(number, name, header, overlay, side=1024)
            return element("figure", shown, element("figcaption", said), class_="large")
        player = self.player(number, name, value, values)
        if player is not None:
            return element("figure", player, class_="large")
        text = as_text(value[:_LONGEST_TEXT])
        if text is not None:
            return _paragraph(text)
        pixels = raw_pixels(values, name)
        drawn = None if pixels is None else self.drawing(number, name, pixels)
        figure = None if drawn is None else element("figure", drawn, class_="large drawn")
        link = element(
            "a", f"Download {bytes_text(len(value))}", href=self.media_url(number, name, kind="raw"), download=True
        )
        return joined([figure, hex_dump(value, lines=16), link])

    def _full_numbers(
        self, number: int, name: str, value: np.ndarray[Any, Any], values: Mapping[str, Any], names: Sequence[str]
    ) -> Markup:
        drawn = None if names or is_box_name(name) else self.drawing(number, name, value)
        shown = self.player(number, name, value, values) or drawn
        flat = value.reshape(-1)
        texts = [
            names[one] if names and isinstance(one, int) and 0 <= one < len(names) else number_text(one)
            for one in flat[:_MOST_NUMBERS].tolist()
        ]
        more = f" … {flat.size - _MOST_NUMBERS:,} more" if flat.size > _MOST_NUMBERS else ""
        listed = element("pre", Markup(escape(", ".join(texts) + more)) if texts else "empty", class_="numbers-list")
        figure = element("figure", shown, class_="large drawn") if shown is not None else None
        if figure is None or flat.size <= 2 * _FEWEST_PLOTTED:
            return joined([figure, listed])
        return joined([figure, element("details", element("summary", f"{flat.size:,} numbers"), listed)])

    def _full_list(self, number: int, name: str, value: list[Any], values: Mapping[str, Any]) -> Markup:
        frames = self._frames(number, name, value, values, 1024)
        if frames is not None:
            return element("figure", frames.markup, class_="large")
        steps = [element("li", self._item(one, name)) for one in value[:_MOST_ITEMS]]
        more = element("li", f"{len(value) - len(steps):,} more") if len(value) > len(steps) else None
        return element("ol", steps, more, start=0, class_="items") if value else element("p", "empty", class_="absent")

    def _item(self, value: Any, name: str) -> Markup:
        text = value if isinstance(value, str) else None
        return element(
            "bdi", clipped(text, 2_000) if text is not None else one_line(value, self._names.get(name, ()), 400)
        )


def _is_sound(name: str, value: Any) -> bool:
    words = name.lower()
    return (
        isinstance(value, np.ndarray)
        and value.dtype.kind in "if"
        and value.size >= _SMALLEST_SOUND
        and any(word in words for word in _SOUND_NAMES)
    )


def _is_rate(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and 1_000 <= int(value) <= 192_000


def _paragraph(text: str) -> Markup:
    shown = printable_lines(text[:_LONGEST_TEXT])
    more = f" … {len(text) - _LONGEST_TEXT:,} more characters" if len(text) > _LONGEST_TEXT else ""
    return element("p", element("bdi", Markup(escape(shown + more))), class_="text-block")
