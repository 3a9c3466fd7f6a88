import torch
from tests.model.tiny import model_of, sentences, sizes

from transduce.model.columns import in_columns
from transduce.packed import Packed


@torch.no_grad()
def test_a_model_laid_out_in_columns_is_the_same_model():
    model = model_of(sizes())
    source, target = Packed.of(sentences([5, 2])), Packed.of(sentences([3, 6], seed=4))
    before = model.logits(model.decode(target, model.encode(source)))
    weights = {name: weight.clone() for name, weight in model.weights().items()}
    in_columns(model)
    assert all(torch.equal(weight, weights[name]) for name, weight in model.weights().items())
    after = model.logits(model.decode(target, model.encode(source)))
    torch.testing.assert_close(after, before, rtol=0, atol=1e-12)
    assert model.output.weight.t().is_contiguous()
    assert model.target.weight is model.output.weight, "a matrix that is shared stays so"
