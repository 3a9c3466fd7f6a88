"""SentencePiece's compiled normalisers: a library that trusts them would end the process."""

import base64
import json
import os
import struct

import pytest

from transduce.errors import FolderError
from transduce.vocabulary import Vocabulary
from transduce.vocabulary.sentencepiece import build_sentencepiece, require_charsmap, write_runs

PIECES = (("▁the", -1.0), ("▁dog", -2.0), ("▁", -3.0), ("s", -4.0), ("d", -4.0))
DEEP = 1 << 11


def pack(units, replacements=b"s\0", size=None):
    trie = struct.pack(f"<{len(units)}I", *units)
    header = struct.pack("<I", len(trie) if size is None else size)
    return base64.b64encode(header + trie + replacements).decode()


def one_rule(byte, value, offset=1):
    """The units of a trie that replaces one byte by the replacement at `value`."""
    units = [0] * 512
    units[0] = 0x100 << 10
    at = 0x100 ^ byte
    units[at] = offset << 10 | 0x100 | byte
    units[at ^ offset] = 1 << 31 | value
    return units


def endless():
    """A trie whose only letter leads from block to block, deeper than any text that is replaced."""
    units = [0] * (256 * DEEP)
    units[0] = 0x100 << 10
    for block in range(1, DEEP - 1):
        at = 256 * block ^ ord("q")
        units[at] = ((at ^ 256 * (block + 1)) << 10) | ord("q")
    return units


SOUND = pack(one_rule(ord("q"), 0))
HOSTILE = {
    "nothing": "",
    "no base64": "!!!",
    "a number": 5,
    "null": None,
    "three bytes": base64.b64encode(b"abc").decode(),
    "no trie": base64.b64encode(bytes(4)).decode(),
    "a size that is a lie": pack([0] * 256, size=(1 << 32) - 4),
    "a size of no unit": pack([0] * 256, size=6),
    "replacements that are no text": pack([0] * 256, b"\xff"),
    "a root that leads out": pack([0x7FFFFFFF] + [0] * 255),
    "an unfinished block": pack([0] * 200),
    "a child that leads out": pack([0x100 << 10] + [1 << 30 | ord("q")] * 511),
    "a replacement that is not there": pack(one_rule(ord("q"), 3)),
    "half a character": pack(one_rule(ord("q"), 1), "ä\0".encode()),
    "a depth of 2,000": pack(endless()),
    "random bytes": base64.b64encode(os.urandom(4_000)).decode(),
}


def document(charsmap):
    found = json.loads(Vocabulary(build_sentencepiece(PIECES, SOUND)).to_bytes())
    found["normalizer"]["normalizers"][0]["precompiled_charsmap"] = charsmap
    return json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode()


def test_a_sound_one_is_used():
    vocabulary = Vocabulary.from_bytes(document(SOUND))
    assert vocabulary.encode("the dogq") == vocabulary.encode("the dogs")
    assert vocabulary.encode("the dogq") != vocabulary.encode("the dogd")


@pytest.mark.parametrize("case", HOSTILE)
def test_what_leads_out_of_its_trie_is_refused(case):
    with pytest.raises(FolderError, match="no vocabulary of transduce"):
        Vocabulary.from_bytes(document(HOSTILE[case]))


def test_a_loop_is_walked_once():
    """Node 0x100 is its own child by the letter q."""
    units = [0] * 512
    units[0] = 0x100 << 10
    units[0x100 ^ ord("q")] = ord("q") << 10 | ord("q")
    require_charsmap(pack(units))


@pytest.mark.parametrize(
    "change",
    [
        lambda vocab: vocab.__setitem__(4, ["x" * 1_001, -1.0]),
        lambda vocab: vocab.__setitem__(4, ["x", 1e308]),
        lambda vocab: vocab.__setitem__(4, ["x", "1"]),
        lambda vocab: vocab.__setitem__(4, ["x", True]),
        lambda vocab: vocab.__setitem__(4, [5, -1.0]),
        lambda vocab: vocab.__setitem__(4, [["x"], -1.0]),
        lambda vocab: vocab.__setitem__(4, list(vocab[5])),
    ],
)
def test_a_piece_or_score_that_is_none_is_refused(change):
    found = json.loads(Vocabulary(build_sentencepiece(PIECES)).to_bytes())
    change(found["model"]["vocab"])
    with pytest.raises(FolderError, match="no vocabulary of transduce"):
        Vocabulary.from_bytes(json.dumps(found).encode())


def test_letters_without_a_piece_of_their_own_are_one_unknown_symbol_where_several_meet():
    pieces = [("▁", -2.0), ("a", -2.0), ("▁a", -1.0), ("ä", -1_002.0), ("ö", -1_002.0)]
    vocabulary = Vocabulary(build_sentencepiece(pieces, runs=write_runs("a")))
    again = Vocabulary.from_bytes(vocabulary.to_bytes())
    for one in (vocabulary, again):
        (ids,) = one.encode_batch(["aä äöa öa aäЖ Ж"])
        assert [one.piece(n) for n in ids] == [
            *("␣a", "ä", "␣", "<unk>", "a", "␣", "ö", "a", "␣a", "<unk>", "␣", "<unk>")
        ]


@pytest.mark.parametrize("pattern", ["(a+)+$", "[^\\x{61}]", 5, "[^]{2,}"])
def test_a_pattern_of_unknown_letters_that_is_not_ours_is_refused(pattern):
    found = json.loads(Vocabulary(build_sentencepiece(PIECES, runs=write_runs("a"))).to_bytes())
    found["normalizer"]["normalizers"][-1]["pattern"]["Regex"] = pattern
    with pytest.raises(FolderError, match="no vocabulary of transduce"):
        Vocabulary.from_bytes(json.dumps(found).encode())


def test_a_symbol_without_text_is_readable_too():
    vocabulary = Vocabulary(build_sentencepiece(PIECES))
    assert [vocabulary.piece(one) for one in range(3)] == ["</s>", "<s>", "<unk>"]


def test_runs_of_characters_that_no_text_can_have_are_refused():
    runs = write_runs("ab")
    data = Vocabulary(build_sentencepiece(PIECES, runs=runs)).to_bytes()
    assert Vocabulary.from_bytes(data).to_bytes() == data
    code = f"{ord('a'):x}}}".encode()
    assert code in data
    with pytest.raises(FolderError, match="no vocabulary of transduce"):
        Vocabulary.from_bytes(data.replace(code, b"ffffff}"))
