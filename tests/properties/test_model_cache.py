import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.model.test_cache import begun, equal, in_one_go, walked
from tests.model.tiny import SYMBOLS, model_of, sentences, sizes

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


@settings(max_examples=16)
@given(pairs, st.sampled_from(KINDS))
def test_a_sentence_decoded_step_by_step_until_its_own_end_has_the_states_of_the_whole(drawn, kind):
    """Rows leave when their target is over, as sentences leave a search."""
    model = model_of(sizes(layers=2, **kind))
    sources, targets = sentences([n for n, _ in drawn]), [target for _, target in drawn]
    expected = in_one_go(model, sources, targets)
    state, rows = begun(model, sources), list(range(len(drawn)))
    for place in range(max(map(len, targets))):
        staying = [n for n, row in enumerate(rows) if place < len(targets[row])]
        state = state.select(torch.tensor(staying))
        rows = [rows[n] for n in staying]
        states, state = walked(model, state, [[targets[row][place] for row in rows]])
        equal(states[0], torch.stack([expected[row][place] for row in rows]))
