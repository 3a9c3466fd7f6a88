"""Section 6.1: averaging of checkpoints, beam search, length penalty."""

from itertools import islice

import pytest
import torch
from tests.reference.toy_decoder import ToyDecoder, random_model

from transduce.checkpoint.checkpoints import save_snapshot
from transduce.checkpoint.run_file import create_run
from transduce.paper.search import LengthScore, beam_search, max_output_length
from transduce.recipes import by_name
from transduce.runs.average import average_snapshots, average_weights
from transduce.settings import Search
from transduce.vocabulary import END


def test_the_average_is_the_mean_of_the_last_checkpoints():
    """θ = (θ_1 + … + θ_5) / 5, number by number."""
    checkpoints = [{"w": torch.randn(3, 2), "b": torch.randn(4)} for _ in range(5)]
    found = average_weights(checkpoints)
    for name, mean in found.items():
        for index in range(mean.numel()):
            values = [float(weights[name].flatten()[index]) for weights in checkpoints]
            assert float(mean.flatten()[index]) == pytest.approx(sum(values) / 5, abs=1e-7)


@pytest.mark.parametrize(
    ("recipe", "last", "every"),
    [("table2/base-en-de", 5, 1_500), ("table2/big-en-de", 20, 600), ("table2/big-en-fr", 20, 600)],
)
def test_base_averages_the_last_5_and_big_the_last_20_written_every_ten_minutes(
    recipe, last, every
):
    """Ten of the paper's minutes, at 0.4 s and at 1.0 s a step: recipes count steps."""
    training = by_name(recipe).training
    assert (training.average_last, training.snapshot_every) == (last, every)


@pytest.mark.parametrize(("recipe", "last"), [("table2/base-en-de", 5), ("table2/big-en-de", 20)])
def test_of_all_snapshots_of_a_run_the_last_5_of_base_and_20_of_big_are_averaged(
    tmp_path, recipe, last
):
    """A run of 25 snapshots, each weight of which is its step."""
    create_run(tmp_path, by_name(recipe), {})
    every = by_name(recipe).training.snapshot_every
    for number in range(1, 26):
        save_snapshot(tmp_path, every * number, {"w": torch.tensor([float(every * number)])})
    steps, mean, _ = average_snapshots(tmp_path, None)
    assert steps == [every * number for number in range(26 - last, 26)]
    assert mean["w"].item() == pytest.approx(sum(steps) / last)


def test_beam_4_alpha_0_6_and_at_most_50_more_than_the_input():
    search = Search()
    assert (search.beam, search.alpha, search.extra_length, search.penalty) == (4, 0.6, 50, "gnmt")
    ended_by_0 = [7, 8, 9, 0]
    assert max_output_length(len(ended_by_0) - 1, search.extra_length) == 3 + 50


def test_the_length_penalty_by_hand():
    """lp(Y) = ((5 + |Y|) / 6)^0.6: nothing at length 1, (10/6)^0.6 at 5, 2 at 6 · 2^(1/0.6) - 5."""
    table = LengthScore.tabulate(Search(), 40).divisors.tolist()
    known = [1.0, 1.0969, 1.1884, 1.2754, 1.3587]  # of 1 to 5 symbols
    assert list(islice(table, 1, 6)) == pytest.approx(known, abs=1e-4)
    assert table[14] < 2 < table[15]


def test_a_score_is_log_p_over_the_penalty_so_that_longer_outputs_have_a_chance():
    """log P of -4.0 in 5 symbols loses against -4.6 in 10, and wins without a penalty."""
    log_probs, lengths = torch.tensor([-4.0, -4.6]), torch.tensor([5, 10])
    shorter, longer = LengthScore.tabulate(Search(), 10).score(log_probs, lengths).tolist()
    assert (shorter, longer) == pytest.approx((-4.0 / (10 / 6) ** 0.6, -4.6 / (15 / 6) ** 0.6))
    assert shorter < longer
    unpenalised = LengthScore.tabulate(Search(alpha=0.0), 10)
    shorter, longer = unpenalised.score(log_probs, lengths).tolist()
    assert shorter > longer


def test_outputs_of_the_search_have_these_scores_their_end_counted():
    decoder = ToyDecoder(random_model(1, symbols=5), 4)
    ((*found,),) = beam_search(decoder, [(5, 6, END)], Search(extra_length=9), nbest=4)
    assert len({len(one.ids) for one in found}) > 1
    for one in found:
        lp = ((5 + len(one.ids) + 1) / 6) ** 0.6
        assert one.score == pytest.approx(one.log_prob / lp, rel=1e-5)
