"""The datasets that are exported are those that are copied too."""

from tests.copying.conftest import folder, plain_file

__all__ = ["folder", "plain_file"]
