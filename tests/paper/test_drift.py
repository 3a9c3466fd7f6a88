"""How re-implementations drift: each known trap, and that we are not in it.

Those that a section's own file already asserts are not repeated: biases in projections (3.2.2),
√d_model (3.4), interleaving (3.5), two budgets (5.1), Adam's constants and the factor (5.3), inner
dropouts (5.4), perplexity (5.4), alpha and the length limit (6.1).
"""

import math

import pytest
import torch
from tests.model.tiny import model_of, packed, sizes, states_of
from tests.training.tiny import batch_of, fresh, joined, take_update, training_of

from transduce.checkpoint.checkpoints import save_snapshot
from transduce.checkpoint.run_file import create_run
from transduce.paper.model import Residual, compute_sinusoids
from transduce.paper.search import LengthScore
from transduce.paper.training import batch_loss, scaled_learning_rate
from transduce.recipes import by_name, names
from transduce.runs.average import average_snapshots
from transduce.settings import Architecture, Recipe, Search, Training

padding = pytest.mark.parametrize("pad_to_tokens", [0, 64])  # 0: none on a CPU in float32


def plain_norms(model):
    """Gains of one and biases of zero."""
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "norm" in name:
                weight.fill_(1.0 if name.endswith("weight") else 0.0)
    return model


def test_post_norm_what_leaves_a_stack_is_normalised_without_a_norm_at_its_top():
    for states in states_of(plain_norms(model_of()), packed([5, 2]), packed([3, 4])):
        torch.testing.assert_close(states.mean(dim=1), torch.zeros(7, dtype=states.dtype))
        ones = torch.ones(7, dtype=states.dtype)
        torch.testing.assert_close(states.square().mean(dim=1), ones, rtol=1e-4, atol=0)


def test_post_norm_a_sub_layer_gets_what_was_normalised_already():
    """In pre-norm the path around sub-layers grows; here it has the size of a norm everywhere."""
    model = plain_norms(model_of(sizes(layers=3)))
    for stack, count in ((model.encoder, 2 * 3), (model.decoder, 3 * 3)):
        given: list[torch.Tensor] = []
        for one in stack.modules():
            if isinstance(one, Residual):
                one.register_forward_pre_hook(
                    lambda _, inputs, given=given: given.append(inputs[0])
                )
        states_of(model, packed([6]), packed([6]))
        assert len(given) == count
        for x in given[1:]:  # the first is the sum of embeddings and positions
            torch.testing.assert_close(x.mean(dim=1), torch.zeros(6, dtype=x.dtype))
            ones = torch.ones(6, dtype=x.dtype)
            torch.testing.assert_close(x.square().mean(dim=1), ones, rtol=1e-4, atol=0)


def test_d_k_does_not_follow_from_d_model_and_heads():
    wide = Architecture(d_model=1024, heads=16)
    assert (wide.d_k, wide.d_v) == (64, 64)
    assert Architecture(heads=4).d_k == 64


@padding
def test_padding_is_not_counted(pad_to_tokens):
    """13 and 15 tokens in two pairs of very different length are counted as 13 and 15."""
    training = training_of(pad_to_tokens=pad_to_tokens)
    model, optimiser = fresh(training)
    update = take_update(model, optimiser, training, 1, [batch_of([12, 1], seed=1)])
    assert update is not None
    assert (update.source_tokens, update.target_tokens) == (13, 15)


@padding
def test_smoothing_does_not_reach_over_padding(pad_to_tokens):
    """The loss of a ragged batch is the sum of the losses of its pairs alone."""
    training = training_of(pad_to_tokens=pad_to_tokens)
    model, _ = fresh(training, dtype=torch.float64)
    parts = [batch_of([n], seed=n) for n in (9, 1, 4)]
    together, _ = batch_loss(model, training, joined(parts))
    alone = sum(float(batch_loss(model, training, part)[0].detach()) for part in parts)
    assert float(together.detach()) == pytest.approx(alone, rel=1e-12)


def test_positions_are_not_sines_and_then_cosines():
    first = compute_sinusoids(2, 8)[1]
    torch.testing.assert_close(first[0].square() + first[1].square(), torch.tensor(1.0).double())


def test_a_learning_rate_factor_multiplies_equation_3_only_where_a_recipe_says_so():
    rates = [
        scaled_learning_rate(100, Architecture(), Training(learning_rate_factor=factor))
        for factor in (1.0, 2.0)
    ]
    assert rates[1] == 2 * rates[0]
    papers = [name for name in names() if name.startswith(("table2/", "table3/"))]
    assert {by_name(name).training.learning_rate_factor for name in papers} == {1.0}


def test_the_last_snapshots_are_averaged_not_the_best(tmp_path):
    """Whatever the order in which they were written; nothing in them says how good they are."""
    create_run(tmp_path, Recipe(name="test"), {})
    every = Training().snapshot_every
    for number in (3, 1, 2):
        save_snapshot(tmp_path, every * number, {"w": torch.tensor([float(number)])})
    steps, mean, _ = average_snapshots(tmp_path, 2)
    assert (steps, mean["w"].item()) == ([2 * every, 3 * every], 2.5)


def test_a_run_that_was_given_more_updates_is_averaged_as_if_it_had_them_from_the_start(tmp_path):
    every = Training().snapshot_every
    create_run(tmp_path, Recipe(name="test"), {})
    for step in (every, 2 * every, 2 * every + 1, 3 * every, 3 * every + 1):
        save_snapshot(tmp_path, step, {"w": torch.tensor([float(step)])})
    steps, *_ = average_snapshots(tmp_path, 4)
    assert steps == [every, 2 * every, 3 * every, 3 * every + 1]


def test_the_length_penalty_is_not_the_length_to_the_power_of_alpha():
    table = LengthScore.tabulate(Search(), 10).divisors
    assert table[10].item() == pytest.approx((15 / 6) ** 0.6)
    assert not math.isclose(table[10].item(), 10**0.6, rel_tol=0.1)


def test_the_defaults_are_the_text_and_not_the_later_preset_of_the_published_code():
    """tensor2tensor's transformer_base of later date: beta2 0.997, 8,000, factor 2, 0.1 inside."""
    training, architecture = Training(), Architecture()
    assert (training.beta2, training.warmup, training.learning_rate_factor) == (0.98, 4_000, 1)
    assert (architecture.attention_dropout, architecture.feed_forward_dropout) == (0, 0)
    assert (architecture.norm, training.smoothing_form) == ("post", "szegedy")
