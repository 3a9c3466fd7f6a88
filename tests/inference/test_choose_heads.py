"""The choice of heads against scoring the alignments of every candidate one by one."""

import hashlib
import json
from dataclasses import replace
from itertools import product

import pytest
from tests.inference.random_models import SIZES, translator_of_six_heads
from tests.serve.test_replacement import save_random

from transduce.checkpoint.model_files import read_alignment_heads, save_alignment_heads
from transduce.errors import FolderError, InputError
from transduce.inference import choose_heads as module
from transduce.inference.choose_heads import choose_heads, choose_without_gold
from transduce.inference.counted_links import learn_links
from transduce.inference.load import load
from transduce.inference.pairs import EncodedPair
from transduce.scores.files import score_alignments
from transduce.settings.alignment import AlignmentHeads

SOURCE = ["the dog sees a cat.", "a woman", "who runs now and not today", "the old red house"]
TARGET = ["a cat sees the dog", "a woman runs", "who runs today", "the red old house now"]
GOLD = ["0-3 1p4 2-2 3-0 4-1", "0-0 1-1 1p2", "0-0 1-1 5-2", "0-0 1p2 2-1 3-3"]
HEADS = AlignmentHeads(2, (1, 3))
MODEL = hashlib.sha256(b"a manifest").hexdigest()


@pytest.fixture
def folder(tmp_path):
    """A folder with a manifest, whose hash is `MODEL`."""
    (tmp_path / "manifest.json").write_bytes(b"a manifest")
    return tmp_path


@pytest.fixture(scope="module")
def translator():
    """A random translator of two layers with three heads."""
    return translator_of_six_heads()


def error(translator, **heads):
    return score_alignments(
        GOLD, list(map(str, translator.aligning(**heads).align(SOURCE, TARGET)))
    )


def test_the_chosen_heads_have_the_lowest_error_of_all_that_are_tried(translator):
    choice = choose_heads(translator, SOURCE, TARGET, GOLD)
    found = []
    for layer, shifted in product((1, 2), (True, False)):
        step = {"layer": layer, "shifted": shifted}
        alone = {n: error(translator, **step, heads=(n,)).value for n in (1, 2, 3)}
        ranked = sorted(alone, key=alone.__getitem__)
        found += [error(translator, **step, heads=tuple(ranked[:k])).value for k in (1, 2, 3)]
    assert choice.best.result.score == pytest.approx(min(found))
    by_layer = [one.result.score for one in choice.layers]
    assert by_layer == pytest.approx([min(found[:6]), min(found[6:])])


def test_figures_of_the_choice_are_those_of_scoring_its_alignments(translator):
    choice = choose_heads(translator, SOURCE, TARGET, GOLD)
    for scored in (*choice.layers, choice.plain):
        heads = scored.heads
        score = error(translator, layer=heads.layer, heads=heads.heads, shifted=heads.shifted)
        assert scored.as_json() | score.details == scored.as_json()
        assert scored.result.score == score.value
    assert choice.plain.heads == AlignmentHeads(2, (1, 2, 3), shifted=False)
    assert json.loads(json.dumps(choice.as_json()))["pairs"] == 4


def test_alignments_of_some_heads_as_gold_find_them_again(translator):
    for layer, head, shifted in [(1, 2, True), (2, 3, False), (2, 1, True)]:
        heads = AlignmentHeads(layer, (head,), shifted)
        aligning = translator.aligning(layer=layer, heads=(head,), shifted=shifted)
        gold = list(map(str, aligning.align(SOURCE, TARGET)))
        choice = choose_heads(translator, SOURCE, TARGET, gold)
        assert choice.best.result.score == 0.0
        assert choice.best.heads == heads


def test_pairs_that_are_too_long_are_left_out_and_said(translator):
    choice = choose_heads(translator, [*SOURCE, "the dog " * 99], [*TARGET, "a"], [*GOLD, "0-0"])
    assert (choice.pairs, choice.warnings[0].line) == (4, 5)
    assert choice.best == choose_heads(translator, SOURCE, TARGET, GOLD).best


@pytest.mark.parametrize(
    ("gold", "message"),
    [
        (["0-0", "0-3", "", ""], "line 2: the gold link 0-3 is of words beyond the end"),
        (["0-0", "0_1", "", ""], "gold, line 2: '0_1' is no link"),
        (["", "", "", ""], "the gold file has no link in these pairs"),
        (GOLD[:3], "the source has 4 lines, but the gold has 3"),
    ],
)
def test_gold_links_that_do_not_belong_to_the_pairs_are_refused(translator, gold, message):
    with pytest.raises(InputError, match=message):
        choose_heads(translator, SOURCE, TARGET, gold)


def test_links_are_counted_in_as_many_first_pairs_as_memory_allows(tmp_path, monkeypatch):
    save_random(tmp_path / "m", 1)
    task = load(tmp_path / "m").task
    both = zip(task.encode_sources(SOURCE), task.encode_sources(TARGET), strict=True)
    pairs = [EncodedPair(number, *ids) for number, ids in enumerate(both, 1)]
    counted = list[int]()

    def learn(*sides):
        counted.append(len(sides[0]))
        return learn_links(*sides)

    monkeypatch.setattr(module, "MOST_LINKS", 5 * 5 + 2 * 3)
    monkeypatch.setattr(module, "learn_links", learn)
    assert choose_without_gold(tmp_path / "m", pairs) is not None
    assert counted == [2]


def test_what_is_stored_is_read_again(folder):
    sizes = replace(SIZES, layers=2, heads=3)
    assert read_alignment_heads(folder, MODEL, sizes) is None
    for heads in (HEADS, replace(HEADS, shifted=False)):
        save_alignment_heads(folder, MODEL, heads, {"aer": 25.5})
        assert read_alignment_heads(folder, MODEL, sizes) == heads
    with pytest.raises(FolderError, match="was chosen for another model"):
        read_alignment_heads(folder, MODEL[::-1], sizes)
    with pytest.raises(FolderError, match="names unusable heads: there is no layer 2"):
        read_alignment_heads(folder, MODEL, SIZES)


def test_heads_that_were_chosen_for_a_replaced_model_are_not_stored(folder):
    (folder / "manifest.json").write_bytes(b"another manifest")
    with pytest.raises(InputError, match="was replaced while its heads were chosen"):
        save_alignment_heads(folder, MODEL, HEADS, {})
    assert not (folder / "alignment.json").exists()


@pytest.mark.parametrize(
    ("old", "new"),
    [('"layer": 2', '"layer": 1'), ("true", "false"), (MODEL, MODEL[::-1]), (" 3", " 2")],
)
def test_a_stored_choice_that_was_edited_is_refused(folder, old, new):
    path = save_alignment_heads(folder, MODEL, HEADS, {})
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(FolderError, match="is not as it was written"):
        read_alignment_heads(folder, MODEL, replace(SIZES, layers=2, heads=3))


@pytest.mark.parametrize(
    "values",
    [
        {"layer": "1", "heads": [1], "shifted": True},
        {"layer": 1, "heads": ["1"], "shifted": True},
        {"layer": 1, "heads": [], "shifted": True},
        {"layer": 1, "heads": [1]},
        {"layer": True, "heads": [True], "shifted": True},
    ],
)
def test_a_choice_of_a_wrong_form_is_refused(folder, values):
    from transduce.durable.json import to_checksummed_json

    (folder / "alignment.json").write_bytes(to_checksummed_json({"model": MODEL, **values}))
    with pytest.raises(FolderError, match="names"):
        read_alignment_heads(folder, MODEL, SIZES)
