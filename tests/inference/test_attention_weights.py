from concurrent.futures import ThreadPoolExecutor

import torch
from tests.model.tiny import BEGIN, model_of, packed, sizes, states_of

from transduce.inference.attention_weights import capture_attention, capture_cross_attention
from transduce.paper.operations import split_heads

SOURCE, TARGET = (4, 1, 6), (3, 5, 2)


def capture(**changes):
    model = model_of(sizes(**changes))
    return model, capture_attention(model, packed(SOURCE), packed(TARGET).shift_right(BEGIN))


def every(weights):
    return [one for use in weights.weights.values() for layer in use for one in layer]


def test_there_is_a_matrix_for_every_use_layer_sentence_and_head():
    _, weights = capture()
    for use, rows, columns in (
        (weights.weights["encoder"], SOURCE, SOURCE),
        (weights.weights["decoder"], TARGET, TARGET),
        (weights.weights["cross"], TARGET, SOURCE),
    ):
        assert len(use) == 2
        for layer in use:
            shapes = [tuple(one.shape) for one in layer]
            assert shapes == [(2, t, s) for t, s in zip(rows, columns, strict=True)]


def test_the_weights_of_every_query_sum_to_one():
    for one in every(capture()[1]):
        torch.testing.assert_close(one.sum(dim=-1), torch.ones(one.shape[:2], dtype=one.dtype))


def test_masked_positions_have_no_weight():
    _, weights = capture(encoder_neighbourhood=3, decoder_neighbourhood=5)
    for layer in range(2):
        for one in weights.weights["encoder"][layer]:
            near = torch.ones_like(one).tril(1).triu(-1) > 0
            assert torch.equal(one > 0, near)
        for one in weights.weights["decoder"][layer]:
            past = torch.ones_like(one).tril().triu(-2) > 0
            assert torch.equal(one > 0, past)
        assert all((one > 0).all() for one in weights.weights["cross"][layer])


def test_the_weights_reproduce_the_states():
    """Values weighted by hand through the first decoder layer's look at the source."""
    model, weights = capture(layers=1)
    with torch.no_grad():
        memory = model.encode(packed(SOURCE))
        inputs = packed(TARGET).shift_right(BEGIN)
        layer = model.decoder[0]
        x = model.embed(inputs, model.target, model.target_positions)
        own = layer.self_attention
        _, _, values = split_heads(own.query_key_value(x), own.heads, own.widths)
        seen = by_weights(weights.weights["decoder"][0], values)
        x = layer.add_self(x, lambda _: layer.self_attention.output(seen))
        _, values = layer.cross_attention.project_keys_values(memory.states)
        of_source = by_weights(weights.weights["cross"][0], values, lengths=SOURCE)
        x = layer.add_cross(x, lambda _: layer.cross_attention.output(of_source))
        x = layer.add_feed_forward(x, layer.feed_forward)
        torch.testing.assert_close(x, model.decode(inputs, memory), rtol=0, atol=1e-12)


def by_weights(weights, values, lengths=TARGET):
    parts = values.split(list(lengths))
    heads = [torch.einsum("hts,shv->thv", w, v) for w, v in zip(weights, parts, strict=True)]
    return torch.cat(heads).flatten(1)


def test_capturing_changes_neither_the_states_nor_the_model():
    model = model_of()
    before = states_of(model, packed(SOURCE), packed(TARGET))[1]
    operations = model.operations
    found = capture_attention(model, packed(SOURCE), packed(TARGET).shift_right(BEGIN))
    torch.testing.assert_close(found.states, before, rtol=0, atol=1e-12)
    assert model.operations is operations


def test_threads_that_capture_at_once_each_get_their_own_weights():
    """Each thread has texts of its own length; a shared list would have the others' weights."""
    model, lengths = model_of(), range(3, 11)

    def capture_often(length):
        found = []
        for _ in range(25):
            source, target = packed((length, 2)), packed((length + 1, 3)).shift_right(BEGIN)
            found += capture_cross_attention(model, source, target)
            found += capture_attention(model, source, target).weights["cross"]
        return {tuple(one.shape for one in layer) for layer in found}

    with ThreadPoolExecutor(len(lengths)) as pool:
        shapes = list(pool.map(capture_often, lengths))
    assert shapes == [{((2, n + 1, n), (2, 3, 2))} for n in lengths]
