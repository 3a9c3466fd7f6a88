"""Which figure may stand beside a figure of the paper."""

from pathlib import Path

import pytest

from transduce.scores import METRICS, bleu
from transduce.scores.comparability import BLEU, paper_comparability
from transduce.scores.test_sets import (
    FRENCH_2014,
    GERMAN_2013,
    GERMAN_2014_ALL,
    GERMAN_2014_FILTERED,
    KNOWN,
    OTHER_FORM,
)

ROOT = Path(__file__).parents[2]
SETS = (GERMAN_2013, GERMAN_2014_ALL, GERMAN_2014_FILTERED, FRENCH_2014)


def test_the_paper_s_own_bleu_of_the_shorter_edition_may_stand_beside_table_2():
    said = paper_comparability("bleu-paper", GERMAN_2014_FILTERED + OTHER_FORM)
    assert said.startswith("may stand beside 27.3 (base) and 28.4 (big) of Table 2, if ")


def test_table_3_is_on_newstest2013():
    said = paper_comparability("bleu-paper", GERMAN_2013)
    assert said.startswith("may stand beside 25.8 (base) and 26.4 (big) of Table 3, if ")


@pytest.mark.parametrize("metric", BLEU)
def test_no_figure_on_the_longer_edition_may(metric):
    said = paper_comparability(metric, GERMAN_2014_ALL)
    assert said.startswith("not beside 27.3 (base) and 28.4 (big) of Table 2: these are on the")


@pytest.mark.parametrize("metric", [name for name in BLEU if name != "bleu-paper"])
@pytest.mark.parametrize("test_set", SETS)
def test_no_other_bleu_may_on_any_set(metric, test_set):
    assert not paper_comparability(metric, test_set).startswith("may")
    assert "not beside " in paper_comparability(metric, test_set).replace("but ", "")


def test_where_the_paper_prints_nothing_nothing_is_said():
    others = [name for name in KNOWN.values() if name not in SETS]
    assert len(others) > 10
    assert {paper_comparability(metric, name) for metric in METRICS for name in others} == {""}
    assert {paper_comparability(metric, name) for metric in ("chrf", "ter") for name in SETS} == {
        ""
    }
    assert bleu(["a b c d"], ["a b c d"]).paper_comparability == ""


def test_every_bleu_is_asked_about():
    assert set(BLEU) == {name for name, metric in METRICS.items() if "BLEU" in metric.name}


def test_the_table_of_the_page_says_the_same():
    page = (ROOT / "docs/internals/paper.md").read_text(encoding="utf-8")
    said = {paper_comparability(metric, name) for metric in METRICS for name in SETS} - {""}
    assert len(said) == 8
    assert [sentence for sentence in said if f"| {sentence} |" not in page] == []
