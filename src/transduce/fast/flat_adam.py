"""Adam over all weights as one flat tensor    (section 5.3)

Weights, gradients and moments of a model are one flat tensor each, so that the norm, the update,
and the exchange between processes are one operation each. The model's parameters are views of the
flat weights; in training with bfloat16, they are views of a bfloat16 copy, which is refreshed after
each update. As soon as the backward pass has computed a parameter's gradient, the gradient is added
to the flat float32 gradient, while it is still in the processor's cache.
"""

from functools import partial
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.optim.adam import adam

from transduce.fast.unchanged import is_changed
from transduce.paper.training import UPDATES, Adam, BuildOptimiser
from transduce.settings import Training

NORM_ROW = 1_024  # gradients per row; each row's norm is computed first


@final
class FlatAdam:
    """Adam on one flat tensor of a model's weights; turns the model's parameters into views."""

    def __init__(self, model: nn.Module, training: Training) -> None:
        self.names = [name for name, _ in model.named_parameters()]
        self.parameters = [weight for _, weight in model.named_parameters()]
        flat = torch.cat([weight.detach().flatten() for weight in self.parameters])
        self.weights = nn.Parameter(flat)
        self.weights.grad = torch.zeros_like(flat)
        self.gradient_views = self.as_parameter_views(self.weights.grad)
        # indices of the parameters whose gradient is still that of an earlier update
        self.stale = set(range(len(self.gradient_views)))
        self.compute_weights = flat
        if training.precision == "bfloat16":
            model.to(torch.bfloat16)
            self.compute_weights = flat.to(torch.bfloat16)
        for index, (weight, view) in enumerate(
            zip(self.parameters, self.as_parameter_views(self.compute_weights), strict=True)
        ):
            weight.data = view
            weight.register_post_accumulate_grad_hook(
                partial(accumulate_gradient, index, self.gradient_views[index], self.stale)
            )
        self.betas, self.epsilon = (training.beta1, training.beta2), training.epsilon
        # a tensor, because Adam reads the learning rate on the device
        self.learning_rate = torch.zeros((), device=flat.device)
        self.updates = torch.zeros((), dtype=torch.float32, device=flat.device)
        self.exp_avg, self.exp_avg_sq = torch.zeros_like(flat), torch.zeros_like(flat)

    def as_parameter_views(self, flat: Tensor) -> list[Tensor]:
        """Split a flat tensor into views, one for each parameter of the model, with its shape."""
        parts = flat.split([weight.numel() for weight in self.parameters])
        return [part.view(w.shape) for part, w in zip(parts, self.parameters, strict=True)]

    @property
    def gradients(self) -> Float[Tensor, " weights"]:
        """All gradients of this update as one flat tensor, 0 for weights without a gradient."""
        while self.stale:
            self.gradient_views[self.stale.pop()].zero_()
        assert self.weights.grad is not None
        return self.weights.grad

    def list_gradients(self) -> list[Tensor]:
        """Return the list of tensors to sum over processes: the one flat gradient."""
        return [self.gradients]

    def gradient_norm(self) -> Float[Tensor, ""]:
        """Return the L2 norm of all gradients of this update.

        It is the norm of the rows' norms. A single sum of all squares in float32 is off by up to
        0.4 % on a CPU, and takes twice as long.
        """
        flat = self.gradients
        whole = len(flat) // NORM_ROW * NORM_ROW
        norms = torch.linalg.vector_norm(flat[:whole].view(-1, NORM_ROW), dim=1)
        return torch.linalg.vector_norm(torch.cat((norms, flat[whole:])))

    def clear_gradients(self) -> None:
        """Mark all gradients as stale, so that the next backward pass overwrites them."""
        self.stale.update(range(len(self.gradient_views)))

    @torch.no_grad()
    def update(self, learning_rate: float, skip: Float[Tensor, ""]) -> None:
        """Take one step of Adam with this learning rate, unless the tensor `skip` is 1.

        Adam reads `skip` on the device, so that the CPU need not wait for its value. This calls the
        function behind `torch.optim.Adam`, because making an object of that class imports torch's
        compiler, which takes as long as importing torch.
        """
        assert not self.stale
        on_gpu = self.learning_rate.device.type == "cuda"
        adam(
            [self.weights],
            [self.gradients],
            [self.exp_avg],
            [self.exp_avg_sq],
            [],
            [self.updates],
            fused=True,
            capturable=on_gpu,  # Adam's count of updates stays on the GPU
            found_inf=skip,
            amsgrad=False,
            maximize=False,
            beta1=self.betas[0],
            beta2=self.betas[1],
            eps=self.epsilon,
            weight_decay=0.0,
            lr=self.learning_rate.fill_(learning_rate) if on_gpu else learning_rate,
        )
        self.refresh_model()

    def refresh_model(self) -> None:
        """Copy the float32 weights into the model's bfloat16 weights, if it has any."""
        if self.compute_weights.dtype != self.weights.dtype:
            self.compute_weights.copy_(self.weights.detach())

    @property
    def named_weights(self) -> dict[str, Tensor]:
        """The weights by name, as views in float32, even if the model computes in bfloat16."""
        views = self.as_parameter_views(self.weights.detach())
        return dict(zip(self.names, views, strict=True))

    @property
    def moments(self) -> dict[str, Tensor]:
        """Adam's moments keyed `exp_avg.NAME` and `exp_avg_sq.NAME`, and the count of updates."""
        named = {UPDATES: self.updates}
        for kind, flat in (("exp_avg", self.exp_avg), ("exp_avg_sq", self.exp_avg_sq)):
            views = self.as_parameter_views(flat)
            named |= {f"{kind}.{n}": view for n, view in zip(self.names, views, strict=True)}
        return named

    @property
    def state_tensors(self) -> list[Tensor]:
        """The flat weights, both moments and the count of updates, to broadcast to all ranks."""
        return [self.weights.data, self.updates, self.exp_avg, self.exp_avg_sq]

    @torch.no_grad()
    def restore(self, weights: dict[str, Tensor], moments: dict[str, Tensor]) -> None:
        """Copy weights and moments of a checkpoint into the model and Adam, in place."""
        for name, weight in self.named_weights.items():
            weight.copy_(weights[name])
        self.refresh_model()
        for name, moment in self.moments.items():
            moment.copy_(moments[name])


def accumulate_gradient(index: int, view: Tensor, stale: set[int], weight: Tensor) -> None:
    """Move `weight.grad` to `view`: overwrite the view if `index` is in `stale`, else add to it.

    The view is the weight's part of the flat gradient. `stale` holds the indices of the weights
    without a gradient in this update so far; `index` is removed from it.
    """
    assert weight.grad is not None
    if index in stale:
        stale.remove(index)
        view.copy_(weight.grad)
    else:
        view.add_(weight.grad)
    weight.grad = None


def choose_optimiser() -> BuildOptimiser:
    """Return the class `FlatAdam`, or `Adam` if the code of `Adam` in `paper/` was changed."""
    return Adam if is_changed(Adam.__name__) else FlatAdam
