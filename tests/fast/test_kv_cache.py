import pytest
import torch
from tests.fast.tiny import model_of
from tests.model.tiny import BEGIN, SYMBOLS, sentences, sizes

from transduce.errors import InputError
from transduce.fast import kv_cache as cache
from transduce.packed import Packed

KINDS = [
    {},
    {"decoder_neighbourhood": 3, "encoder_neighbourhood": 3},
    {"positions": "learned", "tie_embeddings": "none"},
    {"layers": 3, "heads": 1, "d_k": 7, "d_v": 2},
    {"norm": "pre"},
]
kinds = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(autouse=True)
def _small_capacity(monkeypatch):
    monkeypatch.setattr(cache, "SPARE_STEPS", 3)
    monkeypatch.setattr(cache, "SLOT_MULTIPLE", 4)


def decode_whole(model, sources, inputs):
    """The decoder's states of whole inputs, sentence by sentence."""
    with torch.no_grad():
        batch = Packed.from_sentences(inputs)
        return model.decode(batch, model.encode(Packed.from_sentences(sources))).split(
            list(batch.lengths)
        )


def start_cache(model, sources):
    with torch.no_grad():
        return model.start_cache(model.encode(Packed.from_sentences(sources)))


@torch.no_grad()
def decode_columns(model, state, columns):
    """One step a column of ids; the states of every step, [steps R d]."""
    every = []
    for ids in columns:
        states, state = model.decode_step(torch.tensor(ids), state)
        every.append(states)
    return torch.stack(every), state


def equal(found, expected):
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


@kinds
def test_decoding_step_by_step_equals_decoding_whole_outputs(kind):
    model = model_of(sizes(**kind))
    sources, inputs = sentences([5, 1, 8]), sentences([8, 8, 8], seed=4)
    stepwise, _ = decode_columns(model, start_cache(model, sources), zip(*inputs, strict=True))
    of_others = decode_whole(model, sentences([5, 1, 8], seed=3)[:1] + sources[1:], inputs)
    for row, states in enumerate(decode_whole(model, sources, inputs)):
        equal(stepwise[:, row], states)
        assert torch.allclose(states, of_others[row]) == (row > 0), "each from its own source"


@kinds
def test_rows_of_a_sentence_may_be_spread_reordered_and_repeated(kind):
    model = model_of(sizes(**kind))
    sources, width = sentences([4, 7]), 3
    histories = [[BEGIN] for _ in range(2 * width)]
    spread = torch.arange(2).repeat_interleave(width)
    state = start_cache(model, sources).reorder(spread)
    generator = torch.Generator().manual_seed(6)
    for _ in range(7):
        states, state = decode_columns(model, state, [[history[-1] for history in histories]])
        expected = decode_whole(model, [sources[n] for n in spread], histories)
        equal(states[0], torch.stack([whole[-1] for whole in expected]))
        inside = torch.randint(0, width, (2, width), generator=generator)
        rows = (inside + torch.tensor([[0], [width]])).flatten()
        state = state.reorder(rows)
        histories = [[*histories[row], 2 + n] for n, row in enumerate(rows.tolist())]


@torch.no_grad()
def test_slots_in_no_history_are_evicted_when_the_capacity_is_full():
    model, width, steps = model_of(), 4, 40
    state = start_cache(model, sentences([4])).reorder(torch.zeros(width, dtype=torch.long))
    inputs = sentences([steps], seed=4)
    expected = decode_whole(model, sentences([4]), inputs)[0]
    for number, symbol in enumerate(inputs[0]):
        states, state = decode_columns(model, state, [[symbol, 5, 6, 7]])
        equal(states[0, 0], expected[number])
        state = state.reorder(torch.zeros(width, dtype=torch.long))  # all grow from the first
    assert state.slot_count <= steps + cache.SPARE_STEPS * width


def test_slots_in_no_history_are_evicted_when_caches_are_concatenated():
    model, rows = model_of(), torch.zeros(3, dtype=torch.long)
    first, second = (start_cache(model, sentences([n])).reorder(rows) for n in (5, 6))
    _, first = decode_columns(model, first, [[2, 3, 4]])
    assert first.reorder(rows).concatenate(second).slot_count == 1


@torch.no_grad()
def test_a_row_may_become_several_after_steps_with_one_row_a_sentence():
    model, sources = model_of(), sentences([4, 7])
    inputs = [[1, 2, 4], [1, 2, 5], [1, 3, 6], [1, 3, 7]]
    expected = decode_whole(model, [sources[0], sources[0], sources[1], sources[1]], inputs)
    first, state = decode_columns(model, start_cache(model, sources), [[1, 1], [2, 3]])
    state = state.reorder(torch.tensor([0, 0, 1, 1]))
    second, _ = decode_columns(model, state, [[4, 5, 6, 7]])
    equal(first[1], torch.stack([expected[0][1], expected[2][1]]))
    equal(second[0], torch.stack([states[2] for states in expected]))


