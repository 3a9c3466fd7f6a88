"""Export to Argos Translate and LibreTranslate: files of CTranslate2 and SentencePiece.

A package has one SentencePiece model, which has the pieces of the source. It cleans a text and
writes its bytes as letters (sentencepiece.py), or has the rules of an imported model. Argos also
decodes an output by this model. Decoding leaves unknown pieces as they are and then applies the
output rules. So the target may have other pieces, if they are spelled in the same way.
"""

import json
import math
import zipfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, final

from transduce.durable.files import atomic_file
from transduce.durable.folder import FolderWriter
from transduce.durable.json import to_json
from transduce.exports.sentencepiece import (
    build_byte_letter_model,
    build_unigram_model,
    spell_symbol,
)
from transduce.exports.target import README, EngineOutput, Target, raise_import_errors
from transduce.exports.to_ctranslate2 import write_ctranslate2_weights, write_symbols
from transduce.exports.tokenizer import find_model_type
from transduce.inference.load import TaskModel
from transduce.vocabulary.sentencepiece import UNKNOWN

PIECES_FILE, METADATA = "sentencepiece.model", "metadata.json"
MOST_SYMBOLS = 256  # the most symbols of an output, whatever the source; CTranslate2's default
ARGOS_VERSION = "1.10"  # the oldest version of Argos that decodes an output by SentencePiece


def write_argos(model: TaskModel, writer: FolderWriter, precision: str) -> None:
    """Write an Argos package's files: CTranslate2's model, a SentencePiece model, metadata."""
    vocabulary = model.task.source
    source, target = vocabulary.symbols, model.task.target.symbols
    if find_model_type(vocabulary) == "Unigram":
        pieces = build_unigram_model(vocabulary)
        # Argos would replace <unk> in an output with a piece of the source; here it adds nothing
        target = ["" if symbol == UNKNOWN else symbol for symbol in target]
    else:
        pieces = build_byte_letter_model(source)
        source, target = ([spell_symbol(symbol) for symbol in side] for side in (source, target))
    write_ctranslate2_weights(model, writer, precision)
    write_symbols(writer, source, target)
    writer.write(PIECES_FILE, pieces)
    data = model.recipe.data
    metadata = {
        "package_version": "1.0",
        "argos_version": ARGOS_VERSION,
        "from_code": data.source_language,
        "from_name": data.source_language,
        "to_code": data.target_language,
        "to_name": data.target_language,
    }
    writer.write(METADATA, to_json(metadata))


def describe_use(model: TaskModel) -> str:
    """Return how to translate with an exported package, as Markdown."""
    source, target = (json.dumps(code) for code in model.recipe.data.languages)
    return f"""```python
from argostranslate import package, translate

package.install_from_path("NAME.argosmodel")  # the package that holds this file
print(translate.translate("…", {source}, {target}))
```"""


def pack_argos(folder: Path, output: Path) -> None:
    """Zip an exported folder as the Argos package `output`; its top folder has the file's stem."""
    with (
        atomic_file(output) as stream,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as package,
    ):
        for path in sorted(folder.iterdir()):
            outer = path.name in (PIECES_FILE, METADATA, README, "proof.json")
            inside = path.name if outer else f"model/{path.name}"
            package.write(path, f"{output.stem}/{inside}")


def is_package(path: Path) -> bool:
    """Return whether a file is an Argos package, a zip archive with FOLDER/metadata.json."""
    try:
        with zipfile.ZipFile(path) as package:
            return any(name.split("/")[1:] == [METADATA] for name in package.namelist())
    except (zipfile.BadZipFile, OSError, ValueError):
        return False


