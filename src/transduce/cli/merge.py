"""`transduce merge`: join the shards of a translated text."""

from pathlib import Path

from transduce.cli import display, options
from transduce.cli.line_outputs import open_output
from transduce.cli.options import argument


@options.make_command("merge", options.quiet)
def command(
    *,
    folder: Path = argument(),
    output: Path | None = options.output("The file to write (default: standard output)."),
) -> None:
    """Join the shards in FOLDER, which `translate --shard` wrote, into one output.

    All shards must be there, be sound, and be of the same text, models and options. The output is
    that of a single shard, to the byte.
    """
    from transduce.inference.shards import find_shards, read_shards

    options.require_writable(output)
    shards = find_shards(folder)
    with open_output(output) as file:
        file.writelines(read_shards(shards))
    count = shards[0].about["text"]["lines"]
    display.print_note(f"{count:,} lines from {len(shards):,} shards")