@kinds
def test_finished_sentences_are_dropped_with_their_sources(kind):
    model = model_of(sizes(**kind))
    sources, inputs = sentences([9, 3, 5]), sentences([8, 8, 8], seed=4)
    _, state = decode_columns(
        model, start_cache(model, sources), list(zip(*inputs, strict=True))[:5]
    )
    state = state.reorder(torch.tensor([1, 2]))
    rest = [ids[1:] for ids in list(zip(*inputs, strict=True))[5:]]
    stepwise, _ = decode_columns(model, state, rest)
    for row, states in enumerate(decode_whole(model, sources[1:], inputs[1:])):
        equal(stepwise[:, row], states[5:])


@kinds
@pytest.mark.parametrize(("ahead", "behind"), [(5, 0), (5, 2), (0, 4)])
def test_caches_of_different_lengths_are_concatenated(kind, ahead, behind):
    model = model_of(sizes(**kind))
    sources = [sentences([6, 2]), sentences([3, 8], seed=7)]
    inputs = [sentences([12, 12], seed=8), sentences([12, 12], seed=9)]
    states = []
    for side, steps in ((0, ahead), (1, behind)):
        columns = list(zip(*inputs[side], strict=True))[:steps]
        state = start_cache(model, sources[side])
        states.append(decode_columns(model, state, columns)[1] if columns else state)
    rows = [*((row, ahead) for row in inputs[0]), *((row, behind) for row in inputs[1])]
    following = [[row[done + n] for row, done in rows] for n in range(4)]
    joined = states[0].concatenate(states[1])
    assert joined.longest == max(ahead, behind)
    stepwise, state = decode_columns(model, joined, following)
    expected = decode_whole(model, sources[0] + sources[1], inputs[0] + inputs[1])
    for number, (whole, (_, done)) in enumerate(zip(expected, rows, strict=True)):
        equal(stepwise[:, number], whole[done : done + 4])
    survivors = state.reorder(torch.tensor([2, 3]) if ahead > behind else torch.tensor([0, 1]))
    reach, left = model.decoder[-1].self_attention.reach, min(ahead, behind) + 4
    needed = survivors.compact()
    assert needed.slot_count <= (left if reach is None else min(left, reach + 1)), (
        "slots of finished sentences are evicted"
    )
    assert survivors.longest == left
    chosen = rows[2:] if ahead > behind else rows[:2]
    ids = [row[done + 4] for row, done in chosen]
    last, _ = decode_columns(model, survivors, [ids])
    kept = expected[2:] if ahead > behind else expected[:2]
    for number, (whole, (_, done)) in enumerate(zip(kept, chosen, strict=True)):
        equal(last[0, number], whole[done + 4])


@kinds
def test_after_concatenation_any_sentences_may_be_dropped(kind):
    model = model_of(sizes(**kind))
    sources = [sentences([6]), sentences([3], seed=7), sentences([8], seed=8)]
    inputs = [sentences([12], seed=seed) for seed in (9, 10, 11)]
    steps = (5, 2, 5)
    groups = [
        decode_columns(model, start_cache(model, source), [[symbol] for symbol in rows[0][:done]])[
            1
        ]
        for source, rows, done in zip(sources, inputs, steps, strict=True)
    ]
    joined = groups[0].concatenate(groups[1]).concatenate(groups[2])
    following = [
        [rows[0][done + n] for rows, done in zip(inputs, steps, strict=True)] for n in range(3)
    ]
    first, state = decode_columns(model, joined, following[:1])
    rest, _ = decode_columns(
        model, state.reorder(torch.tensor([1, 2])), [ids[1:] for ids in following[1:]]
    )
    for number, (source, rows, done) in enumerate(zip(sources, inputs, steps, strict=True)):
        (whole,) = decode_whole(model, source, rows)
        equal(first[:, number], whole[done : done + 1])
        if number:
            equal(rest[:, number - 1], whole[done + 1 : done + 3])


def test_outputs_longer_than_the_learned_positions_are_refused():
    model = model_of(sizes(positions="learned", max_positions=3))
    state = start_cache(model, sentences([2]))
    _, state = decode_columns(model, state, [[BEGIN], [2], [3]])
    with pytest.raises(InputError, match="a sentence has 4 pieces, this model learned 3 positions"):
        decode_columns(model, state, [[4]])


def test_the_log_probabilities_of_a_long_sentence_are_those_of_the_whole_model():
    model, sources, targets = model_of(), sentences([19]), sentences([20], seed=3)
    with torch.no_grad():
        states = model.decode(
            Packed.from_sentences(targets), model.encode(Packed.from_sentences(sources))
        )
        stepwise, _ = decode_columns(
            model, start_cache(model, sources), [[piece] for piece in targets[0]]
        )
        logits = model.logits(stepwise[:, 0])
        assert logits.shape == (20, SYMBOLS)
        equal(logits.log_softmax(dim=1), model.logits(states).log_softmax(dim=1))


@pytest.mark.parametrize("moves", [{0: 3}, {0: 2, 1: 3}, {0: 1, 1: 2}, {1: 2, 2: 1}, {}])
def test_sentences_move_as_if_all_at_once(moves):
    sides = [torch.randn(2, 5, heads, 3, 4)[:, :4] for heads in (1, 2)]
    expected = [side.clone() for side in sides]
    for whole, side in zip(expected, sides, strict=True):
        for new, old in moves.items():
            whole[:, new] = side[:, old]
    cache.move_sentences(sides, moves)
    assert all(map(torch.equal, sides, expected))
