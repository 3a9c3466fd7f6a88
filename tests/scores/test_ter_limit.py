"""Lines for which sacreBLEU's TER needs very much memory are refused before it begins."""

import pytest
from sacrebleu.metrics import lib_ter
from sacrebleu.metrics.ter import TER

from transduce.allowance import LINE_BYTES
from transduce.errors import InputError
from transduce.scores.sacrebleu_scorers import (
    estimate_ter_bytes,
    require_lines_short_enough_for_ter,
)
from transduce.scores.scoring import compute_score, require_scorable

TURNED = ("a b c d " * 3, "d c b a " * 3)  # many shifts: each keeps more rows


def test_a_line_of_20_000_words_is_refused_with_its_number_and_a_way_around(monkeypatch):
    monkeypatch.setattr(TER, "corpus_score", None)
    with pytest.raises(InputError, match=r"line 2: .* 20,000 words against") as error:
        compute_score("ter", ["a", "a b " * 10_000], ["a", "b a " * 10_000])
    assert "--metric bleu alone leaves TER out" in error.value.hint
    assert "--metric ter-any-length takes it anyway" in error.value.hint


def test_a_reference_of_20_000_words_is_refused_before_anything_is_translated():
    with pytest.raises(InputError, match=r"line 1: .* 20,000 words against 20,000"):
        require_scorable(["bleu", "ter"], ["a b " * 10_000], "")


def test_two_thousand_words_are_not_too_many():
    line = "a " * 2_000
    require_lines_short_enough_for_ter([[line], [line]], str.split)
    with pytest.raises(InputError):
        require_lines_short_enough_for_ter([[line + "a"], [line]], str.split)


def test_ter_of_any_length_is_the_same_number():
    texts = [["a b " * 6, "a dog runs"], ["a b " * 6 + "c " * 3_300, "the dog runs"]]
    with pytest.raises(InputError, match="line 1: sacreBLEU's TER of 12 words against 3,312"):
        compute_score("ter", *texts)
    expected = TER().corpus_score(texts[0], texts[1:]).score
    assert compute_score("ter-any-length", *texts).value == expected


@pytest.mark.parametrize(
    "texts", [TURNED, ("a b", "d c b a " * 20), ("d c b a " * 6, "b a"), ("a " * 40, "a " * 40)]
)
def test_sacrebleu_keeps_no_more_rows_than_estimated(monkeypatch, texts):
    held = []
    compute = lib_ter.BeamEditDistance._edit_distance

    def count(self, words, start, rows):
        made = compute(self, words, start, rows)
        held.append(rows_below(self._cache) + len(words) + len(made[1]))
        return made

    monkeypatch.setattr(lib_ter.BeamEditDistance, "_edit_distance", count)
    ours, theirs = (text.split() for text in texts)
    lib_ter.translation_edit_rate(ours, theirs)
    found = 8 * len(theirs) * max(held)
    assert 0 < found <= estimate_ter_bytes(len(ours), len(theirs)) < LINE_BYTES


def rows_below(cache):
    """The rows that are kept in a tree of words."""
    nodes, count = [cache], 0
    while nodes:
        children = [child for child, _ in nodes.pop().values()]
        nodes += children
        count += len(children)
    return count
