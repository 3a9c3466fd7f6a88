"""Adam over all weights as one row of numbers    (section 5.3)

Weights, gradients and moments of a model are each one flat tensor, so that the norm, the update,
and the exchange between processes are one operation each. The model's own tensors are windows onto
the weights, in bfloat16 onto a copy of them that is made anew after each update. A gradient is put
into its window, in float32, as soon as the backward pass has it: while it is still near the core.
"""

from functools import partial
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
        self.parts = self.windows(self.weights.grad)  # of the gradients
        self.missing = set(range(len(self.parts)))  # which hold nothing of this update yet
        self.seen = flat
        if training.precision == "bfloat16":
            model.to(torch.bfloat16)
            self.seen = flat.to(torch.bfloat16)
        for number, (weight, window) in enumerate(
            zip(self.parameters, self.windows(self.seen), strict=True)
        ):
            weight.data = window
            weight.register_post_accumulate_grad_hook(
                partial(take, number, self.parts[number], self.missing)
            )
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
        """All gradients of the update, in the order of `names`; where none came, zero."""
        while self.missing:
            self.parts[self.missing.pop()].zero_()
        assert self.weights.grad is not None
        return self.weights.grad

    def clear(self) -> None:
        """Forget the gradients of the last update: the next ones take their place."""
        self.missing.update(range(len(self.parts)))

    def update(self, rate: float, skip: Float[Tensor, ""] | None = None) -> None:
        """One step of Adam with this learning rate; none where `skip`, of the device, is 1.

        Adam itself looks at `skip`, so that nobody waits for the device to know it.
        """
        assert not self.missing
        on_gpu = self.rate.device.type == "cuda"
        self.adam.param_groups[0]["lr"] = self.rate.fill_(rate) if on_gpu else rate
        self.adam.found_inf = skip  # type: ignore[attr-defined]
        self.adam.step()
        self.show()

    def show(self) -> None:
        """Let the model see the weights as they are now."""
        if self.seen.dtype != self.weights.dtype:
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


def take(number: int, window: Tensor, missing: set[int], weight: Tensor) -> None:
    """Put the gradient of a weight where it belongs, or add it there; the weight keeps none."""
    assert weight.grad is not None
    if number in missing:
        missing.remove(number)
        window.copy_(weight.grad)
    else:
        window.add_(weight.grad)
    weight.grad = None
