"""Every fast entry of `Operations` equals its plain twin: values and gradients.

A field without a comparison fails the first test, so a new fast way costs a function and a line.
"""

import dataclasses
import random
from dataclasses import replace
from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fast.tiny import FAST, LOOPS
from tests.model.tiny import model_of, packed, sizes
from tests.reference.toy_decoder import ToyDecoder, random_model
from tests.training.tiny import batch_of, training_of

from transduce.equip import adapt_strategy, leave_together
from transduce.fast import layer_graph
from transduce.fast.blocks import BucketedAttention
from transduce.fast.choose import equip_for_training
from transduce.fast.highest_sums import assume_any, find_block_maxima, highest_sums
from transduce.fast.layer_graph import LayerGraph, StepKind
from transduce.paper.model import StepwiseTransformer
from transduce.paper.operations import PLAIN, AttentionMask, Operations
from transduce.paper.search import (
    BeamState,
    StepResult,
    beam_search,
    beam_strategy,
    run_continuous_batching,
)
from transduce.settings import Search

KINDS = {torch.float64: 1e-12, torch.float32: 2e-5}  # precision -> tolerance
WAYS = {"fast": FAST, "with compiled loops": LOOPS}
kinds = pytest.mark.parametrize("kind", KINDS)
ways = pytest.mark.parametrize("way", WAYS)
lengths = st.lists(st.integers(1, 9), min_size=1, max_size=6)
seeds = st.integers(0, 99)


def draw(seed, *shape, kind=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(kind)


def require_equal(found, expected, kind):
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one.to(kind), other.to(kind), rtol=KINDS[kind], atol=KINDS[kind])


def with_gradients(function, tensors):
    """The value of a function, and its gradients with respect to tensors."""
    fresh = [one.clone().requires_grad_() for one in tensors]
    out = function(*fresh)
    direction = torch.linspace(-1, 1, out.numel(), dtype=out.dtype).view(out.shape)
    return [out, *torch.autograd.grad((out * direction).sum(), fresh)]


COMPARED: set[str] = set()


def compares(field):
    """Mark a test as the one that compares a field of `Operations` with its plain twin."""
    COMPARED.add(field)
    return lambda test: test


def test_every_field_has_a_comparison():
    assert {field.name for field in dataclasses.fields(Operations)} == COMPARED


@compares("build_attention")
@kinds
@settings(max_examples=10)
@given(lengths, seeds, st.booleans(), st.sampled_from([0, 1, 3, 5]), st.data())
def test_attention_has_the_values_and_gradients_of_equation_1(kind, queries, seed, causal, r, data):
    keys = (
        queries
        if causal or r
        else data.draw(st.lists(st.integers(1, 9), min_size=len(queries), max_size=len(queries)))
    )
    mask = AttentionMask(causal=causal, neighbourhood=r)
    tensors = [
        draw(seed, sum(n), 2, width, kind=kind) for n, width in ((queries, 3), (keys, 3), (keys, 4))
    ]
    plain, fast = (way.build_attention(queries, keys, mask) for way in (PLAIN, FAST))
    assert isinstance(fast, BucketedAttention)
    require_equal(with_gradients(fast, tensors), with_gradients(plain, tensors), kind)


@compares("start_cache")
@ways
@kinds
@pytest.mark.parametrize(("width", "r"), [(1, 0), (2, 3), (3, 0)])
@torch.inference_mode()
def test_a_cache_gives_the_states_of_the_plain_one_as_rows_come_and_go(way, kind, width, r):
    chance, sources = random.Random(width), [2, 1, 6, 4] * (8 if way == "fast" else 12)
    model = model_of(sizes(decoder_neighbourhood=r, encoder_neighbourhood=r)).to(kind)
    memory = model.encode(packed(sources))
    states = {one: model.start_cache(memory, one) for one in (PLAIN, WAYS[way])}
    rows = torch.arange(len(sources)).repeat_interleave(width)
    for step in range(6):
        states = {one: state.reorder(rows) for one, state in states.items()}
        ids = torch.randint(2, 11, (len(rows),), generator=torch.Generator().manual_seed(step))
        taken = {one: model.decode_step(ids, state, one) for one, state in states.items()}
        plain, fast = (found for found, _ in taken.values())
        require_equal([fast], [plain], kind)
        states = {one: state for one, (_, state) in taken.items()}
        if step == 2:
            more = {
                one: model.start_cache(memory, one).reorder(
                    torch.arange(len(sources)).repeat_interleave(width)
                )
                for one in states
            }
            states = {one: state.concatenate(more[one]) for one, state in states.items()}
        count = len(ids) // width + (len(sources) if step == 2 else 0)
        kept = sorted(chance.sample(range(count), chance.randint(1, count)))
        rows = torch.tensor(
            [n * width + chance.randrange(width) for n in kept for _ in range(width)]
        )


