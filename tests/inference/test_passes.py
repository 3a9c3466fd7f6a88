"""Labels in passes over whole drafts, against greedy search symbol by symbol."""

from typing import Any

import pytest
import torch
from tests.search.test_label_constraint import NAMES, source_of

from transduce.errors import InputError, NotFiniteError
from transduce.inference import passes
from transduce.inference.outputs import search_sources
from transduce.inference.passes import label_in_passes
from transduce.mixing import build_model_decoder, find_mixing
from transduce.paper.model import build_transformer
from transduce.paper.search import beam_search
from transduce.search.constraints import ConstrainedDecoder
from transduce.settings import Architecture, Search

SIZES: dict[str, Any] = {
    "layers": 2,
    "d_model": 16,
    "d_ff": 16,
    "heads": 2,
    "d_k": 8,
    "d_v": 8,
    "dropout": 0.0,
}
SIZES |= {"tie_embeddings": "none"}
GREEDY = Search(beam=1, batch_size=4)


def random_tagger(**sizes):
    """A tagger whose labels depend on those before them, since its weights are large."""
    changed = Architecture(**SIZES | sizes)
    model = build_transformer(changed, 900, len(NAMES), 3, find_mixing(changed)).double().eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(3)
    return model


def sources(scheme):
    return [
        source_of(words, scheme, number % 8) for number, words in enumerate([7, 1, 12, 3, 9] * 3)
    ]


@pytest.mark.parametrize("scheme", ["bio", "raw"])
@pytest.mark.parametrize("mixing", ["self-attention", "recurrent"])
@pytest.mark.parametrize("most", [1, 20])
def test_the_labels_are_those_of_greedy_search(scheme, mixing, most, monkeypatch):
    monkeypatch.setattr(passes, "PASSES", most)
    model, given = random_tagger(mixing=mixing), sources(scheme)
    done = [draft.is_done for draft in label_in_passes(model, given, GREEDY)]
    assert all(done) == (most == 20)
    expected = beam_search(ConstrainedDecoder(build_model_decoder(model)), given, GREEDY)
    for (ours,), (greedy,) in zip(search_sources([model], given, GREEDY, 1), expected, strict=True):
        assert ours.ids == greedy.ids
        assert (ours.log_prob, ours.score) == pytest.approx((greedy.log_prob, greedy.score))


def test_more_outputs_than_the_beam_holds_are_refused():
    with pytest.raises(InputError, match="2 best hypotheses are asked for"):
        search_sources([random_tagger()], sources("raw"), GREEDY, 2)


def test_labels_that_do_not_depend_on_one_another_take_two_passes():
    model = random_tagger()
    with torch.no_grad():
        model.target.weight.copy_(model.target.weight[:1].expand_as(model.target.weight))
    assert {draft.passes for draft in label_in_passes(model, sources("raw"), GREEDY)} <= {1, 2}


def test_weights_that_are_no_numbers_are_an_error():
    model = random_tagger()
    with torch.no_grad():
        model.output.weight.fill_(torch.nan)
    with pytest.raises(NotFiniteError, match="no output with a finite probability"):
        label_in_passes(model, sources("raw"), GREEDY)
