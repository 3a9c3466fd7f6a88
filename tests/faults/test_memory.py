"""Memory that runs out while a text is translated, scored or aligned (row T14).

`refuse` makes the allocator's error at chosen calls; that real limits raise it, and what commands
say then, is for tests/journeys/test_exhaustion.py.
"""

import itertools
from collections.abc import Callable

import pytest
import torch
from tests.inference.random_models import LINES, random_translator, translator_of_six_heads

from transduce.equip import choose_batch_size, choose_lines
from transduce.errors import NotEnoughMemoryError
from transduce.inference import outputs
from transduce.inference.outputs import fit_batch_size
from transduce.paper.model import StepwiseTransformer, Transformer
from transduce.paper.search import Hypothesis, run_continuous_batching
from transduce.search import bounds
from transduce.search.bounds import (
    COPIES,
    SAMPLING_COPIES,
    choose_beam_strategy,
    estimate_bytes,
    search_in_memory,
)
from transduce.search.sampling import sample_symbols
from transduce.settings import Architecture, Search
from transduce.settings.search import Sampling
from transduce.vocabulary import END

MESSAGE = "[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"
MANY = [*LINES, *(f"{line} again" for line in LINES if line)]
PAIRS = list(zip(MANY, reversed(MANY), strict=True))


def refuse(monkeypatch, owner: type, method: str, is_too_much: Callable[..., bool]) -> list[int]:
    """Raise the allocator's error at each call of a method that is too much; return their count."""
    real, refused = getattr(owner, method), [0]

    def call(self, *arguments):
        if is_too_much(*arguments):
            refused[0] += 1
            raise RuntimeError(MESSAGE)
        return real(self, *arguments)

    monkeypatch.setattr(owner, method, call)
    return refused


def read(translator, lines, n=1):
    """The outputs of each line: texts, and scores to what other batches may change."""
    found = translator.nbest_lines(lines, n)
    return [[(one.text, pytest.approx(one.score, abs=1e-5)) for one in best] for best in found]


@pytest.mark.parametrize("rows", [2, 7])
def test_a_batch_that_does_not_fit_is_halved_and_every_output_is_the_same(
    monkeypatch, record, rows
):
    model = random_translator()
    sampler = model.sampling(seed=3)
    expected, samples = read(model, MANY, 2), read(sampler, MANY, 2)
    refused = refuse(monkeypatch, StepwiseTransformer, "step", lambda _state, ids: len(ids) > rows)
    assert read(model, MANY, 2) == expected
    assert read(sampler, MANY, 2) == samples
    assert refused[0] >= 2
    record(lines=len(MANY), batches_refused=refused[0], wrong_or_missing_lines=0)


