import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fast.test_kv_cache import decode_columns, decode_whole, equal, start_cache
from tests.fast.tiny import model_of
from tests.model.tiny import SYMBOLS, sentences, sizes

KINDS = [{"decoder_neighbourhood": r} for r in (0, 1, 3)]
pairs = st.lists(
    st.tuples(st.integers(1, 7), st.lists(st.integers(0, SYMBOLS - 1), min_size=1, max_size=9)),
    min_size=1,
    max_size=4,
)


@settings(max_examples=24)
@given(pairs, st.sampled_from(KINDS), st.integers(1, 3), st.randoms(use_true_random=False))
def test_a_sentence_decoded_step_by_step_has_the_states_of_the_whole_output(
    lengths, kind, width, chance
):
    """Rows leave when their target is over, as sentences leave a search, in any order."""
    model = model_of(sizes(layers=2, **kind))
    sources, targets = sentences([n for n, _ in lengths]), [target for _, target in lengths]
    expected = decode_whole(model, sources, targets)
    state, rows = start_cache(model, sources), list(range(len(lengths)))
    state = state.reorder(torch.arange(len(rows)).repeat_interleave(width))
    for step in range(max(map(len, targets))):
        live = [n for n, row in enumerate(rows) if step < len(targets[row])]
        if len(live) < len(rows):
            chance.shuffle(live)
        chosen = [n * width + chance.randrange(width) for n in live for _ in range(width)]
        state = state.reorder(torch.tensor(chosen))
        rows = [rows[n] for n in live]
        ids = [targets[row][step] for row in rows for _ in range(width)]
        states, state = decode_columns(model, state, [ids])
        whole = torch.stack([expected[row][step] for row in rows for _ in range(width)])
        equal(states[0], whole)


@settings(max_examples=24)
@given(pairs, pairs, st.sampled_from(KINDS), st.integers(1, 3), st.integers(0, 4))
def test_concatenated_sentences_have_the_states_that_they_have_alone(
    first, second, kind, width, ahead
):
    model = model_of(sizes(layers=2, **kind))
    sides = []
    for lengths, done in ((first, ahead), (second, 0)):
        sources = sentences([n for n, _ in lengths])
        targets = [(target * 9)[:9] for _, target in lengths]
        state = start_cache(model, sources).reorder(
            torch.arange(len(lengths)).repeat_interleave(width)
        )
        columns = [[row[n] for row in targets for _ in range(width)] for n in range(done)]
        state = decode_columns(model, state, columns)[1] if columns else state
        sides.append((state, decode_whole(model, sources, targets), targets, done))
    state = sides[0][0].concatenate(sides[1][0])
    for number in range(4):
        rows = [
            (row, n) for _, _, targets, done in sides for row, n in ((t, done) for t in targets)
        ]
        ids = [row[done + number] for row, done in rows for _ in range(width)]
        states, state = decode_columns(model, state, [ids])
        whole = [one[done + number] for _, found, _, done in sides for one in found]
        equal(states[0], torch.stack([one for one in whole for _ in range(width)]))
