"""What the KV cache costs: numbers that are copied, memory that stays, slots that are read."""

import dataclasses

import pytest
import torch
from tests.fast.test_kv_cache import decode_columns, start_cache
from tests.fast.tiny import model_of
from tests.model.tiny import sentences, sizes
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from transduce.fast import kv_cache as cache


class NumbersWritten(TorchDispatchMode):
    """Counts the numbers that operators write; views write none."""

    count = 0

    def __torch_dispatch__(self, operator, types, arguments=(), named=None):
        result = operator(*arguments, **(named or {}))
        if isinstance(result, torch.Tensor) and not operator.is_view:
            self.count += result.numel()
        return result


class SlotsRead(TorchFunctionMode):
    """Records how many keys each call of torch's attention is given."""

    def __init__(self):
        super().__init__()
        self.counts = []

    def __torch_function__(self, function, types, arguments=(), named=None):
        if function is functional.scaled_dot_product_attention:
            self.counts.append(arguments[1].shape[2])
        return function(*arguments, **(named or {}))


def bytes_of(state):
    """Memory of all tensors of a cache, what is shared once."""
    tensors = [getattr(state, field.name) for field in dataclasses.fields(state)]
    storages = [one.untyped_storage() for one in tensors if isinstance(one, torch.Tensor)]
    return sum({one.data_ptr(): one.nbytes() for one in storages}.values())


@pytest.fixture(autouse=True)
def _small_capacity(monkeypatch):
    monkeypatch.setattr(cache, "SPARE_STEPS", 4)
    monkeypatch.setattr(cache, "SLOT_MULTIPLE", 4)


def spread(sources, width):
    """A cache of so many rows for each source."""
    rows = torch.arange(len(sources)).repeat_interleave(width)
    return start_cache(model_of(), sources).reorder(rows)


def test_reordering_rows_copies_no_keys_or_values():
    _, state = decode_columns(model_of(), spread(sentences([4, 7]), 3), [[2, 3, 4, 5, 6, 7]] * 8)
    with NumbersWritten() as written:
        state.reorder(torch.tensor([1, 1, 2, 5, 3, 3]))
    assert 0 < written.count < state.keys.numel() / 2


def test_slots_are_copied_once_in_several_steps():
    state, copied = spread(sentences([5]), 3), []
    for _ in range(8):
        with NumbersWritten() as written:
            state.begin_step(None)
        copied.append(written.count > max(state.keys.numel(), 100))
        _, state = decode_columns(model_of(), state, [[2, 3, 4]])
    assert copied == [True, False, False, False] * 2


def test_what_reaches_back_a_few_steps_needs_no_more_memory_in_long_outputs():
    model, found = model_of(sizes(decoder_neighbourhood=5)), []
    state = start_cache(model, sentences([2, 3]))
    for _ in range(4):
        _, state = decode_columns(model, state, [[2, 3]] * 20)
        found.append(bytes_of(state))
    assert max(found) < 1.02 * found[0]


def test_hypotheses_that_died_need_no_memory():
    """All rows continue from the first, so that a step leaves one slot of four."""
    state, one = spread(sentences([4]), 4), spread(sentences([4]), 1)
    for _ in range(40):
        _, state = decode_columns(model_of(), state, [[2, 3, 4, 5]])
        state = state.reorder(torch.zeros(4, dtype=torch.long))
        _, one = decode_columns(model_of(), one, [[2]])
    assert bytes_of(state) < 1.7 * bytes_of(one)


def test_attention_reads_a_multiple_of_source_positions_and_slots():
    state = spread(sentences([5, 7]), 3)
    with SlotsRead() as read:
        decode_columns(model_of(), state, [[2] * 6] * 9)
    assert set(read.counts) == {4, 8, 12, 16, 20, 24, 28}


def test_dropped_sentences_leave_no_source_positions_to_read():
    state = spread(sentences([19, 3, 5]), 1).reorder(torch.tensor([1, 2]))
    with SlotsRead() as read:
        decode_columns(model_of(), state, [[2, 3]])
    assert max(read.counts) == 8, "no more than the longest source that is left, rounded up"
