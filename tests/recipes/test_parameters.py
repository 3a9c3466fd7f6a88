"""The formula of the parameter count, beside a count by hand."""

from dataclasses import replace

from transduce.recipes import by_name
from transduce.settings import Architecture
from transduce.settings.counts import count_parameters, count_recipe_parameters

SMALLEST = Architecture(layers=1, d_model=4, d_ff=3, heads=2, d_k=5, d_v=7)
ATTENTION = 2 * (4 * 5 + 4 * 5 + 4 * 7) + 2 * 7 * 4
FEED_FORWARD = 4 * 3 + 3 + 3 * 4 + 4
NORM = 4 + 4
STACKS = (ATTENTION + FEED_FORWARD + 2 * NORM) + (2 * ATTENTION + FEED_FORWARD + 3 * NORM)


def test_the_count_is_the_sum_of_all_matrices():
    assert count_parameters(SMALLEST, 10, 10) == STACKS + 10 * 4


def test_a_tied_target_leaves_the_source_a_matrix_of_its_own():
    assert (
        count_parameters(replace(SMALLEST, tie_embeddings="target"), 10, 11)
        == STACKS + (10 + 11) * 4
    )


def test_without_ties_there_are_three_matrices():
    assert (
        count_parameters(replace(SMALLEST, tie_embeddings="none"), 10, 11)
        == STACKS + (10 + 11 + 11) * 4
    )


def test_learned_positions_are_a_table_in_each_stack():
    learned = replace(SMALLEST, positions="learned", max_positions=9)
    assert count_parameters(learned, 10, 10) == STACKS + 10 * 4 + 2 * 9 * 4


def test_a_recipe_is_counted_with_the_symbols_that_it_asks_for():
    assert count_recipe_parameters(by_name("table3/base")) == 63_045_632


def test_the_lstms_of_both_stacks_are_counted_with_two_biases_a_gate():
    state, half = 4, 2  # d_model; the encoder has one from each end, of half the width
    encoder = 2 * 4 * (half * state + half * half + 2 * half)
    decoder = 4 * (state * state + state * state + 2 * state)
    recurrent = replace(SMALLEST, mixing="recurrent")
    assert count_parameters(recurrent, 10, 10) == STACKS - 2 * ATTENTION + encoder + decoder + 40
