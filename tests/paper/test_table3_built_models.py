"""The weights of models as they are built, not by a formula: rows of Table 3, on no memory."""

import pytest
import torch
from tests.paper.differences import FROM_BASE

from transduce.paper.model import Transformer
from transduce.recipes import by_name
from transduce.settings import Architecture
from transduce.settings.counts import count_parameters

SYMBOLS = 100


def built(row):
    """All weights of a row's model, with 100 symbols."""
    with torch.device("meta"):
        model = Transformer(by_name(f"table3/{row}").architecture, SYMBOLS, SYMBOLS)
    return sum(weight.numel() for weight in model.parameters())


def test_base_has_44_101_632_weights_and_512_for_every_symbol():
    assert built("base") == 44_101_632 + 512 * SYMBOLS


@pytest.mark.parametrize(("row", "more"), FROM_BASE.items())
def test_a_row_differs_from_base_by(row, more):
    assert built(row) - built("base") == more


@pytest.mark.parametrize(("row", "width"), [("C-d256", 256), ("C-d1024", 1_024), ("big", 1_024)])
def test_rows_of_another_width_follow_the_sum_of_their_parts(row, width):
    """Six of each layer: 4 d h d_k a look, 2 d d_ff + d_ff + d a network, 2 d a norm."""
    sizes = by_name(f"table3/{row}").architecture
    look = 4 * width * sizes.heads * sizes.d_k
    network = 2 * width * sizes.d_ff + sizes.d_ff + width
    assert built(row) == 6 * (3 * look + 2 * network + 5 * 2 * width) + width * SYMBOLS


@pytest.mark.parametrize("row", ["base", "B-dk16", "C-d256", "E-learned", "big"])
def test_the_formula_that_recipes_print_counts_the_model_that_is_built(row):
    sizes = by_name(f"table3/{row}").architecture
    assert count_parameters(sizes, SYMBOLS, SYMBOLS) == built(row)


@pytest.mark.parametrize(("tie", "matrices"), [("all", 1), ("target", 2), ("none", 3)])
def test_untied_matrices_are_counted_each(tie, matrices):
    with torch.device("meta"):
        model = Transformer(Architecture(tie_embeddings=tie), SYMBOLS, SYMBOLS)
    found = sum(weight.numel() for weight in model.parameters())
    assert found == 44_101_632 + matrices * 512 * SYMBOLS
