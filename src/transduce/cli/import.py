"""`transduce import`: a checkpoint of another program as a model folder."""

from pathlib import Path

import click

from transduce.cli import display, options


@click.command("import")
@click.argument("checkpoint", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, help="The new model folder."
)
@options.quiet
def command(*, checkpoint: Path, output: Path, quiet: bool) -> None:
    """Write a Marian checkpoint of Hugging Face, such as one of OPUS-MT, as a model.

    CHECKPOINT is a folder with config.json, model.safetensors, vocab.json, source.spm and
    target.spm. The model translates, is evaluated and goes on training (`train --from`) as any
    other.

    \b
    transduce import opus-mt-en-de -o MODEL
    """
    from transduce.runs.import_model import import_model

    model = import_model(checkpoint, output)
    if not quiet:
        display.print_message(f"{model.recipe.name}: {model.parameters:,} parameters, in {output}")
