import pytest
import torch
from torch.nn import functional

from transduce.fast import loss as loss_module
from transduce.fast.loss import smoothed_loss, target_log_probs
from transduce.machine.device import Processor

T, V, D = 23, 17, 5


def inputs(dtype=torch.float64, seed=1):
    """States, the matrix of symbols, targets."""
    generator = torch.Generator().manual_seed(seed)
    states = torch.randn(T, D, generator=generator, dtype=dtype).requires_grad_()
    weight = torch.randn(V, D, generator=generator, dtype=dtype).requires_grad_()
    return states, weight, torch.randint(V, (T,), generator=generator)


@pytest.fixture
def sliced(monkeypatch):
    """So many rows in a slice, and so many of them softened at once."""

    def cut(rows, few):
        for name, value in (
            ("TOKEN_MULTIPLE", 1),
            ("SLICE_TOKENS", rows),
            ("SOFTMAX_LOGITS", few * V),
        ):
            monkeypatch.setattr(loss_module, name, value)

    return cut


def with_gradients(loss, states, weight):
    return [loss.detach(), *torch.autograd.grad(loss, (states, weight))]


@pytest.mark.parametrize(("rows", "few"), [(1, 1), (4, 1), (10, 4), (T, 7), (1_000, 1_000)])
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.9])
def test_loss_and_gradients_equal_torchs_cross_entropy(sliced, rows, few, smoothing):
    """torch's label_smoothing is Szegedy's form."""
    sliced(rows, few)
    states, weight, targets = inputs()
    found = with_gradients(smoothed_loss(states, weight, targets, smoothing)[0], states, weight)
    logits = states @ weight.T
    its = functional.cross_entropy(logits, targets, reduction="sum", label_smoothing=smoothing)
    for ours, expected in zip(found, with_gradients(its, states, weight), strict=True):
        torch.testing.assert_close(ours, expected, rtol=1e-12, atol=1e-12)


def test_the_gradients_equal_numerical_ones(sliced):
    sliced(7, 3)
    states, weight, targets = inputs()
    few = states[:9].detach().requires_grad_()
    assert torch.autograd.gradcheck(
        lambda s, w: smoothed_loss(s, w, targets[:9], 0.1)[0], (few, weight)
    )


def test_the_gradient_is_scaled_by_what_the_sum_is_divided_by():
    states, weight, targets = inputs()
    whole = with_gradients(smoothed_loss(states, weight, targets, 0.1)[0], states, weight)
    part = with_gradients(smoothed_loss(states, weight, targets, 0.1)[0] / 7, states, weight)
    for ours, expected in zip(part, whole, strict=True):
        torch.testing.assert_close(ours, expected / 7)


def test_slices_of_any_size_give_the_same_sums_in_float32(sliced):
    states, weight, targets = inputs(torch.float32)
    found = []
    for rows, few in ((1, 1), (5, 3), (T, T)):
        sliced(rows, few)
        loss, nats = smoothed_loss(states, weight, targets, 0.1)
        found.append([float(nats), -float(target_log_probs(states, weight, targets).sum())])
        found[-1] += [float(x.sum()) for x in with_gradients(loss, states, weight)]
    assert found[0] == pytest.approx(found[1], rel=1e-5, abs=1e-6)
    assert found[0][:3] == pytest.approx(found[2][:3], rel=1e-6)


def test_the_nats_are_those_of_the_targets_without_smoothing():
    states, weight, targets = inputs()
    expected = functional.cross_entropy(states @ weight.T, targets, reduction="sum").item()
    for smoothing in (0.0, 0.1):
        _, nats = smoothed_loss(states, weight, targets, smoothing)
        assert float(nats) == pytest.approx(expected, rel=1e-12)
        assert not nats.requires_grad
    assert -float(target_log_probs(states, weight, targets).sum()) == pytest.approx(expected)


def test_the_gradient_of_a_bias_is_exact_over_many_slices_in_bfloat16(sliced):
    """Each entry is rounded once, and not in every slice."""
    sliced(1, 1)
    draws = torch.Generator().manual_seed(1)
    shapes = ((400, D), (V, D), (V,))
    given = [torch.randn(shape, generator=draws).bfloat16().requires_grad_() for shape in shapes]
    states, weight, bias = given
    targets = torch.randint(V, (400,), generator=draws)
    (found,) = torch.autograd.grad(smoothed_loss(states, weight, targets, 0.1, bias)[0], bias)
    logits = functional.linear(*given).double()
    (expected,) = torch.autograd.grad(
        functional.cross_entropy(logits, targets, reduction="sum", label_smoothing=0.1), bias
    )
    torch.testing.assert_close(found, expected, rtol=0.01, atol=0.1)


def test_no_tensor_of_all_logits_is_made_or_kept(sliced):
    """The largest tensor that appears has a slice's logits, and only gradients are kept."""
    sliced(4, 2)
    states, weight, targets = inputs()
    sizes: list[int] = []
    kept: list[torch.Size] = []

    def keep(tensor):
        kept.append(tensor.shape)
        return tensor

    class Sizes(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            out = func(*args, **(kwargs or {}))
            sizes.extend(x.numel() for x in (out,) if isinstance(x, torch.Tensor))
            return out

    with (
        Sizes(),
        torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor),
    ):
        loss, _ = smoothed_loss(states, weight, targets, 0.1)
        loss.backward()
    assert sorted(kept) == sorted([states.shape, weight.shape])
    assert max(sizes) <= max(T * D, V * D, 4 * V) < T * V


def test_log_probs_are_those_of_all_logits_at_once_whatever_the_slices(sliced):
    states, weight, targets = inputs()
    every = (states @ weight.T).log_softmax(1)[torch.arange(T), targets].detach()
    for rows, few in ((1, 1), (10, 4), (T, T)):
        sliced(rows, few)
        torch.testing.assert_close(target_log_probs(states, weight, targets), every)


def test_a_slice_holds_few_logits_however_many_symbols_there_are():
    sizes = {
        symbols: loss_module.tokens_per_slice(torch.empty(symbols, 1))
        for symbols in (100, 37_000, 200_000)
    }
    assert sizes == {100: 384, 37_000: 384, 200_000: 64}


def test_a_slice_has_more_tokens_in_bfloat16_with_amx(monkeypatch):
    sizes = {}
    for feature in ("amx_bf16", "avx512_bf16"):
        processor = Processor("GenuineIntel", frozenset({feature}))
        monkeypatch.setattr(loss_module, "read_processor", lambda it=processor: it)
        weights = [torch.empty(V, 1, dtype=dtype) for dtype in (torch.bfloat16, torch.float32)]
        sizes[feature] = [loss_module.tokens_per_slice(weight) for weight in weights]
    assert sizes == {"amx_bf16": [1_536, 384], "avx512_bf16": [384, 384]}


def test_a_probability_of_almost_nothing_stays_finite():
    """Logits of thousands: the softmax is never taken apart from its logarithm."""
    states = torch.tensor([[3e3], [-3e3]], requires_grad=True)
    weight = torch.tensor([[1.0], [-1.0]], requires_grad=True)
    loss, nats = smoothed_loss(states, weight, torch.tensor([1, 1]), 0.0)
    assert float(nats) == pytest.approx(6e3)
    assert all(x.isfinite().all() for x in with_gradients(loss, states, weight))
