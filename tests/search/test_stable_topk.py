import pytest
import torch

from transduce.search.stable_topk import highest, highest_sums


def draw(*shape, seed=1):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).log_softmax(dim=-1)


@pytest.mark.parametrize("symbols", [2, 63, 64, 65, 500, 640, 5_001])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_highest_sums_are_those_of_a_stable_sort(symbols, dtype):
    """bfloat16 has so few values that most rows hold equals."""
    scores, log_probs = draw(20, 3).to(dtype), draw(60, symbols, seed=symbols).to(dtype)
    values, places = highest_sums(scores, log_probs, 6)
    everything = (scores[:, :, None] + log_probs.view(20, 3, symbols)).flatten(1)
    expected = everything.sort(dim=1, descending=True, stable=True)
    assert torch.equal(values, expected.values[:, :6])
    assert torch.equal(places, expected.indices[:, :6])


def test_a_sentence_is_searched_as_if_it_were_alone():
    scores = torch.zeros(30, 2)
    log_probs = -(draw(60, 2_000).abs() % 3).round()  # nothing but equals
    together = highest_sums(scores, log_probs, 4)[1]
    alone = [highest_sums(scores[s : s + 1], log_probs[2 * s : 2 * s + 2], 4)[1] for s in range(30)]
    assert torch.equal(together, torch.cat(alone))


def test_what_is_not_a_number_comes_last_and_minus_infinity_before_it():
    row = torch.tensor([[torch.nan, -torch.inf, -2.0, 0.0]])
    assert highest(row, 4)[1].tolist() == [[3, 2, 1, 0]]
