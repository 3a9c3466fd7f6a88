"""Labels in passes over whole drafts, against greedy search symbol by symbol."""

from typing import Any

import pytest
import torch
from benchmarks.passes import label_in_passes
from tests.search.test_label_constraint import NAMES, source_of

from transduce.inference.outputs import search_sources
from transduce.paper.model import build_transformer
from transduce.settings import Architecture, Search

SIZES: dict[str, Any] = {"layers": 2, "d_model": 16, "d_ff": 16, "heads": 2, "d_k": 8, "d_v": 8}
GREEDY = Search(beam=1)


@pytest.mark.parametrize("scheme", ["bio", "raw"])
def test_the_labels_are_those_of_greedy_search(scheme):
    sizes = Architecture(**SIZES, dropout=0.0, tie_embeddings="none")
    model = build_transformer(sizes, 900, len(NAMES), 3).double().eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(3)  # so that labels depend on those before them
    counts = enumerate([7, 1, 12, 3, 9, 7, 5, 2])
    given = [source_of(words, scheme, number) for number, words in counts]
    drafts = label_in_passes(model, given)
    greedy = search_sources([model], given, GREEDY, 1)
    assert [tuple(one.ids[:-1]) for one in drafts] == [best.ids for (best,) in greedy]
    assert max(one.passes for one in drafts) > 2