def explain_unsupported(model: TaskModel) -> str:
    """Return why Argos cannot use a model, or an empty string."""
    kinds = {find_model_type(one) for one in (model.task.source, model.task.target)}
    data = model.recipe.data
    if len(data.languages) < 2:
        return "a package is found by its languages, and this model names none: --languages en-de"
    if "WordPiece" in kinds:
        return "SentencePiece cuts no text into word-pieces, and this model's vocabulary has them"
    if len(kinds) > 1:
        return (
            "a package has one SentencePiece model, and this model's two vocabularies are of "
            f"different types, {' and '.join(sorted(kinds))}"
        )
    sizes = model.recipe.architecture
    if sizes.positions == "learned" and sizes.max_positions <= MOST_SYMBOLS:
        return (
            f"Argos allows outputs of {MOST_SYMBOLS} symbols, and this model learned only "
            f"{sizes.max_positions} positions"
        )
    return ""


def list_differences(model: TaskModel) -> list[str]:
    """Return sentences on how Argos Translate differs from our own translation by this model."""
    search = model.recipe.search
    if find_model_type(model.task.source) == "Unigram":
        by_vocabulary = [
            "SentencePiece cleans a text by the imported model's rules alone, not by ours before "
            "them: control characters, and a literal </s>, <s> or <unk>, become other pieces",
        ]
    else:
        by_vocabulary = [
            "SentencePiece merges over a whole line, not inside the words of our regular "
            "expression; the pieces are the same but for rare runs of apostrophes and letters",
            "characters that this Python's Unicode does not know have no piece there",
            "it joins the translations of a line's sentences without a space between them",
        ]
    return [
        "it searches with a beam of 4 and log P / |Y|^0.2, whatever the model: "
        f"search.beam={search.beam}, search.penalty={search.penalty} are not carried over",
        "it computes in the fastest number format, 8 bits on most processors, whatever the file "
        "has: the variable ARGOS_COMPUTE_TYPE=float32 changes that",
        "no output is empty there",
        "it writes every underscore of an output as a space",
        *by_vocabulary,
    ]


@final
class ArgosEngine:
    """Argos Translate with an exported package installed in a temporary folder."""

    limits_length = False  # Argos allows 256 symbols for every source
    is_greedy = False
    ends_in_best_beam = True

    def __init__(self, folder: Path, _model: TaskModel) -> None:
        with raise_import_errors("argostranslate"):
            import ctranslate2  # type: ignore[import-not-found]
            from argostranslate import package, settings  # type: ignore[import-not-found]

        self.name = f"argostranslate {version('argostranslate')}"
        self.home = TemporaryDirectory()
        packages, file = Path(self.home.name, "packages"), Path(self.home.name, "one.argosmodel")
        packages.mkdir()
        pack_argos(folder, file)
        before, settings.package_data_dir = settings.package_data_dir, packages
        try:
            package.install_from_path(file)
        finally:
            settings.package_data_dir = before
        self.package: Any = package.Package(packages / "one")
        model = str(packages / "one" / "model")
        self.translator: Any = ctranslate2.Translator(model, intra_threads=1)

    def translate(self, lines: Sequence[str], beam: int, max_length: int) -> list[EngineOutput]:  # noqa: ARG002 - Argos sets no limit
        """Return each line's best output, log P NaN, with Argos' penalty; ignores `max_length`."""
        from argostranslate import settings, translate

        splitter = SimpleNamespace(split_sentences=lambda text: [text])  # splits no line
        before, settings.beam_size = settings.beam_size, beam
        try:
            found = [
                translate.apply_packaged_translation(
                    self.package, line, self.translator, splitter, num_hypotheses=1
                )
                for line in lines
            ]
        finally:
            settings.beam_size = before
        return [EngineOutput(one[0].value, math.nan) for one in found]


ARGOS = Target(
    name="argos",
    precisions=("float32", "int8"),
    write=write_argos,
    explain_unsupported=explain_unsupported,
    list_differences=list_differences,
    open_engine=ArgosEngine,
    install="pip install argostranslate",
    library="argostranslate",
    describe_use=describe_use,
    suffix=".argosmodel",
    pack=pack_argos,
    is_packed=is_package,
)
