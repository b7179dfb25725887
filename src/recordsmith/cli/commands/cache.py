"""`recordsmith cache`: shows and empties the cache of remote files."""

from __future__ import annotations

import click

from recordsmith.cli.options.shared_options import format_option

__all__ = ["cache"]

_EXAMPLES = """\b
Examples:
  recordsmith cache
  recordsmith cache --empty
  RECORDSMITH_CACHE_LIMIT=200GB recordsmith cache
"""


@click.command(short_help="Show or empty the cache of files in object stores.", epilog=_EXAMPLES)
@click.option(
    "--empty", is_flag=True, help="Remove all blocks. Programs that read remote files continue, and fetch again."
)
@format_option("The format of the output.")
def cache(*, empty: bool, style: str) -> None:
    """Show how much data of remote files is cached on this disk, and the limit.

    Files in object stores are read in blocks, which are kept for the next epoch and the next program. RECORDSMITH_CACHE
    sets the folder, and RECORDSMITH_CACHE_LIMIT the limit, such as 200GB; 0 keeps nothing.
    """
    from recordsmith.cli.consoles import echo, echo_json
    from recordsmith.storage.ranged.block_cache import shared_cache
    from recordsmith.wording.numbers import bytes_text, count_text

    blocks = shared_cache()
    freed = blocks.empty() if empty else 0
    use = blocks.use()
    if style == "json":
        facts = {"folder": use.folder, "blocks": use.blocks, "bytes": use.bytes, "limit": use.limit}
        echo_json({**facts, "freed": freed} if empty else facts)
        return
    if empty:
        echo(f"{bytes_text(freed)} removed.")
    echo(f"{use.folder}: {count_text(use.blocks, 'block')}, {bytes_text(use.bytes)} of at most {bytes_text(use.limit)}")
