"""Images on terminals, read back from what is sent to them."""

from __future__ import annotations

import base64
import io
import re

import numpy as np
import pytest
from rich.console import Console

from recordsmith.images import decode_image
from recordsmith.terminal.values.terminal_graphics import (
    TerminalImage,
    graphics_of,
    iterm2_sequence,
    kitty_sequence,
    sixel_sequence,
)
from recordsmith.terminal.values.thumbnails import Thumbnails
from tests.made_reports import png

LEFT_RED_RIGHT_BLUE = np.zeros((12, 20, 3), np.uint8)
LEFT_RED_RIGHT_BLUE[:, :10, 0] = 255
LEFT_RED_RIGHT_BLUE[:, 10:, 2] = 255


@pytest.mark.parametrize(
    ("environment", "way"),
    [
        ({"TERM": "xterm-kitty"}, "kitty"),
        ({"TERM": "xterm-256color", "KITTY_WINDOW_ID": "1"}, "kitty"),
        ({"TERM": "xterm-ghostty", "TERM_PROGRAM": "ghostty"}, "kitty"),
        ({"TERM_PROGRAM": "iTerm.app", "TERM": "xterm-256color"}, "iterm2"),
        ({"TERM_PROGRAM": "WezTerm"}, "iterm2"),
        ({"LC_TERMINAL": "iTerm2"}, "iterm2"),
        ({"TERM": "foot-extra"}, "sixel"),
        ({"TERM": "mlterm"}, "sixel"),
        ({"TERM": "xterm-kitty", "TMUX": "/tmp/tmux"}, None),
        ({"TERM": "screen-256color", "TERM_PROGRAM": "iTerm.app"}, None),
        ({"TERM": "xterm-256color"}, None),
        ({"TERM": "dumb"}, None),
        ({}, None),
    ],
)
def test_terminals_are_known_by_their_environment(environment, way):
    assert graphics_of(environment) == way


def printed(image: TerminalImage, *, terminal: bool = True) -> str:
    output = io.StringIO()
    console = Console(file=output, force_terminal=terminal, color_system="truecolor" if terminal else None, width=80)
    console.print(image)
    return output.getvalue()


def test_kitty_gets_the_image_in_pieces():
    noise = np.random.default_rng(0).integers(0, 255, (60, 60, 3)).astype(np.uint8)
    pieces = re.findall(r"\x1b_G([^;]*);([^\x1b]*)\x1b\\", kitty_sequence(noise, 6, 3))
    assert len(pieces) > 2
    assert pieces[0][0] == "a=T,f=100,c=6,r=3,C=1,m=1"
    assert [settings for settings, _ in pieces[1:]] == ["m=1"] * (len(pieces) - 2) + ["m=0"]
    assert all(len(data) <= 4096 for _, data in pieces)
    assert np.array_equal(decode_image(base64.b64decode("".join(data for _, data in pieces))), noise)


def test_iterm2_gets_the_image_in_one_piece():
    match = re.fullmatch(r"\x1b\]1337;File=([^:]*):([^\x07]*)\x07", iterm2_sequence(LEFT_RED_RIGHT_BLUE, 10, 3))
    assert match is not None
    data = base64.b64decode(match[2])
    assert match[1] == f"inline=1;size={len(data)};width=10;height=3;preserveAspectRatio=1"
    assert np.array_equal(decode_image(data), LEFT_RED_RIGHT_BLUE)


def sixels(sequence: str) -> np.ndarray:
    """What a terminal would draw."""
    head = re.match(r'\x1bPq"1;1;(\d+);(\d+)', sequence)
    assert head is not None
    assert sequence.endswith("\x1b\\")
    width, height = int(head[1]), int(head[2])
    drawn = np.full((height + 6, width, 3), -1)
    colours: dict[int, list[int]] = {}
    colour, x, top = 0, 0, 0
    for token in re.finditer(r"#(\d+)(?:;2;(\d+);(\d+);(\d+))?|!(\d+)(.)|(\$)|(-)|([?-~])", sequence[head.end() : -2]):
        if token[1]:
            colour = int(token[1])
            if token[2]:
                colours[colour] = [int(token[n]) for n in (2, 3, 4)]
        elif token[7]:
            x = 0
        elif token[8]:
            x, top = 0, top + 6
        else:
            count, char = (int(token[5]), token[6]) if token[5] else (1, token[9])
            for bit in range(6):
                if (ord(char) - 63) >> bit & 1:
                    drawn[top + bit, x : x + count] = colours[colour]
            x += count
    assert (drawn[height:] == -1).all()
    return drawn[:height]


def test_sixels_draw_the_image():
    shown = sixels(sixel_sequence(LEFT_RED_RIGHT_BLUE[:, :, :]))
    assert np.array_equal(shown, np.rint(LEFT_RED_RIGHT_BLUE / 255 * 100))
    noise = np.random.default_rng(1).integers(0, 255, (17, 9, 3)).astype(np.uint8)
    assert np.abs(sixels(sixel_sequence(noise)) - noise / 255 * 100).max() <= 10.01


def test_blocks_are_two_pixels_each():
    text = printed(TerminalImage(LEFT_RED_RIGHT_BLUE, "blocks", columns=10, rows=3))
    lines = text.rstrip("\n").split("\n")
    assert [line.count("▀") for line in lines] == [10, 10, 10]
    colours = re.findall(r"38;2;(\d+);(\d+);(\d+);48;2;(\d+);(\d+);(\d+)m▀", lines[0])
    assert colours == [("255", "0", "0") * 2] * 5 + [("0", "0", "255") * 2] * 5


@pytest.mark.parametrize(
    ("size", "lines", "columns"), [((100, 100), 8, 16), ((10, 400), 1, 30), ((400, 10), 8, 1), ((1, 1), 8, 16)]
)
def test_a_image_keeps_its_proportions_and_fits(size, lines, columns):
    pixels = np.zeros((*size, 3), np.uint8)
    shown = printed(TerminalImage(pixels, "blocks", columns=30, rows=8)).rstrip("\n").split("\n")
    assert len(shown) == lines
    assert shown[0].count("▀") == columns


def test_protocols_leave_room_and_do_not_reach_pipes():
    assert printed(TerminalImage(LEFT_RED_RIGHT_BLUE, "kitty", columns=10, rows=3)).endswith("\x1b\\\n\n\n")
    for way in ("kitty", "iterm2", "sixel"):
        assert "\x1b" not in printed(TerminalImage(LEFT_RED_RIGHT_BLUE, way, columns=10, rows=3), terminal=False)


@pytest.mark.parametrize("shape", [(8, 8), (8, 8, 1), (8, 8, 3), (8, 8, 4)])
def test_values_that_are_images_are_found(shape):
    thumbnails = Thumbnails("blocks", 4, 2)
    assert len(thumbnails.of([np.zeros(shape, np.uint8), png(9, 9), b"no image", "text", 3])) == 2


def test_values_that_are_none_are_not():
    few = [np.zeros((2, 2), np.uint8), np.zeros((9, 9), np.float32), np.zeros((9, 9, 5), np.uint8), png(9, 9)[:40]]
    assert Thumbnails("blocks").of(few) == []
