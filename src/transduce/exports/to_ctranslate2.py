"""Export to CTranslate2: weights, vocabularies, and tokenizers that split text into its tokens."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, final

from transduce.durable.folder import FolderWriter
from transduce.durable.json import to_json
from transduce.exports.ctranslate2_file import serialise_variables
from transduce.exports.ctranslate2_variables import name_variables
from transduce.exports.target import EngineOutput, Target
from transduce.exports.tokenizer import build_tokenizer_json
from transduce.exports.weights import collect_weights
from transduce.inference.load import TaskModel
from transduce.settings import Architecture
from transduce.vocabulary import BEGIN, END, Vocabulary
from transduce.vocabulary.symbols import SPECIALS

CONFIG = {
    "add_source_bos": False,
    "add_source_eos": True,  # sources end with END, which the tokenizer does not write
    "bos_token": SPECIALS[BEGIN],
    "decoder_start_token": SPECIALS[BEGIN],
    "eos_token": SPECIALS[END],
    "layer_norm_epsilon": Architecture().norm_epsilon,
    "multi_query_attention": False,
    "unk_token": "<unk>",  # required, but never used: a byte-level vocabulary knows every text
}


def write_ctranslate2(model: TaskModel, writer: FolderWriter, precision: str) -> None:
    """Write all files of a model for CTranslate2 with `writer`, in float32 or int8."""
    write_ctranslate2_weights(model, writer, precision)
    write_symbols(writer, model.task.source.symbols, model.task.target.symbols)
    for name, vocabulary in name_tokenizers(model).items():
        writer.write(name, build_tokenizer_json(vocabulary))


def write_ctranslate2_weights(model: TaskModel, writer: FolderWriter, precision: str) -> None:
    """Write a model's weights and settings for CTranslate2 as model.bin and config.json."""
    variables = name_variables(collect_weights(model.transformer), precision=precision)
    with writer.open("model.bin") as stream:
        for part in serialise_variables(variables):
            stream.write(part)
    writer.write("config.json", to_json(CONFIG))


def write_symbols(writer: FolderWriter, source: Sequence[str], target: Sequence[str]) -> None:
    """Write both vocabularies' symbols in the order of their ids; one file if both are equal."""
    if list(source) == list(target):
        writer.write("shared_vocabulary.json", to_json(list(source)))
        return
    writer.write("source_vocabulary.json", to_json(list(source)))
    writer.write("target_vocabulary.json", to_json(list(target)))


def name_tokenizers(model: TaskModel) -> dict[str, Vocabulary]:
    """Return a model's vocabularies by tokenizer file name: one if shared, else two."""
    source, target = model.task.source, model.task.target
    if source.hash == target.hash:
        return {"tokenizer.json": source}
    return {"source.tokenizer.json": source, "target.tokenizer.json": target}


def describe_use(model: TaskModel) -> str:
    """Return how to translate with an exported folder, as Markdown."""
    files, search = list(name_tokenizers(model)), model.recipe.search
    penalty = {"gnmt": search.alpha, "average": 1.0}.get(search.penalty, 0.0)
    names = f'"{files[0]}", "{files[-1]}"'
    return f"""```python
import ctranslate2
from tokenizers import Tokenizer

model = ctranslate2.Translator("FOLDER")  # this folder
source, target = (Tokenizer.from_file(f"FOLDER/{{name}}") for name in ({names}))
source.encode_special_tokens = True  # "</s>" in a text stays text
pieces = source.encode("…", add_special_tokens=False).tokens
found = model.translate_batch([pieces], beam_size={search.beam}, length_penalty={penalty})
print(target.decode([target.token_to_id(piece) for piece in found[0].hypotheses[0]]))
```"""


def list_differences(model: TaskModel) -> list[str]:
    """Return sentences on what CTranslate2 does differently from a model's own search."""
    search, sizes = model.recipe.search, model.recipe.architecture
    found = [
        "its max_decoding_length is 256 for every source; here an output may have the source's "
        f"length + {search.extra_length} symbols",
        "its min_decoding_length is 1: no output is empty there",
        "long lines are not split into sentences there",
    ]
    if search.penalty != "none":
        found.insert(
            0,
            f"its length penalty is log P / |Y|^alpha, not search.penalty={search.penalty}: the "
            "searches are equal with beam_size=1 or length_penalty=0",
        )
    if sizes.positions == "learned":
        found.append(
            f"inputs and outputs have at most {sizes.max_positions} symbols (learned positions)"
        )
    return found


@final
class CTranslate2Engine:
    """CTranslate2 with an exported folder loaded, on one thread."""

    limits_length = ends_in_best_half = True

    def __init__(self, folder: Path, model: TaskModel, compute_type: str = "default") -> None:
        import ctranslate2  # type: ignore[import-not-found]
        from tokenizers import Tokenizer

        self.name = f"ctranslate2 {ctranslate2.__version__}"
        self.translator: Any = ctranslate2.Translator(
            str(folder), compute_type=compute_type, intra_threads=1
        )
        names = list(name_tokenizers(model))
        self.source, self.target = (
            Tokenizer.from_file(str(folder / name)) for name in (names[0], names[-1])
        )
        self.ids = self.target.get_vocab()
        self.source.encode_special_tokens = True  # a text with "</s>" in it does not end there

    def translate(self, lines: Sequence[str], beam: int, max_length: int) -> list[EngineOutput]:
        """Return each line's best output by a beam of width `beam`, without length penalty."""
        found = self.translator.translate_batch(
            [self.source.encode(line, add_special_tokens=False).tokens for line in lines],
            beam_size=beam,
            length_penalty=0,
            min_decoding_length=0,
            max_decoding_length=max_length,
            return_scores=True,
        )
        best = [(one.hypotheses[0], one.scores[0]) for one in found]
        return [
            EngineOutput(self.decode(symbols), score, is_cut=len(symbols) >= max_length)
            for symbols, score in best
        ]

    def decode(self, symbols: Sequence[str]) -> str:
        """Return the text for a target sentence's vocabulary symbols."""
        ids = [self.ids[symbol] for symbol in symbols]
        text: str = self.target.decode(ids, skip_special_tokens=True)
        return text


CTRANSLATE2 = Target(
    name="ctranslate2",
    precisions=("float32", "int8"),
    write=write_ctranslate2,
    find_unsupported=lambda _: "",
    list_differences=list_differences,
    open_engine=CTranslate2Engine,
    install="pip install ctranslate2",
    library="ctranslate2",
    describe_use=describe_use,
)
