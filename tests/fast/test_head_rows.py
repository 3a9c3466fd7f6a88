import pytest
import torch

from transduce.fast.blocks import build_head_rows, build_padded_blocks
from transduce.paper.operations import FULL_ATTENTION

CPU = torch.device("cpu")
LENGTHS = [3, 300, 40, 7, 3, 280, 41, 1]
HEADS, WIDTH = 3, 4


def layout():
    made = [one.queries for one in build_padded_blocks(LENGTHS, LENGTHS, FULL_ATTENTION, CPU)]
    return made, build_head_rows(made, HEADS, CPU)


def layouts_of_heads():
    """A row of numbers of every token's heads, alone, and between those of others."""
    tokens = sum(LENGTHS)
    others = torch.randn(tokens, 2 * HEADS * WIDTH + 8)  # 8: a step that is a multiple of 4
    odd = torch.randn(tokens, HEADS * WIDTH + 1)
    return {
        "alone": torch.randn(tokens, HEADS, WIDTH),
        "between others": others[:, 8 : 8 + HEADS * WIDTH].unflatten(1, (HEADS, WIDTH)),
        "in rows of odd length": odd[:, 1:].unflatten(1, (HEADS, WIDTH)),
        "heads first": torch.randn(HEADS, tokens, WIDTH).transpose(0, 1),
        "at the end of others": others[:, -HEADS * WIDTH :].unflatten(1, (HEADS, WIDTH)),
    }


@pytest.mark.parametrize("kind", layouts_of_heads())
def test_every_head_of_every_token_is_gathered_into_its_rows(kind):
    x = layouts_of_heads()[kind]
    blocks, rows = layout()
    for one, part in zip(blocks, rows.split_into_blocks(rows.gather_into_blocks(x)), strict=True):
        expected = x[torch.from_numpy(one.indices)].transpose(1, 2)  # [G H L K]
        assert torch.equal(part.view(expected.shape), expected)


@pytest.mark.parametrize("kind", layouts_of_heads())
def test_scattering_back_restores_every_token_from_its_row_that_is_no_padding(kind):
    x = layouts_of_heads()[kind]
    blocks, rows = layout()
    assert len(blocks) > 1
    gathered = rows.gather_into_blocks(x)
    assert rows.padding is not None
    gathered.index_fill_(0, rows.padding, torch.nan)
    assert torch.equal(rows.scatter_back(gathered, HEADS), x)
