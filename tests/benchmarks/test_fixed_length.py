"""A search of a fixed length computes that many steps of the model, and as many symbols."""

import pytest
import torch
from benchmarks.fixed_length import FixedLengthDecoder

from transduce.paper.model import StepwiseTransformer, build_transformer
from transduce.paper.search import beam_search
from transduce.settings import Architecture, Search


@pytest.mark.parametrize("beam", [1, 4])
def test_every_output_has_the_length_and_the_model_computes_no_step_for_end(monkeypatch, beam):
    sizes = Architecture(d_model=16, heads=2, layers=1, d_ff=16, d_k=8, d_v=8)
    model = build_transformer(sizes, 20, 20, 1).eval()
    steps = []
    plain = StepwiseTransformer.step

    def step(decoder, state, ids):
        steps.append(ids)
        return plain(decoder, state, ids)

    monkeypatch.setattr(StepwiseTransformer, "step", step)
    decoder = FixedLengthDecoder(StepwiseTransformer(model), 7)
    found = beam_search(decoder, [[3, 4, 0], [5, 6, 7, 8, 0]], Search(beam=beam))
    assert [len(best[0].ids) for best in found] == [7, 7]
    assert len(steps) == 7
    assert all(torch.isfinite(torch.tensor(best[0].score)) for best in found)
