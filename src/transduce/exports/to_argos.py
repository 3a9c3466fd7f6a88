"""Export to Argos Translate and LibreTranslate: files of CTranslate2 and SentencePiece.

The SentencePiece model has our vocabulary's merges, and rules on characters: the input rules clean
a text and write each character beyond ASCII as letters, one for each of its UTF-8 bytes; the output
rules turn the letters back into characters. SentencePiece compiles the rules when it trains a
tiny model; we copy everything in that model except the pieces. A model is a protocol buffer; each
field has a number and a length.
"""

import json
import math
import struct
import sys
import unicodedata
import zipfile
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any, final

from transduce.durable.files import atomic_file, raise_save_errors
from transduce.durable.folder import FolderWriter
from transduce.durable.json import to_json
from transduce.exports.target import README, EngineOutput, Target, importing
from transduce.exports.to_ctranslate2 import write_ctranslate2_weights, write_symbols
from transduce.exports.tokenizer import find_model_type
from transduce.inference.load import TaskModel
from transduce.text.clean import normalise
from transduce.vocabulary.sentencepiece import SPACE
from transduce.vocabulary.sentencepiece_file import NORMAL, PIECES, UNKNOWN, read_fields
from transduce.vocabulary.symbols import SPECIALS, byte_letters

PIECES_FILE, METADATA = "sentencepiece.model", "metadata.json"
MOST_SYMBOLS = 256  # of an output, whatever the source: the default of CTranslate2
LENGTHS = 2  # protobuf's wire type of a field that begins with its length
UNASSIGNED = ("Cn", "Cs", "Co")  # Unicode categories: unassigned, surrogate, private
LETTERS = tuple(byte_letters())
ARGOS_VERSION = "1.9"  # the oldest version of Argos that the metadata asks for


def write_argos(model: TaskModel, writer: FolderWriter, precision: str) -> None:
    """Write an Argos package's files: CTranslate2's model, a SentencePiece model, metadata."""
    source, target = (
        [spell_symbol(symbol) for symbol in vocabulary.symbols]
        for vocabulary in (model.task.source, model.task.target)
    )
    pieces = build_sentencepiece_model(model.task.source.symbols)
    write_ctranslate2_weights(model, writer, precision)
    write_symbols(writer, source, target)
    writer.write(PIECES_FILE, pieces)
    writer.write(METADATA, to_json(build_metadata(model)))


def build_sentencepiece_model(symbols: Sequence[str]) -> bytes:
    """Return the bytes of a SentencePiece model that merges pieces in the order of `symbols`."""
    learned = [spell_symbol(symbol) for symbol in symbols[len(SPECIALS) :]]
    pieces = [pack_piece("<unk>", 0.0, UNKNOWN)]
    pieces += [pack_piece(piece, -float(rank), NORMAL) for rank, piece in enumerate(learned)]
    rest = [pack_field(number, value) for number, value in compile_rules() if number != PIECES]
    return b"".join([*(pack_field(PIECES, piece) for piece in pieces), *rest])


def compile_rules() -> list[tuple[int, bytes]]:
    """Train a tiny SentencePiece model to get our text rules compiled; return its protobuf fields.

    SentencePiece works on files. If they cannot be written, a SaveError names the folder.
    """
    with importing("sentencepiece"):
        import sentencepiece

    with raise_save_errors(Path(gettempdir())), TemporaryDirectory() as name:
        folder = Path(name)
        every = [chr(code) for code in range(1, sys.maxunicode + 1)]
        assigned = [one for one in every if unicodedata.category(one) not in UNASSIGNED]
        (folder / "text").write_text("a b\nab ba\n" * 9, encoding="utf-8")
        for file, list_rules in (("in", list_input_rules), ("out", list_output_rules)):
            rules = list_rules(assigned).items()
            lines = (f"{to_hex(before)}\t{to_hex(after)}\n" for before, after in rules)
            (folder / file).write_text("".join(lines), encoding="utf-8")
        sentencepiece.SentencePieceTrainer.train(
            input=str(folder / "text"),
            model_prefix=str(folder / "tiny"),
            model_type="bpe",
            vocab_size=8,
            normalization_rule_tsv=str(folder / "in"),
            denormalization_rule_tsv=str(folder / "out"),
            add_dummy_prefix=False,
            remove_extra_whitespaces=True,
            hard_vocab_limit=False,
            minloglevel=2,
        )
        fields = read_fields((folder / "tiny.model").read_bytes())
        return [(number, value) for number, value in fields if isinstance(value, bytes)]


def pack_piece(piece: str, score: float, kind: int) -> bytes:
    """Return the protobuf message of one piece: its text, its score, its type (`kind`)."""
    text = pack_field(1, piece.encode())
    return text + b"\x15" + struct.pack("<f", score) + b"\x18" + pack_number(kind)


def pack_field(number: int, content: bytes) -> bytes:
    """Return a protobuf field: its number, the length of its content, and the content."""
    return pack_number(number << 3 | LENGTHS) + pack_number(len(content)) + content


