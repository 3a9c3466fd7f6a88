import pytest

from transduce.scores.metrics import METRICS
from transduce.scores.scoring import compute_score


def test_it_is_the_percentage_of_lines_that_equal_a_reference():
    score = compute_score("exact-match", ["a b", "c", "d "], ["a b", "C", "d"], ["a", "c", "d"])
    assert score.value == pytest.approx(200 / 3)
    assert score.details == {"matches": 2}
    assert score.higher_is_better
    assert score.signature.startswith("case:mixed|whole:line|version:")


def test_statistics_of_a_resampled_test_set_give_its_score():
    scorer = METRICS["exact-match"].scorer
    assert scorer.count_lines([["a", "b", "c"], ["a", "x", "c"]]) == [(1, 1), (0, 1), (1, 1)]
    assert scorer.score_sums([3.0, 4.0]) == 75.0


def test_only_of_ter_a_lower_figure_is_better():
    assert not compute_score("ter", ["a"], ["a"]).higher_is_better
    assert compute_score("bleu", ["a"], ["a"]).higher_is_better