@compares("run_layers")
@pytest.mark.usefixtures("unchecked_types")  # a graph is traced with numbers as tensors
def test_layers_as_a_graph_find_what_the_plain_layers_find(monkeypatch):
    monkeypatch.setattr(layer_graph, "STEPS_BEFORE", dict.fromkeys(StepKind, 1))
    model = model_of().float().eval()
    sources = [packed([n]).to_sentences()[0] for n in (3, 5, 2, 7)]
    run_layers = LayerGraph(model.decoder)
    plain, fast = (
        beam_search(StepwiseTransformer(model, one), sources, Search(beam=2), operations=one)
        for one in (FAST, replace(FAST, run_layers=run_layers))
    )
    assert run_layers.graphs
    assert all(run_layers.graphs.values()), "every graph was traced"
    assert fast == plain


@compares("smoothed_loss")
@kinds
@pytest.mark.parametrize("has_bias", [False, True])
@settings(max_examples=10)
@given(
    st.integers(1, 40), st.integers(0, 5), st.integers(2, 30), st.sampled_from([0.0, 0.1]), seeds
)
def test_the_loss_has_the_values_and_gradients_of_its_definition(
    kind, has_bias, tokens, padding, symbols, mass, seed
):
    tensors = [draw(seed, tokens + padding, 4, kind=kind), draw(seed + 1, symbols, 4, kind=kind)]
    tensors += [draw(seed + 2, symbols, kind=kind)] if has_bias else []
    targets = torch.randint(symbols, (tokens,), generator=torch.Generator().manual_seed(seed))

    def loss(operations):
        return lambda states, weight, bias=None: operations.smoothed_loss(
            states, weight, targets, mass, bias
        )[0]

    found, expected = (with_gradients(loss(one), tensors) for one in (FAST, PLAIN))
    require_equal(found, expected, kind)
    states, weight = tensors[:2]
    nats = [one.smoothed_loss(states, weight, targets, mass, None)[1] for one in (FAST, PLAIN)]
    require_equal(nats[:1], nats[1:], kind)


@compares("log_softmax")
@ways
@kinds
@given(st.sampled_from([1, 3, 64, 80]), st.integers(1, 300), seeds)
@settings(max_examples=6)
def test_log_softmax_is_the_plain_one(way, kind, rows, symbols, seed):
    logits = draw(seed, rows, symbols, kind=kind) * 5
    require_equal([WAYS[way].log_softmax(logits.clone())], [PLAIN.log_softmax(logits)], kind)


@compares("target_log_probs")
@kinds
@given(st.integers(1, 900), st.integers(2, 30), seeds, st.booleans())
@settings(max_examples=6)
def test_log_p_of_targets_is_the_plain_one(kind, tokens, symbols, seed, has_bias):
    states, weight = draw(seed, tokens, 4, kind=kind), draw(seed + 1, symbols, 4, kind=kind)
    targets = torch.randint(symbols, (tokens,), generator=torch.Generator().manual_seed(seed))
    bias = [draw(seed + 2, symbols, kind=kind)] if has_bias else []
    found, expected = (
        one.target_log_probs(states, weight, targets, *bias) for one in (FAST, PLAIN)
    )
    require_equal([found], [expected], kind)


@compares("highest_sums")
@ways
@given(st.integers(1, 5), st.integers(1, 4), st.integers(2, 300), seeds, st.booleans())
@settings(max_examples=10)
def test_the_highest_sums_are_the_plain_ones_to_the_bit(way, sentences, width, symbols, seed, tied):
    log_probs, scores = (
        draw(seed, sentences * width, symbols, kind=torch.float32),
        draw(seed, sentences, width, kind=torch.float32),
    )
    if tied:
        log_probs, scores = log_probs.round(), scores.round()
    count = min(2 * width, width * symbols)
    found, expected = (one.highest_sums(scores, log_probs, count) for one in (WAYS[way], PLAIN))
    assert all(map(torch.equal, found, expected))


