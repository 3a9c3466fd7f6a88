"""The Argos package: rules that spell text as the model does, pieces in order, its files."""

import json
import struct
import zipfile
from dataclasses import replace

import pytest
from tests.exports.random_members import PIECES, TEXT, WORDS, random_member, shapes
from tests.runs.marian_checkpoints import SOURCE, TARGET, compile_charsmap, spm, write_checkpoint

import transduce
from transduce.durable.folder import atomic_folder
from transduce.errors import InputError
from transduce.exports import sentencepiece, to_argos
from transduce.exports.sentencepiece import list_input_rules, list_output_rules, spell
from transduce.text.clean import normalise
from transduce.vocabulary import Vocabulary
from transduce.vocabulary.learn import learn_vocabulary
from transduce.vocabulary.sentencepiece import build_sentencepiece, read_fields

ODD = "a\u0301 \u00a0 ấ a\u0302\u0301 x\u200b \u1100\u1161 y</s> ▁ Ġ ü 漢字 🎉 _ \t z Å"
OTHERS = learn_vocabulary(TEXT[2:] * 9, 280)
UNIGRAM = Vocabulary(build_sentencepiece([*SOURCE.items()]))


def apply(rules, text):
    """Replace the longest known beginning again and again, as SentencePiece does."""
    found, at = [], 0
    while at < len(text):
        sizes = [size for size in (4, 3, 2, 1) if text[at : at + size] in rules]
        size = sizes[0] if sizes else 1
        found.append(rules.get(text[at : at + size], text[at]))
        at += size
    return "".join(found)


def test_the_rules_spell_text_in_the_letters_of_the_vocabulary_and_back():
    characters = {*ODD, *normalise(ODD)}
    spelled = " ".join(apply(list_input_rules(characters, spell), ODD).split())
    symbols = "".join(WORDS.symbols[one] for one in WORDS.encode(normalise(ODD)))
    assert spelled.replace(" ", "Ġ") == symbols
    assert apply(list_output_rules(characters, spell), spelled) == normalise(ODD)


def write(member, tmp_path, monkeypatch):
    rest = [(1, b"a piece of the tiny model"), (2, b"trainer"), (3, b"rules"), (5, b"more rules")]
    monkeypatch.setattr(sentencepiece, "compile_rules", lambda *_, **__: rest)
    with atomic_folder(tmp_path / "out", kind="export", about={}) as writer:
        to_argos.ARGOS.write(member, writer, "float32")
    return tmp_path / "out"


def test_pieces_stand_in_the_order_of_the_merges_and_the_rules_are_kept(tmp_path, monkeypatch):
    folder = write(random_member(), tmp_path, monkeypatch)
    fields = list(read_fields((folder / "sentencepiece.model").read_bytes()))
    pieces, others = [one for one in fields if one[0] == 1], [one for one in fields if one[0] > 1]
    assert others == [(2, b"trainer"), (3, b"rules"), (5, b"more rules")]
    texts, scores = [], []
    for _, field in pieces[1:]:
        piece = bytes(field)
        size = piece[1]
        texts.append(piece[2 : 2 + size].decode())
        assert piece[2 + size :: 5] == b"\x15\x18"
        scores.append(struct.unpack("<f", piece[3 + size : 7 + size])[0])
    assert texts == [symbol.replace("Ġ", "▁") for symbol in WORDS.symbols[2:]]
    assert scores == sorted(scores, reverse=True)
    known = json.loads((folder / "shared_vocabulary.json").read_text(encoding="utf-8"))
    assert known == ["</s>", "<s>", *texts]


def test_a_package_has_ctranslate2s_files_in_a_folder_of_their_own(tmp_path, monkeypatch):
    folder = write(random_member(), tmp_path, monkeypatch)
    to_argos.pack_argos(folder, tmp_path / "en_de.argosmodel")
    names = zipfile.ZipFile(tmp_path / "en_de.argosmodel").namelist()
    assert {"en_de/model/model.bin", "en_de/model/config.json", "en_de/metadata.json"} < set(names)
    assert {"en_de/sentencepiece.model", "en_de/model/shared_vocabulary.json"} < set(names)


def test_two_vocabularies_of_byte_pairs_are_spelled_in_the_same_letters(tmp_path, monkeypatch):
    folder = write(random_member(source=WORDS, target=OTHERS), tmp_path, monkeypatch)
    fields = read_fields((folder / "sentencepiece.model").read_bytes())
    assert sum(number == 1 for number, _ in fields) == len(WORDS) - 1
    for side, vocabulary in (("source", WORDS), ("target", OTHERS)):
        known = json.loads((folder / f"{side}_vocabulary.json").read_text(encoding="utf-8"))
        assert known == [symbol.replace("Ġ", "▁") for symbol in vocabulary.symbols]


def test_an_imported_models_package_has_the_pieces_and_rules_of_its_source(tmp_path):
    charsmap = compile_charsmap({"A": "", "ﬁ": "runs"})
    write_checkpoint(tmp_path / "checkpoint", charsmap=charsmap)
    model = transduce.import_model(tmp_path / "checkpoint", tmp_path / "model")
    out = tmp_path / "a.argosmodel"
    transduce.export(model, to="argos", output=out, languages=("en", "de"))
    package = zipfile.ZipFile(out)
    found = [*read_fields(package.read("a/sentencepiece.model"))]
    theirs = [*read_fields(spm(SOURCE, charsmap=charsmap))]
    control = (1, b"\n\x03<s>\x15\0\0\0\0\x18\x03")
    assert {one for one in theirs if one != control} < {*found}
    target = json.loads(package.read("a/model/target_vocabulary.json"))
    assert {*TARGET} < {*target}
    assert target[2] == ""  # the unknown symbol, which adds nothing to an output
    assert json.loads(package.read("a/model/config.json"))["add_source_eos"]


@pytest.mark.parametrize(
    ("source", "target", "why"),
    [
        (PIECES, PIECES, "word-pieces"),
        (WORDS, PIECES, "word-pieces"),
        (UNIGRAM, WORDS, "BPE and Unigram"),
        (WORDS, UNIGRAM, "BPE and Unigram"),
        (WORDS, WORDS, ""),
        (WORDS, OTHERS, ""),
        (UNIGRAM, UNIGRAM, ""),
    ],
)
def test_word_pieces_and_vocabularies_of_two_types_are_refused(source, target, why):
    found = to_argos.explain_unsupported(random_member(source=source, target=target))
    assert why in found
    assert bool(why) == bool(found)


def test_fewer_learned_positions_than_argos_allows_symbols_are_refused():
    few = replace(shapes()["learned"], max_positions=256)
    assert "learned only 256 positions" in to_argos.explain_unsupported(random_member(few))
    enough = replace(shapes()["learned"], max_positions=257)
    assert not to_argos.explain_unsupported(random_member(enough))


def test_a_damaged_package_is_none_and_is_not_replaced(tmp_path):
    path = tmp_path / "a.argosmodel"
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("a/metadata.json", "{}")
    assert to_argos.is_package(path)
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\1\2")] = 0
    path.write_bytes(data)
    assert not to_argos.is_package(path)


def test_a_name_that_is_no_text_is_refused_before_anything_is_computed(tmp_path):
    with pytest.raises(InputError, match="half a surrogate pair"):
        transduce.export("any", to="argos", output=tmp_path / "\udcff.argosmodel")
