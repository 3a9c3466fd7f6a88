"""`transduce import`: convert another program's checkpoint to a model folder."""

from pathlib import Path

import click

from transduce.cli import display, options
from transduce.cli.file_path import FilePath


@click.command("import")
@click.argument("checkpoint", type=FilePath(path_type=Path))
@click.option(
    "-o", "--output", type=FilePath(path_type=Path), required=True, help="The new model folder."
)
@options.quiet
def command(*, checkpoint: Path, output: Path, quiet: bool) -> None:
    """Convert a Marian checkpoint of Hugging Face (the OPUS-MT family) to a model.

    CHECKPOINT is a folder with config.json, model.safetensors, vocab.json, source.spm and
    target.spm. The model can be used, evaluated and trained further (`train --from`) like any
    other.

    \b
    transduce import opus-mt-en-de -o MODEL
    """
    from transduce.runs.import_model import import_model

    model = import_model(checkpoint, output)
    if not quiet:
        display.print_message(f"{model.recipe.name}: {model.parameters:,} parameters, in {output}")
