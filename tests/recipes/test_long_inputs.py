"""The recipe for long inputs restricts what is dear in them."""

import pytest
import torch

from transduce.fast.blocks import build_padded_blocks
from transduce.paper.operations import AttentionMask
from transduce.recipes import by_name

LONG = by_name("long/documents")
CPU = torch.device("cpu")


@pytest.mark.parametrize(
    "mask",
    [
        AttentionMask(neighbourhood=LONG.architecture.encoder_neighbourhood),
        AttentionMask(causal=True, neighbourhood=LONG.architecture.decoder_neighbourhood),
    ],
)
def test_its_documents_cost_less_than_a_third_of_full_attention(mask):
    documents = [800, 900, 1_000]
    blocks = build_padded_blocks(documents, documents, mask, CPU)
    scores = sum(one.queries.indices.shape[1] * one.keys.indices.size for one in blocks)
    assert scores < sum(n * n for n in documents) / 3


def test_an_update_holds_several_of_its_longest_documents():
    assert LONG.data.source_tokens >= 4 * LONG.data.max_length


def test_its_search_may_exceed_a_long_source_by_more_than_the_paper_s_50():
    assert LONG.search.extra_length > LONG.data.max_length / 4
