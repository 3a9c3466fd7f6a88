"""Adam over all weights as one row of numbers    (section 5.3)

Weights, gradients and moments of a model are each one flat tensor; the model's own tensors are
windows onto it. So the norm, the update, and the exchange between processes are one operation
each, and a gradient is where it must be without a copy.

In bfloat16 the model's tensors are windows onto copies in that precision: of the weights, made
anew after each update, and of the gradients of one micro-batch, which are added up in float32.
"""

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transduce.settings import Training


@final
class Optimiser:
    """The flat tensors of one model, and Adam on them."""

    def __init__(self, model: nn.Module, training: Training) -> None:
        self.names = [name for name, _ in model.named_parameters()]
        self.parameters = [weight for _, weight in model.named_parameters()]
        flat = torch.cat([weight.detach().flatten() for weight in self.parameters])
        self.weights = nn.Parameter(flat)
        self.weights.grad = torch.zeros_like(flat)
        self.lowered = training.precision == "bfloat16"
        self.seen, self.felt = flat, self.weights.grad
        if self.lowered:
            model.to(torch.bfloat16)
            self.seen, self.felt = (x.to(torch.bfloat16) for x in (flat, self.weights.grad))
        for weight, window, gradient in zip(
            self.parameters, self.windows(self.seen), self.windows(self.felt), strict=True
        ):
            weight.data, weight.grad = window, gradient
        self.adam = torch.optim.Adam(
            [self.weights],
            betas=(training.beta1, training.beta2),
            eps=training.epsilon,
            fused=True,
            capturable=flat.device.type == "cuda",  # its numbers stay on the GPU
        )
        self.rate = torch.zeros((), device=flat.device)  # a GPU's updates hold no constant
        self.adam.state[self.weights] = {
            "step": torch.zeros((), dtype=torch.float32, device=flat.device),
            "exp_avg": torch.zeros_like(flat),
            "exp_avg_sq": torch.zeros_like(flat),
        }

    def windows(self, flat: Tensor) -> list[Tensor]:
        """A flat tensor as the model's tensors."""
        parts = flat.split([weight.numel() for weight in self.parameters])
        return [part.view(w.shape) for part, w in zip(parts, self.parameters, strict=True)]

    @property
    def gradients(self) -> Float[Tensor, " weights"]:
        """All gradients, in the order of `names`."""
        assert self.weights.grad is not None
        return self.weights.grad

    def clear(self) -> None:
        """Forget the gradients of the last update."""
        self.gradients.zero_()
        if self.lowered:
            self.felt.zero_()

    def gather(self) -> None:
        """Add a micro-batch's gradients to those of the update."""
        if self.lowered:
            self.gradients.add_(self.felt)
            self.felt.zero_()

    def update(self, rate: float, skip: Float[Tensor, ""] | None = None) -> None:
        """One step of Adam with this learning rate; none where `skip`, of the device, is 1.

        Adam itself looks at `skip`, so that nobody waits for the device to know it.
        """
        on_gpu = self.rate.device.type == "cuda"
        self.adam.param_groups[0]["lr"] = self.rate.fill_(rate) if on_gpu else rate
        self.adam.found_inf = skip  # type: ignore[attr-defined]
        self.adam.step()
        self.show()

    def show(self) -> None:
        """Let the model see the weights as they are now."""
        if self.lowered:
            self.seen.copy_(self.weights.detach())

    @property
    def named_weights(self) -> dict[str, Tensor]:
        """The weights by their names, in float32 whatever the model computes in."""
        return dict(zip(self.names, self.windows(self.weights.detach()), strict=True))

    @property
    def moments(self) -> dict[str, Tensor]:
        """Adam's two running means by the names of the weights, and its count of updates."""
        state = self.adam.state[self.weights]
        named = {"updates": state["step"]}
        for kind in ("exp_avg", "exp_avg_sq"):
            windows = self.windows(state[kind])
            named |= {f"{kind}.{n}": w for n, w in zip(self.names, windows, strict=True)}
        return named

    @property
    def numbers(self) -> list[Tensor]:
        """All that a save would hold, as few tensors."""
        return [self.weights.data, *self.adam.state[self.weights].values()]

    @torch.no_grad()
    def restore(self, weights: dict[str, Tensor], moments: dict[str, Tensor]) -> None:
        """Go on from a save: every number as it was."""
        for name, weight in self.named_weights.items():
            weight.copy_(weights[name])
        self.show()
        for name, moment in self.moments.items():
            moment.copy_(moments[name])
