from dataclasses import replace

import pytest
import torch
from tests.model.tiny import BEGIN, SYMBOLS, model_of, packed, sentences, sizes, states_of
from tests.reference.attention import ReferenceAttention
from tests.reference.transformer import pairs, run_twin, twin_of

from transduce.packed import Packed
from transduce.paper.model import build_transformer
from transduce.paper.operations import PLAIN

SOURCE, TARGET = (5, 1, 9, 3), (2, 6, 1, 8)
SQUARE = {"heads": 2, "d_k": 4, "d_v": 4}  # as torch.nn.Transformer has it: heads · d_k = d_model


def embed(model, batch, side):
    """√d_model · E(w) + PE(pos) of each sentence, and the gradient goes back to E."""
    places = model.source_positions(batch.compute_positions(), max(batch.lengths))
    return (side.weight[batch.ids] * model.sizes.d_model**0.5 + places).split(list(batch.lengths))


def both(architecture, seed):
    """States of our model and of torch.nn.Transformer with the same weights, in float64."""
    model = model_of(architecture, seed=seed)
    source, target = packed(SOURCE, seed=seed), packed(TARGET, seed=seed + 1)
    twin = twin_of(model)
    inputs = target.shift_right(BEGIN)
    theirs = run_twin(twin, embed(model, source, model.source), embed(model, inputs, model.target))
    return model, twin, states_of(model, source, target), theirs


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize(
    "depths", [{"layers": 1}, {"layers": 6}, {"layers": 6, "decoder_layers": 2}]
)
def test_the_model_equals_torch_nn_transformer_with_the_same_weights(depths, norm):
    _, _, ours, theirs = both(sizes(**depths, norm=norm, **SQUARE), seed=depths["layers"])
    for our_states, its_states in zip(ours, theirs, strict=True):
        torch.testing.assert_close(our_states, its_states, rtol=0, atol=1e-9)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_the_gradients_of_all_weights_equal_those_of_torch_nn_build_transformer(norm):
    model, twin, ours, theirs = both(sizes(norm=norm, **SQUARE), seed=3)
    direction = torch.randn(ours[1].shape, dtype=torch.float64)
    (ours[1] * direction).sum().backward()
    of_embedding = model.target.weight.grad.clone()
    model.target.weight.grad = None
    (theirs[1] * direction).sum().backward()
    torch.testing.assert_close(of_embedding, model.target.weight.grad, rtol=0, atol=1e-9)
    compared = list(pairs(twin, model, of=lambda weight: weight.grad))
    for its_gradient, our_gradient in compared:
        torch.testing.assert_close(our_gradient, its_gradient, rtol=0, atol=1e-9)
    ours_in_all = sum(weight.numel() for weight in model.parameters()) - of_embedding.numel()
    assert sum(ours.numel() for _, ours in compared) == ours_in_all, "no weight was forgotten"


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"positions": "learned", "tie_embeddings": "none"},
        {"encoder_neighbourhood": 3, "decoder_neighbourhood": 5, "tie_embeddings": "target"},
    ],
)
def test_a_sentence_has_the_same_states_alone_as_in_any_batch(changes):
    model = model_of(sizes(**changes))
    sources, targets = sentences(SOURCE), sentences(TARGET, seed=5)
    together = states_of(model, Packed.from_sentences(sources), Packed.from_sentences(targets))
    alone = [
        states_of(model, Packed.from_sentences([one]), Packed.from_sentences([other]))
        for one, other in zip(sources, targets, strict=True)
    ]
    assert [tuple(map(len, parts)) for parts in alone] == [*zip(SOURCE, TARGET, strict=True)]
    for states, parts in zip(together, zip(*alone, strict=True), strict=True):
        torch.testing.assert_close(states, torch.cat(parts), rtol=0, atol=1e-12)


def test_attention_sentence_by_sentence_gives_the_model_the_same_states_and_gradients():
    found = []
    for operations in (replace(PLAIN, build_attention=ReferenceAttention), PLAIN):
        model = model_of(sizes(decoder_neighbourhood=3), operations=operations)
        _, states = states_of(model, packed(SOURCE), packed(TARGET))
        states.square().sum().backward()
        found.append([states, *(weight.grad for weight in model.parameters())])
    for plain, grouped in zip(*found, strict=True):
        torch.testing.assert_close(grouped, plain, rtol=0, atol=1e-11)


def test_the_encoder_does_not_see_the_target_nor_a_state_the_symbols_after_it():
    model = model_of()
    source, target = packed([4]), packed([6])
    changed = Packed(target.ids.clone(), target.lengths)
    changed.ids[3] = 5 + (changed.ids[3] == 5)
    before, after = (states_of(model, source, some)[1] for some in (target, changed))
    assert torch.equal(before[:4], after[:4])  # symbol 3 is the input of state 4
    assert (before[4:] != after[4:]).any(dim=1).all()


@pytest.mark.parametrize(("tie", "matrices"), [("all", 1), ("target", 2), ("none", 3)])
def test_a_tie_decides_how_many_symbol_matrices_there_are(tie, matrices):
    model = model_of(sizes(tie_embeddings=tie))
    symbols = [
        name
        for name in model.named_weights()
        if name.split(".")[0] in ("source", "target", "output")
    ]
    assert len(symbols) == matrices


def test_two_vocabularies_may_differ_in_size():
    model = build_transformer(sizes(tie_embeddings="target"), 7, 13, seed=1)
    assert (len(model.source.weight), len(model.target.weight)) == (7, 13)
    states = model.decode(packed([3], symbols=13), model.encode(packed([4], symbols=7)))
    assert model.logits(states).shape == (3, 13)


def test_weights_names_every_learned_tensor_once_and_shares_its_memory():
    model = model_of()
    weights = model.named_weights()
    assert sum(w.numel() for w in weights.values()) == sum(p.numel() for p in model.parameters())
    assert not any(weight.requires_grad for weight in weights.values())
    weights["target.weight"].zero_()
    assert not model.output.weight.any()


def test_logits_are_products_with_the_rows_of_one_matrix():
    model = model_of()
    states = torch.randn(3, 8, dtype=torch.float64)
    logits = model.logits(states)
    assert logits.shape == (3, SYMBOLS)
    by_hand = [[float(state @ row) for row in model.target.weight.detach()] for state in states]
    torch.testing.assert_close(logits, torch.tensor(by_hand, dtype=torch.float64))
