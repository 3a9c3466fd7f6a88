"""Training data and batching."""

import numpy as np
import torch
from tests.training.tiny import SYMBOLS, batches, fresh, joined, take_update, training_of

import transduce
from transduce.corpus.plan import Plan
from transduce.paper.training import update_weights
from transduce.recipes import by_name
from transduce.runs.prepared_corpus import build_feed
from transduce.settings import Data


def lengths(count=4000, seed=5):
    draw = np.random.default_rng(seed)
    source = draw.integers(1, 60, count)
    return source, np.maximum(1, (source * draw.uniform(0.5, 1.7, count)).astype(int))


def planned(source_tokens, target_tokens):
    source, target = lengths()
    plan = Plan(source, target, source_tokens=source_tokens, target_tokens=target_tokens, seed=1)
    updates = [plan.select_pairs(step) for step in range(1, len(plan.epoch(1)) + 1)]
    return source, target, updates


def test_each_update_has_about_25_000_source_and_about_25_000_target_tokens(tmp_path):
    assert (Data().source_tokens, Data().target_tokens) == (25_000, 25_000)
    text = [(" ".join("abcdef"[i % 6] * 2 for i in range(n, n + 40)), "x y " * 20 + str(n))
            for n in range(1_500)]  # fmt: skip
    prepared = transduce.prepare(tmp_path / "store", text, recipe="tiny")
    feed = build_feed(by_name("table2/base-en-de"), prepared, 25_000)
    parts = feed.micro_batches(1)
    tokens = [sum(len(getattr(part, side).ids) for part in parts) for side in ("source", "target")]
    assert 20_000 < min(tokens) <= max(tokens) <= 25_000
    assert max(tokens) > 24_000


def test_both_sides_have_a_budget_of_their_own_that_real_tokens_fill():
    """Neither is exceeded, and the one that is tighter decides."""
    for budgets in ((1500, 1500), (1500, 700), (400, 1500)):
        source, target, updates = planned(*budgets)
        sums = np.array([[source[pairs].sum(), target[pairs].sum()] for pairs in updates])
        assert (sums <= budgets).all()
        fullest = (sums / budgets).max(axis=1)
        assert fullest.mean() > 0.93, "about so many"


def test_pairs_of_similar_length_come_together():
    source, target, updates = planned(1500, 1500)
    for side, share in ((source, 0.4), (target, 0.7)):  # a target is 0.5 to 1.7 times its source
        inside = np.mean([np.std(side[pairs]) for pairs in updates])
        assert inside < share * np.std(side)


def test_an_epoch_has_every_pair_once():
    source, target = lengths()
    plan = Plan(source, target, source_tokens=1500, target_tokens=1500, seed=1)
    count = len(plan.epoch(1))
    epochs: list[list[int]] = []
    for first in (1, 1 + count):
        steps = range(first, first + len(plan.epoch(1 + len(epochs))))
        epochs.append(np.concatenate([plan.select_pairs(step) for step in steps]).tolist())
        assert sorted(epochs[-1]) == list(range(len(source)))
    assert epochs[0] != epochs[1]


def test_the_size_of_an_update_is_that_of_all_its_micro_batches_together():
    """The paper's 25,000 tokens are those of eight devices; a gradient is their sum."""
    training = training_of(label_smoothing=0.1)
    gradients, counts = [], []
    for parts in (batches(1), [joined(batches(1))]):
        model, optimiser = fresh(training)
        update = take_update(model, optimiser, training, 1, parts)
        assert update is not None
        gradients.append(torch.cat([one.flatten() for one in optimiser.list_gradients()]))
        counts.append((update.source_tokens, update.target_tokens))
    assert counts == [(11, 16)] * 2, "real tokens, no padding"
    np.testing.assert_allclose(gradients[0], gradients[1], rtol=1e-4, atol=1e-7)


def test_the_gradients_of_all_devices_add_up_to_those_of_one_update():
    """Each of two devices computes its own micro-batch, divided by the tokens of both."""
    training = training_of(label_smoothing=0.1)
    gradients = [gradient_of(training, own) for own in ({0, 1}, {0}, {1})]
    assert all(gradient.any() for gradient in gradients)
    torch.testing.assert_close(gradients[1] + gradients[2], gradients[0], rtol=1e-4, atol=1e-7)


def gradient_of(training, own):
    """The gradient of an update on a device that computes the micro-batches `own` alone."""

    def run_own(accumulate, token_counts, _):
        return torch.stack([accumulate(one) for one in range(len(token_counts)) if one in own])

    model, optimiser = fresh(training)
    update = update_weights(model, optimiser, training, 1, batches(1), run_own)
    assert update is not None
    assert (update.source_tokens, update.target_tokens) == (11, 16), "those of both devices"
    return torch.cat([one.flatten() for one in optimiser.list_gradients()])


def test_a_vocabulary_of_about_37_000_symbols_is_shared_by_both_languages():
    assert (Data().vocabulary, Data().vocabulary_size) == ("byte-pair", 37_000)
    assert Data().shared_vocabulary
    model, _ = fresh(training_of())
    assert model.source is model.target
    assert len(model.source.weight) == SYMBOLS


def test_a_shared_vocabulary_is_learned_from_both_languages(tmp_path):
    pairs = [("kettle kettle", "Wasser Wasser")] * 20
    for is_shared in (True, False):
        settings = {
            "data.vocabulary_size": 268 if is_shared else 262,
            "data.shared_vocabulary": is_shared,
            "architecture.tie_embeddings": "all" if is_shared else "target",
        }
        source, target = transduce.prepare(
            tmp_path / str(is_shared), pairs, recipe="tiny", settings=settings
        ).vocabularies
        for vocabulary, own, other in ((source, "kettle", "Wasser"), (target, "Wasser", "kettle")):
            assert len(vocabulary.encode(own)) < len(own)
            assert (len(vocabulary.encode(other)) < len(other)) == is_shared