@compares("is_any")
def test_flags_that_are_not_read_change_no_search():
    """As on a GPU, which is never asked for the value of a flag."""
    find_maxima = partial(find_block_maxima, is_any=assume_any)
    finds = partial(highest_sums, find_maxima=find_maxima)
    unread = replace(FAST, is_any=assume_any, highest_sums=finds)
    model = model_of()
    sources = [packed([n]).to_sentences()[0] for n in (3, 5, 2, 7)]
    plain, fast = (
        beam_search(StepwiseTransformer(model, one), sources, Search(beam=3), operations=one)
        for one in (PLAIN, unread)
    )
    for ours, theirs in zip(fast, plain, strict=True):
        assert [one.ids for one in ours] == [one.ids for one in theirs]


@pytest.mark.parametrize("nbest", [1, 3])
def test_a_search_that_done_sentences_leave_together_finds_the_same(nbest):
    found, waited = [], []
    model, search = random_model(1, symbols=5), Search(beam=3, extra_length=20)
    sources = [(*range(2, 2 + n), 0) for n in range(30)]
    for device in (torch.device("cpu"), torch.device("meta")):
        toy = ToyDecoder(model, search.beam)
        one_by_one = beam_strategy(toy, sources, search, nbest)
        strategy = adapt_strategy(one_by_one, search, device)

        def expand(*step, alone=one_by_one, chosen=strategy):
            result = chosen.expand(*step)
            done = int(alone.expand(*step).is_leaving.sum())
            waited.append(done - int(result.is_leaving.sum()))
            return result

        counting = replace(strategy, expand=expand)
        found.append(dict(run_continuous_batching(toy, sources, search, counting)))
    assert found[1] == found[0]
    assert max(waited) > 1


def test_sentences_of_a_search_that_stops_early_leave_one_by_one():
    """Else an output could still change while its sentence waits."""
    search = Search(stop="early")
    strategy = beam_strategy(ToyDecoder(random_model(1, symbols=5), 4), [(2, 0)], search)
    assert adapt_strategy(strategy, search, torch.device("meta")) is strategy


@pytest.mark.parametrize(
    ("done", "full", "expected"), [([3], [], []), ([3, 8], [], [3, 8]), ([3], [3], [3])]
)
def test_done_sentences_wait_for_an_eighth_of_the_batch_unless_one_is_full(done, full, expected):
    is_done, lengths = torch.zeros(9, dtype=torch.bool), torch.zeros(9, dtype=torch.long)
    is_done[done], lengths[full] = True, 5
    beams = BeamState(*[lengths] * 9)._replace(max_lengths=torch.full_like(lengths, 5))
    step = leave_together(StepResult(beams, None, is_done))
    assert step.is_leaving.nonzero().flatten().tolist() == expected


@compares("pad_batch")
@given(st.lists(st.integers(1, 70), min_size=1, max_size=5))
@settings(max_examples=6)
def test_a_padded_batch_has_the_loss_and_gradients_of_the_batch(lengths):
    training = training_of(pad_to_tokens=64)
    model, batch = model_of(sizes(dropout=0.0)), batch_of(lengths, seed=1)
    found = []
    for equip in (False, True):
        if equip:
            equip_for_training(model, training)
        padded = model.operations.pad_batch(batch)
        states = model.decode(padded.target.shift_right(1), model.encode(padded.source))
        weight = model.output.weight
        loss, _ = model.operations.smoothed_loss(states, weight, batch.target.ids, 0.1)
        found.append([loss, *torch.autograd.grad(loss, list(model.parameters()))])
    require_equal(found[0], found[1], torch.float64)


def test_the_comparisons_are_of_other_functions():
    """Else they would compare a function with itself."""
    same = {name for name in COMPARED if getattr(FAST, name) == getattr(PLAIN, name)}
    assert same == {"run_layers", "is_any", "pad_batch"}, "these are chosen with a model"
