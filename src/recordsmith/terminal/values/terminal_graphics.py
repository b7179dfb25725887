r"""Images on terminals that can show them, and which can, as far as the environment says.

    kitty     the graphics protocol of kitty and Ghostty: PNG in base64, in pieces of 4,096 characters
    iterm2    the inline images of iTerm2, WezTerm and Konsole: PNG in base64, in one piece
    sixel     that of foot, mlterm and others: six rows of pixels at a time, in printable characters
    blocks    everywhere else: "▀" with the upper pixel as its colour and the lower one behind it

Inside tmux and screen only blocks are sure to arrive.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.color import Color
from rich.segment import ControlType, Segment
from rich.style import Style

from recordsmith.images.png import png_bytes

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

__all__ = ["TerminalImage", "graphics_of"]

Pixels = np.ndarray[Any, Any]
_PIECE = 4096
_CELL = (10, 20)  # pixels of a character, if not known: what counts is that it is half as wide as high


def graphics_of(environment: Mapping[str, str]) -> str | None:
    """Tell which protocol a terminal understands; None: none that can be relied on.

    >>> graphics_of({"TERM": "xterm-kitty"}), graphics_of({"TERM_PROGRAM": "iTerm.app"}), graphics_of({"TERM": "foot"})
    ('kitty', 'iterm2', 'sixel')
    >>> graphics_of({"TERM": "xterm-256color"}) is None
    True
    """
    terminal, program = environment.get("TERM", ""), environment.get("TERM_PROGRAM", "")
    if environment.get("TMUX") or terminal.startswith(("screen", "tmux")):
        return None
    if "kitty" in terminal or "KITTY_WINDOW_ID" in environment or program == "ghostty":
        return "kitty"
    if program in {"iTerm.app", "WezTerm"} or environment.get("LC_TERMINAL") == "iTerm2":
        return "iterm2"
    if "KONSOLE_VERSION" in environment:
        return "iterm2"
    if terminal.startswith(("foot", "mlterm", "yaft")) or "sixel" in terminal:
        return "sixel"
    return None


class TerminalImage:
    """An image as large as so many characters at most, in one of the four ways.

    It is indented by itself: rich's own padding fills lines up with spaces, which would go over what a terminal has
    just drawn.
    """

    def __init__(self, pixels: Pixels, way: str, *, columns: int, rows: int, indent: int = 0) -> None:
        self._pixels = _in_colour(pixels)
        self._way = way
        self._indent = Segment(" " * indent)
        height, width = self._pixels.shape[:2]
        scale = min(columns / width, 2 * rows / height)  # a character is about twice as high as it is wide
        self._columns = max(1, min(columns, round(width * scale)))
        self._rows = max(1, min(rows, math.ceil(height * scale / 2)))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self._way == "blocks":
            for line in half_blocks(_resized(self._pixels, self._columns, 2 * self._rows)):
                yield from [self._indent, *line, Segment.line()]
            return
        pixels = _resized(self._pixels, self._columns * _CELL[0], self._rows * _CELL[1])
        yield self._indent
        if self._way == "kitty":
            # C=1 leaves the cursor where it is, so that the lines below are ours to count.
            yield _control(kitty_sequence(pixels, self._columns, self._rows))
            yield from [Segment.line()] * self._rows
        else:
            iterm2 = self._way == "iterm2"
            yield _control(iterm2_sequence(pixels, self._columns, self._rows) if iterm2 else sixel_sequence(pixels))
            yield Segment.line()


def kitty_sequence(pixels: Pixels, columns: int, rows: int) -> str:
    """Return what shows an image in kitty."""
    data = base64.b64encode(png_bytes(pixels)).decode()
    pieces = [data[start : start + _PIECE] for start in range(0, len(data), _PIECE)]
    sequence = []
    for number, piece in enumerate(pieces):
        settings = f"a=T,f=100,c={columns},r={rows},C=1," if number == 0 else ""
        sequence.append(f"\x1b_G{settings}m={int(number + 1 < len(pieces))};{piece}\x1b\\")
    return "".join(sequence)


def iterm2_sequence(pixels: Pixels, columns: int, rows: int) -> str:
    """Return what shows an image in iTerm2."""
    data = png_bytes(pixels)
    settings = f"inline=1;size={len(data)};width={columns};height={rows};preserveAspectRatio=1"
    return f"\x1b]1337;File={settings}:{base64.b64encode(data).decode()}\x07"


def sixel_sequence(pixels: Pixels) -> str:
    r"""Return what shows an image in sixels, in 216 colours.

    >>> sixel_sequence(np.zeros((1, 1, 3), np.uint8))
    '\x1bPq"1;1;1;1#0;2;0;0;0#0@$-\x1b\\'
    """
    height, width = pixels.shape[:2]
    levels = np.rint(pixels.astype(np.float64) / 255 * 5).astype(np.int64)
    colours = levels[:, :, 0] * 36 + levels[:, :, 1] * 6 + levels[:, :, 2]
    parts = [f'\x1bPq"1;1;{width};{height}']
    for colour in np.unique(colours).tolist():
        red, green, blue = (20 * level for level in (colour // 36, colour // 6 % 6, colour % 6))
        parts.append(f"#{colour};2;{red};{green};{blue}")
    for top in range(0, height, 6):
        band = colours[top : top + 6]
        weights = (1 << np.arange(len(band)))[:, None]
        for colour in np.unique(band).tolist():
            bits = ((band == colour) * weights).sum(0)
            parts.append(f"#{colour}{_run_lengths(bits)}$")
        parts.append("-")
    return "".join([*parts, "\x1b\\"])


def half_blocks(pixels: Pixels) -> list[list[Segment]]:
    """Return lines of characters that are two pixels each; the number of rows is even.

    >>> [[segment.text for segment in line] for line in half_blocks(np.zeros((2, 3, 3), np.uint8))]
    [['▀', '▀', '▀']]
    """
    return [
        [
            Segment("▀", Style(color=Color.from_rgb(*upper), bgcolor=Color.from_rgb(*lower)))
            for upper, lower in zip(pixels[top].tolist(), pixels[top + 1].tolist(), strict=True)
        ]
        for top in range(0, len(pixels) - 1, 2)
    ]


def _control(sequence: str) -> Segment:
    """What a terminal takes as a command: it has no width, and goes to terminals alone."""
    return Segment(sequence, None, [(ControlType.CURSOR_FORWARD, 0)])


def _in_colour(pixels: Pixels) -> Pixels:
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    if pixels.shape[2] == 4:  # on white, as paper
        alpha = pixels[:, :, 3:].astype(np.float64) / 255
        return np.asarray(pixels[:, :, :3] * alpha + 255 * (1 - alpha), np.uint8)
    return np.repeat(pixels[:, :, :1], 3, axis=2) if pixels.shape[2] < 3 else pixels[:, :, :3]


def _resized(pixels: Pixels, width: int, height: int) -> Pixels:
    """Resize by the means of the areas that fall together; what grows is repeated."""
    # Of a large image a few pixels for each that is shown are enough, and take little memory.
    pixels = pixels[:: max(1, pixels.shape[0] // (4 * height)), :: max(1, pixels.shape[1] // (4 * width))]
    for axis, size in ((0, height), (1, width)):
        edges = np.linspace(0, pixels.shape[axis], size + 1)
        starts = np.minimum(edges[:-1].astype(np.int64), pixels.shape[axis] - 1)
        ends = np.maximum(edges[1:].astype(np.int64), starts + 1)
        sums = np.concatenate(
            [np.zeros_like(pixels.take([0], axis), np.float64), pixels.cumsum(axis, np.float64)], axis
        )
        shape = [1, 1, 1]
        shape[axis] = size
        pixels = (sums.take(ends, axis) - sums.take(starts, axis)) / (ends - starts).reshape(shape)
    return np.asarray(np.rint(pixels), np.uint8)


def _run_lengths(bits: Pixels) -> str:
    """Write columns of six pixels as characters, and equal neighbours as their number and one of them."""
    changes = np.flatnonzero(np.diff(bits)) + 1
    starts = [0, *changes.tolist()]
    ends = [*changes.tolist(), len(bits)]
    written = []
    for start, end in zip(starts, ends, strict=True):
        char = chr(63 + int(bits[start]))
        written.append(char * (end - start) if end - start < 4 else f"!{end - start}{char}")
    return "".join(written)
