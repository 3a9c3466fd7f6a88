"""The contract of every decoder: log-probabilities depend on a row's own source and ids."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from tests.model.tiny import SYMBOLS, model_of, sentences
from tests.reference.toy_decoder import ToyDecoder, random_model

from transduce.paper.model import StepwiseTransformer
from transduce.search.constraints import ConstrainedModel, ConstrainedSource, ForcedPrefix
from transduce.search.ensemble import Ensemble
from transduce.vocabulary import BEGIN

SOURCES = sentences([5, 3, 6])
WIDTH = 2


def toy_decoder(seed=1):
    return ToyDecoder(random_model(seed, SYMBOLS), WIDTH)


def transformer_decoder(seed=1):
    return StepwiseTransformer(model_of(seed=seed).eval())


DECODERS: dict[str, Callable[[], Any]] = {
    "toy": toy_decoder,
    "transformer": transformer_decoder,
    "ensemble of toys": lambda: Ensemble((toy_decoder(1), toy_decoder(2))),
    "ensemble": lambda: Ensemble((transformer_decoder(1), transformer_decoder(2))),
    "constrained toy": lambda: ConstrainedModel(toy_decoder()),
    "constrained": lambda: ConstrainedModel(transformer_decoder()),
}


def start(decoder, sources):
    """Start the decoder with a forced prefix of 7 where it takes constraints."""
    if isinstance(decoder, ConstrainedModel):
        sources = [ConstrainedSource(source, ForcedPrefix((7,))) for source in sources]
    return decoder.start(sources)


def expected_log_probs(name, source, prefix):
    """Decode one hypothesis that all rows of a sentence share, with nothing else in the batch."""
    decoder = DECODERS[name]()
    state = start(decoder, [source])
    log_probs, state = decoder.step(state, torch.tensor([BEGIN]))
    state = decoder.reorder(state, torch.zeros(WIDTH, dtype=torch.long))
    for symbol in prefix:
        log_probs, state = decoder.step(state, torch.tensor([symbol] * WIDTH))
    return log_probs[0]


def begin(decoder, sources):
    """Take the first step, and spread every source over WIDTH rows."""
    state = start(decoder, sources)
    log_probs, state = decoder.step(state, torch.tensor([BEGIN] * len(sources)))
    rows = torch.arange(len(sources)).repeat_interleave(WIDTH)
    return log_probs, decoder.reorder(state, rows)


def assert_rows(name, log_probs, rows):
    """Compare the rows of a batch with hypotheses decoded alone."""
    for found, (source, prefix) in zip(log_probs, rows, strict=True):
        torch.testing.assert_close(found, expected_log_probs(name, source, prefix))


@pytest.mark.parametrize("name", DECODERS)
@torch.inference_mode()
def test_rows_keep_their_hypotheses_through_step_reorder_and_concatenate(name):
    decoder = DECODERS[name]()
    log_probs, state = begin(decoder, SOURCES[:2])
    assert_rows(name, log_probs, [(source, ()) for source in SOURCES[:2]])
    log_probs, state = decoder.step(state, torch.tensor([7, 7, 7, 7]))
    state = decoder.reorder(state, torch.tensor([1, 0, 3, 2]))
    log_probs, state = decoder.step(state, torch.tensor([2, 3, 4, 5]))
    prefixes = [(0, (7, 2)), (0, (7, 3)), (1, (7, 4)), (1, (7, 5))]
    assert_rows(name, log_probs, [(SOURCES[n], prefix) for n, prefix in prefixes])

    state = decoder.reorder(state, torch.tensor([3, 2]))  # the first sentence leaves
    _, joining = begin(decoder, SOURCES[2:])
    _, state = decoder.step(decoder.concatenate(state, joining), torch.tensor([6, 6, 7, 7]))
    state = decoder.reorder(state, torch.tensor([1, 1, 2, 3]))  # one hypothesis is dropped
    log_probs, _ = decoder.step(state, torch.tensor([8, 9, 3, 2]))
    longer = [(1, (7, 4, 6, 8)), (1, (7, 4, 6, 9)), (2, (7, 3)), (2, (7, 2))]
    assert_rows(name, log_probs, [(SOURCES[n], prefix) for n, prefix in longer])


@pytest.mark.parametrize("name", DECODERS)
@torch.inference_mode()
def test_log_probabilities_are_on_the_decoder_s_device_and_none_is_above_0(name):
    decoder = DECODERS[name]()
    log_probs, _ = begin(decoder, SOURCES)
    assert log_probs.device == decoder.device
    assert log_probs.shape == (3, SYMBOLS)
    assert (log_probs <= 0).all()
    allowed = [7] if isinstance(decoder, ConstrainedModel) else list(range(SYMBOLS))
    assert torch.isfinite(log_probs).nonzero()[:, 1].unique().tolist() == allowed
