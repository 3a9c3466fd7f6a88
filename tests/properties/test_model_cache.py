import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.model.test_kv_cache import equal, in_one_go, start_cache, walked
from tests.model.tiny import SYMBOLS, model_of, sentences, sizes

from transduce.model.decoding import kv_cache as cache
from transduce.settings.architecture import MIXINGS

KINDS = [
    *({"decoder_neighbourhood": r} for r in (0, 1, 3)),
    *({"mixing": mixing} for mixing in MIXINGS),
]
pairs = st.lists(
    st.tuples(st.integers(1, 7), st.lists(st.integers(0, SYMBOLS - 1), min_size=1, max_size=9)),
    min_size=1,
    max_size=4,
)


@settings(max_examples=24)
@given(pairs, st.sampled_from(KINDS), st.integers(1, 3), st.randoms(use_true_random=False))
def test_a_sentence_decoded_step_by_step_until_its_own_end_has_the_states_of_the_whole(
    drawn, kind, width, chance
):
    """Rows leave when their target is over, as sentences leave a search, in any order."""
    model = model_of(sizes(layers=2, **kind))
    sources, targets = sentences([n for n, _ in drawn]), [target for _, target in drawn]
    expected = in_one_go(model, sources, targets)
    state, rows = start_cache(model, sources), list(range(len(drawn)))
    state = state.reorder(torch.arange(len(rows)).repeat_interleave(width))
    for place in range(max(map(len, targets))):
        staying = [n for n, row in enumerate(rows) if place < len(targets[row])]
        if len(staying) < len(rows):
            chance.shuffle(staying)
        chosen = [n * width + chance.randrange(width) for n in staying for _ in range(width)]
        state = state.reorder(torch.tensor(chosen))
        rows = [rows[n] for n in staying]
        ids = [targets[row][place] for row in rows for _ in range(width)]
        states, state = walked(model, state, [ids])
        whole = torch.stack([expected[row][place] for row in rows for _ in range(width)])
        equal(states[0], whole)


@settings(max_examples=24)
@given(pairs, pairs, st.sampled_from(KINDS), st.integers(1, 3), st.integers(0, 4))
def test_sentences_that_join_others_on_their_way_go_on_as_alone(first, second, kind, width, ahead):
    model = model_of(sizes(layers=2, **kind))
    sides = []
    for drawn, done in ((first, ahead), (second, 0)):
        sources = sentences([n for n, _ in drawn])
        targets = [(target * 9)[:9] for _, target in drawn]
        state = start_cache(model, sources).reorder(
            torch.arange(len(drawn)).repeat_interleave(width)
        )
        columns = [[row[n] for row in targets for _ in range(width)] for n in range(done)]
        state = walked(model, state, columns)[1] if columns else state
        sides.append((state, in_one_go(model, sources, targets), targets, done))
    state = cache.concatenate(sides[0][0], sides[1][0])
    for number in range(4):
        rows = [
            (row, n) for _, _, targets, done in sides for row, n in ((t, done) for t in targets)
        ]
        ids = [row[done + number] for row, done in rows for _ in range(width)]
        states, state = walked(model, state, [ids])
        whole = [one[done + number] for _, found, _, done in sides for one in found]
        equal(states[0], torch.stack([one for one in whole for _ in range(width)]))
