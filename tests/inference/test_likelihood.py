"""Scores of targets that are given: equal to the loss of training and to those of the search."""

import copy
import math
from dataclasses import replace

import pytest
import torch
from tests.inference.random_models import LINES, SEARCH, WORDS, ensemble_of, random_translator

from transduce.errors import InputError
from transduce.fast.loss import smoothed_loss
from transduce.inference.outputs import combine_models
from transduce.inference.pairs import target_log_probs
from transduce.packed import Batch, Packed
from transduce.paper.search import beam_search
from transduce.vocabulary import BEGIN, END

TRANSLATE, OTHER = random_translator(), random_translator(2)
MEMBERS = {"one": (TRANSLATE.models[0],), "two": (TRANSLATE.models[0], OTHER.models[0])}
SOURCES = [[*WORDS.encode(line), END] for line in LINES]
TARGETS = list(reversed(SOURCES))


def test_they_are_the_loss_of_training_without_smoothing():
    model, batch = (
        TRANSLATE.models[0],
        Batch(Packed.from_sentences(SOURCES), Packed.from_sentences(TARGETS)),
    )
    states = model.decode(batch.target.shift_right(BEGIN), model.encode(batch.source))
    loss, _ = smoothed_loss(states, model.output.weight, batch.target.ids, mass=0.0)
    found = target_log_probs((model,), SOURCES, TARGETS, 8_192)
    assert -sum(found) == pytest.approx(loss.item(), rel=1e-6)


@pytest.mark.parametrize("members", MEMBERS)
@pytest.mark.parametrize("beam", [1, 4])
def test_they_are_those_of_the_search_for_what_it_found(members, beam):
    models = MEMBERS[members]
    search = TRANSLATE.searching(beam=beam).recipe.search
    found = beam_search(combine_models(models), SOURCES, search, nbest=beam)
    pairs = [(s, one) for s, best in zip(SOURCES, found, strict=True) for one in best]
    targets = [[*one.ids, END] for _, one in pairs]
    scores = target_log_probs(models, [source for source, _ in pairs], targets, 300)
    assert scores == pytest.approx([one.log_prob for _, one in pairs], abs=1e-4)


@torch.inference_mode()
def test_they_are_those_of_decoding_symbol_by_symbol():
    decoder = combine_models(MEMBERS["two"])
    found = target_log_probs(MEMBERS["two"], SOURCES, TARGETS, 8_192)
    for source, target, log_prob in zip(SOURCES, TARGETS, found, strict=True):
        state, total = decoder.start([source]), 0.0
        for given, wanted in zip([BEGIN, *target], target, strict=False):
            log_probs, state = decoder.step(state, torch.tensor([given]))
            total += log_probs[0, wanted].item()
        assert log_prob == pytest.approx(total, abs=1e-4)


def test_they_do_not_depend_on_the_rest_of_the_batch():
    together_ = target_log_probs(MEMBERS["two"], SOURCES, TARGETS, 8_192)
    alone = [
        target_log_probs(MEMBERS["two"], [source], [target], 8_192)[0]
        for source, target in zip(SOURCES, TARGETS, strict=True)
    ]
    assert together_ == pytest.approx(alone, abs=1e-5)


def test_lines_of_text_are_scored_with_the_penalty_of_the_search_in_any_block():
    pairs = list(zip(LINES, reversed(LINES), strict=True))
    found = list(TRANSLATE.likelihood(pairs))
    assert [one.text for one in found] == list(reversed(LINES))
    assert [one.log_prob for one in found] == pytest.approx(
        target_log_probs((TRANSLATE.models[0],), SOURCES, TARGETS, 8_192), abs=1e-5
    )
    for one, ids in zip(found, TARGETS, strict=True):
        expected = one.log_prob / ((5 + len(ids)) / 6) ** SEARCH.alpha
        assert one.score == pytest.approx(expected, rel=1e-6)
    apart = list(TRANSLATE.likelihood(pairs, block=2))
    assert [one.score for one in apart] == pytest.approx([one.score for one in found], abs=1e-5)


@torch.inference_mode()
def test_all_first_symbols_together_are_certain():
    """Targets of one symbol and END, and the empty one: with all that goes on, probability 1."""
    source = SOURCES[0]
    decoder = combine_models((TRANSLATE.models[0],))
    first, _ = decoder.step(decoder.start([source]), torch.tensor([BEGIN]))
    (empty,) = target_log_probs((TRANSLATE.models[0],), [source], [[END]], 8_192)
    rest = 1 - first[0].exp()[END].item()
    assert math.exp(empty) + rest == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    ("pair", "fact"),
    [
        (("x" * 60, "a"), "line 3: a source of 61 pieces, and this model takes 24"),
        (("a", "x" * 60), "line 3: a target of 61 pieces, and this model takes 27"),
    ],
)
def test_a_pair_that_is_too_long_has_nan_and_a_warning_or_is_refused_if_strict(pair, fact):
    pairs, warnings = [("a", "b"), ("c", "d"), pair, ("a", "b")], list[str]()
    lenient = replace(TRANSLATE, on_warning=lambda warning: warnings.append(str(warning)))
    found = list(lenient.likelihood(pairs, block=2))
    assert warnings == [fact]
    assert math.isnan(found[2].score)
    assert math.isnan(found[2].log_prob)
    assert found[2].text == pair[1]
    assert found[3].score == pytest.approx(found[0].score, abs=1e-5)
    with pytest.raises(InputError) as error:
        list(replace(TRANSLATE, strict=True).likelihood(pairs, block=2))
    assert str(error.value).startswith(f"{fact}\nhint: split the sentence, or train with")


def test_an_ensemble_scores_with_the_mean_at_every_piece():
    pair = [("a dog", "the cat")]
    (found,) = ensemble_of(TRANSLATE, TRANSLATE).likelihood(pair)
    (alone,) = TRANSLATE.likelihood(pair)
    assert found.log_prob == pytest.approx(alone.log_prob, abs=1e-5)


def test_in_bfloat16_they_are_nearly_the_same():
    exact = target_log_probs((TRANSLATE.models[0],), SOURCES, TARGETS, 8_192)
    model = copy.deepcopy(TRANSLATE.models[0]).to(torch.bfloat16)
    assert target_log_probs((model,), SOURCES, TARGETS, 8_192) == pytest.approx(exact, rel=0.02)


def test_in_bfloat16_the_search_says_what_it_scores():
    model = copy.deepcopy(TRANSLATE.models[0]).to(torch.bfloat16)
    found = beam_search(combine_models((model,)), SOURCES, TRANSLATE.recipe.search)
    targets = [[*best.ids, END] for best, *_ in found]
    scores = target_log_probs((model,), SOURCES, targets, 8_192)
    assert scores == pytest.approx([best.log_prob for best, *_ in found], rel=0.02)


def test_the_search_counts_in_float32_whatever_the_model_does():
    decoder = combine_models((copy.deepcopy(TRANSLATE.models[0]).to(torch.bfloat16),))
    state = decoder.reorder(decoder.start(SOURCES[:1]), torch.tensor([0]))
    with torch.inference_mode():
        log_probs, _ = decoder.step(state, torch.tensor([BEGIN]))
    assert log_probs.dtype == torch.float32
    assert log_probs.exp().sum().item() == pytest.approx(1, abs=1e-5)
