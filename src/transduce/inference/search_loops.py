"""Loads the compiled loops of a search before it needs them: for processes that last."""

import torch

from transduce.machine.compiled_loops import MANY_ROWS, countdown, runs_compiled_loops


def load_search_loops() -> None:
    """Load all loops that searches take, compiled if need be, and take them from now on.

    Loading takes most of a second, compiling some seconds. Where loops are not taken, do nothing.
    """
    countdown.left = 0
    log_probs = torch.zeros(MANY_ROWS, 2)
    if not runs_compiled_loops(log_probs, MANY_ROWS):
        return
    from transduce.model.decoding.attention_loops import LOOP_OPERATOR, POSITIONS_AT_ONCE
    from transduce.model.decoding.softmax_loops import compute_log_softmax
    from transduce.search.stable_topk import stable_topk_sums

    sides = torch.zeros(MANY_ROWS, 1, POSITIONS_AT_ONCE, 1)
    LOOP_OPERATOR(sides, sides, sides, sides.transpose(2, 3))
    stable_topk_sums(torch.zeros(MANY_ROWS, 1), compute_log_softmax(log_probs), 1)
