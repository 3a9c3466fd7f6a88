"""A model of ours as CTranslate2 reads it, with made-up words for its symbols."""

from pathlib import Path

from transduce.durable.json import to_json
from transduce.exports.to_ctranslate2 import CONFIG, name_variables, serialise_variables
from transduce.exports.weights import collect_weights
from transduce.paper.model import Transformer
from transduce.vocabulary import BEGIN, END


def name_symbols(symbols: int) -> list[str]:
    """Return a made-up word for each symbol."""
    return [f"t{number}" for number in range(symbols)]


def write_model(ours: Transformer, folder: Path) -> None:
    """Write a model's weights as a folder that CTranslate2 opens; sources bring their END."""
    names = name_symbols(len(ours.output.weight))
    begin, end = names[BEGIN], names[END]
    special = {"bos_token": begin, "decoder_start_token": begin, "eos_token": end}
    variables = name_variables(collect_weights(ours), precision="float32")
    folder.mkdir()
    with (folder / "model.bin").open("wb") as stream:
        stream.writelines(serialise_variables(variables))
    (folder / "config.json").write_bytes(to_json({**CONFIG, **special, "add_source_eos": False}))
    (folder / "shared_vocabulary.json").write_bytes(to_json(names))