def test_whichever_step_fails_no_line_is_lost_or_out_of_order(monkeypatch, record):
    model = random_translator().searching(batch_size=4, extra_length=1)
    expected = read(model, MANY)
    for number in itertools.count(1, 4):
        calls = itertools.count(1)
        with monkeypatch.context() as patch:
            refused = refuse(
                patch, StepwiseTransformer, "step", lambda *_, n=number, c=calls: next(c) == n
            )
            assert read(model, MANY) == expected
        if not refused[0]:
            break
    assert number > 10
    record(faults=number // 4, wrong_or_missing_lines=0)


class SlowSources:
    """A model whose sources of over 50 symbols end late; two of these are too much at step 31."""

    device = torch.device("cpu")

    def __init__(self):
        self.attempts = []

    def start(self, sources):
        self.attempts.append(len(sources))
        self.steps = 0
        return torch.tensor([len(source) for source in sources])

    def step(self, state, ids):
        self.steps += 1
        if self.steps > 30 and len(state) > 1:
            raise MemoryError
        log_probs = torch.full((len(ids), 8), -9.0)
        log_probs[state > 50, 5] = log_probs[state <= 50, END] = -0.01
        return log_probs, state

    def reorder(self, state, rows):
        return state[rows]

    def concatenate(self, first, second):
        return torch.cat([first, second])


def test_a_batch_that_follows_one_that_did_not_fit_is_smaller():
    model, search = SlowSources(), Search(batch_size=64, beam=1)
    sources = [[5] * 60 + [END]] * 3 + [[5] * 3 + [END]] * 61
    strategy = choose_beam_strategy(model, sources, search)
    found = dict(search_in_memory(model, sources, search, strategy))
    assert found.keys() == set(range(64))
    assert model.attempts == [64, 1, 1, 1]


def test_the_control_that_goes_on_without_the_batch_is_caught(monkeypatch, record):
    model = random_translator().searching(batch_size=4, extra_length=1)
    expected = read(model, MANY)
    whole = run_continuous_batching

    def swallow(*arguments, indices):
        try:
            yield from whole(*arguments, indices=indices)
        except RuntimeError:
            yield from ((index, [Hypothesis((), 0.0, 0.0)]) for index in indices)

    monkeypatch.setattr(bounds, "run_continuous_batching", swallow)
    calls = itertools.count(1)
    refuse(monkeypatch, StepwiseTransformer, "step", lambda *_: next(calls) == 5)
    found = read(model, MANY)
    wrong = sum(ours != theirs for ours, theirs in zip(found, expected, strict=True))
    assert wrong
    record(wrong_or_missing_lines=wrong)


@pytest.mark.parametrize("tokens", [25])
def test_pairs_are_scored_and_aligned_in_smaller_batches(monkeypatch, record, tokens):
    model = translator_of_six_heads()
    scores = [pytest.approx(one.score, abs=1e-4) for one in model.likelihood(PAIRS)]
    links = [one.links for one in model.align_pairs(PAIRS)]
    refused = refuse(monkeypatch, Transformer, "encode", lambda source: len(source.ids) > tokens)
    assert [one.score for one in model.likelihood(PAIRS)] == scores
    assert [one.links for one in model.align_pairs(PAIRS)] == links
    assert refused[0] >= 2
    record(pairs=len(PAIRS), batches_refused=refused[0])


@pytest.mark.parametrize("use", ["nbest_lines", "likelihood", "align_pairs"])
def test_a_single_line_that_does_not_fit_is_refused_with_a_sentence(monkeypatch, use):
    model = random_translator()
    refuse(monkeypatch, Transformer, "encode", lambda *_: True)
    with pytest.raises(NotEnoughMemoryError, match=r"not enough memory .* single"):
        list(getattr(model, use)(MANY if use == "nbest_lines" else PAIRS))


def test_other_errors_are_raised_at_once(monkeypatch):
    model, calls = random_translator(), []

    def fail(*_):
        calls.append(1)
        raise RuntimeError("shapes do not match")

    monkeypatch.setattr(Transformer, "encode", fail)
    with pytest.raises(RuntimeError, match="shapes"):
        model(MANY)
    assert len(calls) == 1


def test_the_batch_is_no_larger_than_what_is_free(monkeypatch):
    (model,), sources = random_translator().models, [[5] * n + [1] for n in range(1, 40)]
    search = Search(beam=3)

    def find_size(free):
        monkeypatch.setattr(outputs, "free_memory_bytes", lambda: free)
        return fit_batch_size([model], sources, search, 3).batch_size

    assert find_size(1e12) == search.batch_size
    symbols = len(model.output.weight)
    one = estimate_bytes(model.sizes, symbols, 40, search, 3)
    assert find_size(one / 0.79) == find_size(one) == 1
    with pytest.raises(NotEnoughMemoryError, match="40 pieces and 3 hypotheses may need"):
        find_size(0.9 * one)
    assert 5 <= find_size(5 * one / 0.79) <= 6
    assert sum(estimate_bytes(model.sizes, symbols, n, search, 3) for n in range(21, 41)) < 20 * one


def test_samples_count_the_copies_that_a_draw_needs(monkeypatch):
    translator, line = random_translator(), "the dog sees a cat."
    (source,) = translator.task.encode_sources([line])
    (model,), search = translator.models, translator.recipe.search
    one = estimate_bytes(model.sizes, len(model.output.weight), len(source), search, 2)
    monkeypatch.setattr(outputs, "free_memory_bytes", lambda: 1.5 * one)
    assert len(translator.nbest(line, 2)) == 2
    with pytest.raises(NotEnoughMemoryError, match="2 hypotheses may need"):
        translator.sampling(seed=1).nbest(line, 2)


@pytest.mark.parametrize("settings", [{}, {"top_k": 90}, {"top_p": 0.9}])
def test_a_draw_needs_no_more_copies_than_are_estimated(settings):
    log_probs = torch.randn(64, 2_000).log_softmax(1)
    with torch.profiler.profile(profile_memory=True) as profile:
        sample_symbols(log_probs, torch.arange(64), Sampling(**settings))
    events = [one for one in profile.profiler.kineto_results.events() if one.name() == "[memory]"]
    changes = [one.nbytes() for one in sorted(events, key=lambda one: one.start_ns())]
    copies = max(itertools.accumulate(changes)) / (4 * log_probs.numel())
    assert COPIES < copies + 1 <= SAMPLING_COPIES  # one more is `log_probs`


BASE, STUDENT = (Architecture(), 37_000), (Architecture(d_model=128), 8_000)


@pytest.mark.parametrize(
    ("device", "model", "width", "default"),
    [
        ("cuda", BASE, 4, 1_024),
        ("cpu", BASE, 4, 64),
        ("cpu", BASE, 1, 64),
        ("cpu", STUDENT, 4, 128),
        ("cpu", STUDENT, 1, 256),
        ("cpu", (STUDENT[0], 37_000), 4, 64),
    ],
)
def test_a_gpu_and_a_small_model_search_more_sentences_at_once_unless_a_number_is_set(
    device, model, width, default
):
    found = [
        choose_batch_size(torch.device(device), count, [model], width)
        for count in (Search().batch_size, 8)
    ]
    assert found == [default, 8]


def test_the_sentences_at_once_are_no_more_than_there_are_and_fit_into_memory(monkeypatch):
    (model,), search = random_translator().models, Search(beam=3)

    def find_size(count, free=1e12):
        monkeypatch.setattr(outputs, "free_memory_bytes", lambda: free)
        return fit_batch_size([model], [[5, 1]] * count, search, 3).batch_size

    assert [find_size(count) for count in (1, 64, 100)] == [64, 64, 100]
    one = estimate_bytes(model.sizes, len(model.output.weight), 2, search, 3)
    assert 64 < find_size(100, 99 * one) < 100


@pytest.mark.parametrize(("device", "many"), [("cpu", 2_000), ("cuda", 16_384)])
def test_a_gpu_reads_many_lines_at_once_unless_one_is_awaited(device, many):
    sizes = [choose_lines(torch.device(device), lines) for lines in (1, 2_000, 20_000)]
    assert sizes == [1, many, 20_000]
