"""Which scores are comparable with a figure of the paper."""

from pathlib import Path

import pytest

from transduce.scores.metrics import METRICS
from transduce.scores.paper_bleu import BLEU_METRICS, describe_paper_comparability
from transduce.scores.scoring import compute_score
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


def test_the_paper_s_own_bleu_of_the_shorter_edition_is_comparable_with_table_2():
    found = describe_paper_comparability("bleu-paper", GERMAN_2014_FILTERED + OTHER_FORM)
    assert found.startswith("comparable with 27.3 (base) and 28.4 (big) of Table 2, if ")


def test_table_3_is_on_newstest2013():
    found = describe_paper_comparability("bleu-paper", GERMAN_2013)
    assert found.startswith("comparable with 25.8 (base) and 26.4 (big) of Table 3, if ")


@pytest.mark.parametrize("metric", BLEU_METRICS)
def test_no_figure_on_the_longer_edition_is_comparable(metric):
    found = describe_paper_comparability(metric, GERMAN_2014_ALL)
    assert found.startswith(
        "not comparable with 27.3 (base) and 28.4 (big) of Table 2: these are on the"
    )


@pytest.mark.parametrize("metric", [name for name in BLEU_METRICS if name != "bleu-paper"])
@pytest.mark.parametrize("test_set", SETS)
def test_no_other_bleu_is_comparable_on_any_set(metric, test_set):
    assert not describe_paper_comparability(metric, test_set).startswith("comparable")
    assert "not comparable" in describe_paper_comparability(metric, test_set)


def test_where_the_paper_prints_no_figure_the_sentence_is_empty():
    others = [name for name in KNOWN.values() if name not in SETS]
    assert len(others) > 10
    assert {
        describe_paper_comparability(metric, name) for metric in METRICS for name in others
    } == {""}
    assert {
        describe_paper_comparability(metric, name) for metric in ("chrf", "ter") for name in SETS
    } == {""}
    assert compute_score("bleu", ["a b c d"], ["a b c d"]).paper_comparability == ""


def test_every_bleu_has_a_sentence():
    assert set(BLEU_METRICS) == {name for name, metric in METRICS.items() if "BLEU" in metric.name}


def test_the_table_of_the_page_has_the_same_sentences():
    page = (ROOT / "docs/internals/paper.md").read_text(encoding="utf-8")
    _, _, table = page.partition("| what the command prints |\n|---|---|---|\n")
    printed, name = [], ""
    for row in table.partition("\n\n")[0].splitlines():
        first, metric, sentence = (cell.strip(" `") for cell in row.strip("|").split("|"))
        name = name if first == "the same" else first
        printed.append((name, metric, sentence))
    assert len(printed) == 8
    names = ("2013 en-de", "2014 en-de, all 3,003", "2014 en-de, the filtered 2,737", "2014 en-fr")
    for name, test_set in zip(names, SETS, strict=True):
        rows = {metric: said for row, metric, said in printed if row == f"newstest{name}"}
        for metric in BLEU_METRICS:
            other = "any BLEU" if "any BLEU" in rows else "other BLEU"
            said = rows.get(metric, rows[other])
            assert describe_paper_comparability(metric, test_set) == said