def pack_number(value: int) -> bytes:
    """Return a number as a protobuf varint, with 7 bits in each byte."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def spell(text: str) -> str:
    """Return a text with each character beyond ASCII written as one letter per UTF-8 byte."""
    return "".join(
        one if one.isascii() else "".join(LETTERS[byte] for byte in one.encode()) for one in text
    )


def spell_symbol(symbol: str) -> str:
    """Return a vocabulary symbol as a SentencePiece piece, in which a space is written ▁."""
    return symbol.replace(LETTERS[ord(" ")], SPACE)


def clean_character(character: str) -> str:
    """Return a character normalised as if inside a text, so that a space is not stripped."""
    if character.isascii():
        return normalise(f"a{character}b")[1:-1]
    return " " if character.isspace() else normalise(character)


def list_input_rules(characters: Iterable[str]) -> dict[str, str]:
    """Return the input rules: characters and their decompositions -> cleaned, spelled forms."""
    rules = dict[str, str]()
    for one in characters:
        cleaned = spell(clean_character(one))
        forms = {one, unicodedata.normalize("NFD", one), split_canonically(one)}
        rules |= {form: cleaned for form in forms if form != cleaned}
    return rules


def split_canonically(character: str) -> str:
    """Return a composed character's two parts, such as e and an accent, or the character itself."""
    found = unicodedata.decomposition(character)
    if not found or found.startswith("<"):
        return character
    return "".join(chr(int(number, 16)) for number in found.split())


def list_output_rules(characters: Iterable[str]) -> dict[str, str]:
    """Return the output rules, which turn byte letters back into each non-ASCII character."""
    return {spell(one): one for one in characters if not one.isascii()}


def to_hex(text: str) -> str:
    """Return a text's code points as SentencePiece's trainer reads them, such as "41 308"."""
    return " ".join(f"{ord(one):X}" for one in text)


def describe_use(model: TaskModel) -> str:
    """Return how to translate with an exported package, as Markdown."""
    source, target = (json.dumps(code) for code in model.recipe.data.languages)
    return f"""```python
from argostranslate import package, translate

package.install_from_path("NAME.argosmodel")  # the package that holds this file
print(translate.translate("…", {source}, {target}))
```"""


def build_metadata(model: TaskModel) -> dict[str, Any]:
    """Return the entries of metadata.json, which name the languages of an Argos package."""
    data = model.recipe.data
    return {
        "package_version": "1.0",
        "argos_version": ARGOS_VERSION,
        "from_code": data.source_language,
        "from_name": data.source_language,
        "to_code": data.target_language,
        "to_name": data.target_language,
    }


def pack_argos(folder: Path, output: Path) -> None:
    """Zip an exported folder as an Argos package; its top folder has the file's name."""
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
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as package:
        return any(name.split("/")[1:] == [METADATA] for name in package.namelist())


def find_unsupported(model: TaskModel) -> str:
    """Return why Argos cannot use a model, or an empty string."""
    source, target = model.task.source, model.task.target
    data = model.recipe.data
    if len(data.languages) < 2:
        return "a package is found by its languages, and this model names none: --languages en-de"
    if (kind := find_model_type(source)) != "BPE":
        name = {"WordPiece": "has word-pieces"}.get(kind, f"is of the type {kind}")
        return f"SentencePiece merges byte pairs, and this model's vocabulary {name}"
    if source.hash != target.hash:
        return "a package has one SentencePiece model, and this model has two vocabularies"
    sizes = model.recipe.architecture
    if sizes.positions == "learned" and sizes.max_positions <= MOST_SYMBOLS:
        return (
            f"Argos allows outputs of {MOST_SYMBOLS} symbols, and this model learned only "
            f"{sizes.max_positions} positions"
        )
    return ""


def list_differences(model: TaskModel) -> list[str]:
    """Return sentences on what Argos Translate does differently from a model's own search."""
    search = model.recipe.search
    return [
        "it searches with a beam of 4 and log P / |Y|^0.2, whatever the model: "
        f"search.beam={search.beam}, search.penalty={search.penalty} are not carried over",
        "it computes in the fastest number format, 8 bits on most processors, whatever the file "
        "has: the variable ARGOS_COMPUTE_TYPE=float32 changes that",
        "no output is empty there",
        "it writes every underscore of an output as a space",
        "SentencePiece merges over a whole line, not inside the words of our regular expression; "
        "the pieces are the same but for rare runs of apostrophes and letters",
        "characters that this Python's Unicode does not know have no piece there",
    ]


@final
class WholeLine:
    """A sentence splitter that leaves every line whole."""

    def split_sentences(self, text: str) -> list[str]:
        """Return the text as its only sentence."""
        return [text]


@final
class ArgosEngine:
    """Argos Translate with an exported package installed in a temporary folder."""

    limits_length = False  # Argos allows 256 symbols for every source
    ends_in_best_half = True

    def __init__(self, folder: Path, _model: TaskModel) -> None:
        with importing("argostranslate"):
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
        """Return each line's best output by Argos' own length penalty; `max_length` is ignored."""
        from argostranslate import settings, translate

        before, settings.beam_size = settings.beam_size, beam
        try:
            found = [
                translate.apply_packaged_translation(
                    self.package, line, self.translator, WholeLine(), num_hypotheses=1
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
    find_unsupported=find_unsupported,
    list_differences=list_differences,
    open_engine=ArgosEngine,
    install="pip install argostranslate",
    library="argostranslate",
    describe_use=describe_use,
    suffix=".argosmodel",
    pack=pack_argos,
    is_packed=is_package,
)
