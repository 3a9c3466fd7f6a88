"""`transduce import`: convert another program's checkpoint to a model folder."""

from pathlib import Path

from transduce.cli import display, options
from transduce.cli.options import argument


@options.make_command("import", options.quiet)
def command(
    *,
    checkpoint: Path = argument(),
    output: Path = options.output_folder("The new model folder."),
) -> None:
    """Convert a Marian checkpoint of Hugging Face (the OPUS-MT family) to a model.

    CHECKPOINT is a folder with config.json, model.safetensors, vocab.json, source.spm and
    target.spm. The model can be used, evaluated and trained further (`train --from`) like any
    other.

    \b
    transduce import opus-mt-en-de -o MODEL
    """
    from transduce.runs.import_model import import_model

    model = import_model(checkpoint, output)
    display.print_note(f"{model.recipe.name}: {model.parameters:,} parameters, in {output}")
