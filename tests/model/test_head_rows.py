import pytest
import torch

from transduce.model.attention.head_rows import rows_of
from transduce.model.attention.mask import FULL_ATTENTION
from transduce.model.attention.padded_blocks import rectangles

CPU = torch.device("cpu")
LENGTHS = [3, 300, 40, 7, 3, 280, 41, 1]
HEADS, WIDTH = 3, 4


def layout():
    made = [one.queries for one in rectangles(LENGTHS, LENGTHS, FULL_ATTENTION, CPU)]
    return made, rows_of(made, HEADS, CPU)


def windows():
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


@pytest.mark.parametrize("kind", windows())
def test_every_head_of_every_token_stands_in_its_places(kind):
    x = windows()[kind]
    places, rows = layout()
    for one, part in zip(places, rows.parts(rows.laid(x)), strict=True):
        expected = x[torch.from_numpy(one.tokens)].transpose(1, 2)  # [G H L K]
        assert torch.equal(part.view(expected.shape), expected)


@pytest.mark.parametrize("kind", windows())
def test_lifting_brings_every_token_back_from_its_real_place(kind):
    x = windows()[kind]
    places, rows = layout()
    assert len(places) > 1
    laid = rows.laid(x)
    assert rows.past is not None
    laid.index_fill_(0, rows.past, torch.nan)
    assert torch.equal(rows.lifted(laid, HEADS), x)
