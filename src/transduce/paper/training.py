"""Training: the learning rate, Adam, one update, and the loop    (section 5)

An update is made of micro-batches, which fit into memory one at a time. Its gradient is the mean
over the target tokens of all micro-batches. A different split changes only dropout and rounding.
Data and dropout depend only on the run's seed, the step (the update's number) and the number of the
micro-batch, so that a resumed run goes on as if it had never stopped.

The pairs of an update are chosen in corpus/plan.py (section 5.1): as many as fit into two budgets,
of source and of target tokens. Each is 25,000 in the paper, for all devices together; END counts,
padding does not. The last snapshots of a run are averaged in runs/average.py (section 6.1): 5 of a
base model or 20 of a big one. The paper took them every 10 minutes, which is about every 1,500
steps (base) or 600 (big). For Table 3 nothing is averaged.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, final, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transduce.packed import Batch
from transduce.paper.model import Transformer
from transduce.paper.operations import smoothing_mass
from transduce.settings import Architecture, Training
from transduce.vocabulary import BEGIN

# The axis M in shapes: the micro-batches of an update


# --- The learning rate (section 5.3) --------------------------------------------------------------


def learning_rate(step: int, d_model: int, warmup: int) -> float:
    """d_model^-0.5 · min(step^-0.5, step · warmup^-1.5)    (equation 3)

    For the base model, with 4,000 steps of warm-up, it is 1.7e-7 at step 1 and peaks at 7.0e-4
    at step 4,000.
    """
    return float(d_model**-0.5 * min(step**-0.5, step * warmup**-1.5))


def scaled_learning_rate(step: int, sizes: Architecture, training: Training) -> float:
    """Return a step's learning rate: equation 3 times `training.learning_rate_factor`."""
    return training.learning_rate_factor * learning_rate(step, sizes.d_model, training.warmup)


# --- Adam (section 5.3) ---------------------------------------------------------------------------

UPDATES = "updates"  # `Adam.moments` has the number of updates under this key


@final
class Adam:
    """Adam on the weights w of a model, with the gradient g    (section 5.3)

    m ← β1 m + (1 - β1) g
    v ← β2 v + (1 - β2) g²
    w ← w - rate · m / (1 - β1^t) / (√(v / (1 - β2^t)) + ε)

    t is the number of this update, not counting skipped ones. In the paper β1 = 0.9, β2 = 0.98 and
    ε = 10^-9. The weights are kept here in float32, since bfloat16 would round small changes away.
    The model has a copy of them, converted to `training.precision`.
    """

    def __init__(self, model: nn.Module, training: Training) -> None:
        self.parameters = dict(model.named_parameters())
        self.named_weights = {name: w.detach().clone() for name, w in self.parameters.items()}
        self.first = {name: torch.zeros_like(w) for name, w in self.named_weights.items()}
        self.second = {name: torch.zeros_like(w) for name, w in self.named_weights.items()}
        self.updates = torch.zeros(())
        self.betas, self.epsilon = (training.beta1, training.beta2), training.epsilon
        if training.precision == "bfloat16":
            model.to(torch.bfloat16)

    @property
    def moments(self) -> dict[str, Tensor]:
        """Adam's moments keyed `exp_avg.NAME` and `exp_avg_sq.NAME`, and the count of updates."""
        named = {UPDATES: self.updates}
        for kind, moments in (("exp_avg", self.first), ("exp_avg_sq", self.second)):
            named |= {f"{kind}.{name}": moment for name, moment in moments.items()}
        return named

    def list_gradients(self) -> list[Tensor]:
        """Return each weight's gradient, all zeros if the loss does not depend on the weight."""
        for weight in self.parameters.values():
            if weight.grad is None:
                weight.grad = torch.zeros_like(weight)
        return [weight.grad for weight in self.parameters.values() if weight.grad is not None]

    @property
    def state_tensors(self) -> list[Tensor]:
        """The weights, their moments, and the number of updates."""
        return [*self.named_weights.values(), *self.moments.values()]

    def clear_gradients(self) -> None:
        """Discard all gradients, so that the next backward pass does not add to them."""
        for weight in self.parameters.values():
            weight.grad = None

    def gradient_norm(self) -> Float[Tensor, ""]:
        """Return the L2 norm of all gradients, taken as one vector."""
        return torch.cat([g.float().flatten() for g in self.list_gradients()]).norm()

    @torch.no_grad()
    def update(self, learning_rate: float, skip: Float[Tensor, ""]) -> None:
        """Take one step of Adam with this learning rate, unless the tensor `skip` is 1.

        `skip` is a tensor, not a bool, so that an optimiser on a GPU need not wait for its value.
        This simple one does wait.
        """
        if skip:
            return
        self.updates += 1
        t, (beta1, beta2) = int(self.updates), self.betas
        for (name, w), g in zip(self.named_weights.items(), self.list_gradients(), strict=True):
            m, v = self.first[name], self.second[name]
            m.mul_(beta1).add_(g, alpha=1 - beta1)
            v.mul_(beta2).add_(g.float().square(), alpha=1 - beta2)
            divisor = (v / (1 - beta2**t)).sqrt() + self.epsilon
            w.sub_(learning_rate * m / (1 - beta1**t) / divisor)
        self.refresh_model()

    @torch.no_grad()
    def refresh_model(self) -> None:
        """Copy the optimiser's changed weights into the model."""
        for name, weight in self.parameters.items():
            weight.copy_(self.named_weights[name])

    @torch.no_grad()
    def restore(self, weights: dict[str, Tensor], moments: dict[str, Tensor]) -> None:
        """Copy weights and moments of a checkpoint into the model and the optimiser."""
        for name, weight in self.named_weights.items():
            weight.copy_(weights[name])
        for name, moment in self.moments.items():
            moment.copy_(moments[name])
        self.refresh_model()


# --- One update (sections 5.1 to 5.4) -------------------------------------------------------------


@final
@dataclass(frozen=True)
class Update:
    """A finished update: its step, loss, tokens, rate and gradient norm; whether it was applied."""

    step: int
    loss: float  # per target token, against smoothed labels, in nats
    nats: float  # -log p per target token, without smoothing; e^nats is the perplexity
    source_tokens: int
    target_tokens: int
    learning_rate: float
    gradient_norm: float
    applied: bool  # false if loss or gradient was not finite, so that no weight was changed


@final
@dataclass(frozen=True, kw_only=True)
class PendingUpdate:
    """An update whose results are still tensors, perhaps not yet computed."""

    step: int
    source_tokens: int
    target_tokens: int
    learning_rate: float
    sums: Float[Tensor, "M 2"]  # summed loss and -log p of each micro-batch
    gradient_norm: Float[Tensor, ""]
    skipped: Float[Tensor, ""]  # 1 if loss or gradient was not finite, else 0; on the device

    def read(self) -> Update:
        """Wait for the results; return them as numbers, with the micro-batches' sums added up."""
        # one transfer from the device
        *sums, gradient_norm, skipped = torch.cat(
            [self.sums.flatten(), torch.stack([self.gradient_norm, self.skipped]).to(self.sums)]
        ).tolist()
        loss = nats = 0.0
        for some_loss, some_nats in zip(sums[::2], sums[1::2], strict=True):
            loss, nats = loss + some_loss, nats + some_nats
        return Update(
            step=self.step,
            loss=loss / self.target_tokens,
            nats=nats / self.target_tokens,
            source_tokens=self.source_tokens,
            target_tokens=self.target_tokens,
            learning_rate=self.learning_rate,
            gradient_norm=gradient_norm,
            applied=not skipped,
        )


def accumulate_in_order(
    accumulate: "Accumulate",
    token_counts: Sequence[int],
    optimiser: "Optimiser",  # noqa: ARG001 - only several processes need it
) -> Float[Tensor, "M 2"]:
    """Call `accumulate` for the micro-batches 0 to M - 1 and return what it returns for each."""
    return torch.stack([accumulate(number) for number in range(len(token_counts))])


def batch_loss(
    model: Transformer, training: Training, batch: Batch
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """Return a micro-batch's summed loss against smoothed labels, and its summed -log p(target)."""
    operations, weight = model.operations, model.output.weight
    padded = operations.pad_batch(batch)
    memory = model.encode(padded.source)
    states = model.decode(padded.target.shift_right(BEGIN), memory)
    mass = smoothing_mass(training.label_smoothing, training.smoothing_form, len(weight))
    return operations.smoothed_loss(states, weight, batch.target.ids, mass, model.logit_bias)


def add_gradients(
    model: Transformer, training: Training, batch: Batch, target_tokens: int | Float[Tensor, ""]
) -> Float[Tensor, "2"]:
    """Add the gradients of a micro-batch's loss; return its summed loss and summed -log p.

    The gradients are those of the summed loss divided by `target_tokens`, the number of target
    tokens in the whole update. In a CUDA graph that number is a tensor.
    """
    loss, nats = batch_loss(model, training, batch.to(model.output.weight.device))
    (loss / target_tokens).backward()
    return torch.stack([loss.detach(), nats])


def update_weights(  # noqa: PLR0913 - an update's inputs, and two replaceable functions
    model: Transformer,
    optimiser: "Optimiser",
    training: Training,
    step: int,
    batches: Sequence[Batch],
    run_micro_batches: "RunMicroBatches" = accumulate_in_order,
    add_gradients: "AddGradients" = add_gradients,
) -> PendingUpdate | None:
    """Do a step's update on its micro-batches; return None if a signal stopped `run_micro_batches`.

    An update that was stopped, or whose loss or gradient is not finite, changes no weight.
    """
    model.train()
    optimiser.clear_gradients()
    target_tokens = sum(len(batch.target.ids) for batch in batches)

    def accumulate(number: int) -> Float[Tensor, "2"]:
        torch.manual_seed(dropout_seed(training.seed, step, number))
        return add_gradients(model, training, batches[number], target_tokens)

    token_counts = [len(batch.source.ids) + len(batch.target.ids) for batch in batches]
    sums = run_micro_batches(accumulate, token_counts, optimiser)
    if sums is None:
        return None
    gradient_norm = optimiser.gradient_norm()
    rate = scaled_learning_rate(step, model.sizes, training)
    skipped = (~torch.isfinite(gradient_norm + sums[:, 0].sum())).float()
    optimiser.update(rate, skipped)
    return PendingUpdate(
        step=step,
        source_tokens=sum(len(batch.source.ids) for batch in batches),
        target_tokens=target_tokens,
        learning_rate=rate,
        sums=sums,
        gradient_norm=gradient_norm,
        skipped=skipped,
    )


def dropout_seed(seed: int, step: int, number: int) -> int:
    """Return the dropout seed of a step's micro-batch `number`, from the run's seed."""
    digest = hashlib.blake2b(f"dropout {seed} {step} {number}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1  # 63 bits, which torch accepts as a seed


# --- The loop -------------------------------------------------------------------------------------


def train(  # noqa: PLR0913 - a run's inputs, and four replaceable functions
    model: Transformer,
    optimiser: "Optimiser",
    training: Training,
    read_batches: "ReadBatches",
    *,
    done: int = 0,
    run_micro_batches: "RunMicroBatches" = accumulate_in_order,
    add_gradients: "AddGradients" = add_gradients,
    read_update: Callable[[PendingUpdate], Update] = PendingUpdate.read,
    after_update: Callable[[Update], bool] = lambda _: True,
) -> None:
    """Train from step `done` + 1 to `training.steps`.

    `read_batches(step)` returns a step's micro-batches and must depend on `step` alone.
    `add_gradients` adds a micro-batch's gradients, `read_update` waits for an update's results, and
    `after_update` gets them. Training ends early if `after_update` returns False or a signal stops
    `run_micro_batches`.
    """
    for step in range(done + 1, training.steps + 1):
        batches = read_batches(step)
        pending = update_weights(
            model, optimiser, training, step, batches, run_micro_batches, add_gradients
        )
        if pending is None or not after_update(read_update(pending)):
            return


# --- Interfaces -----------------------------------------------------------------------------------


@runtime_checkable
class Optimiser(Protocol):
    """The optimiser of a model's weights; see `Adam`."""

    @property
    def named_weights(self) -> dict[str, Tensor]: ...
    @property
    def moments(self) -> dict[str, Tensor]: ...
    @property
    def state_tensors(self) -> Sequence[Tensor]: ...
    def clear_gradients(self) -> None: ...
    def list_gradients(self) -> Sequence[Tensor]: ...
    def gradient_norm(self) -> Float[Tensor, ""]: ...
    def update(self, learning_rate: float, skip: Float[Tensor, ""], /) -> None: ...
    def refresh_model(self) -> None: ...
    def restore(self, weights: dict[str, Tensor], moments: dict[str, Tensor], /) -> None: ...


BuildOptimiser = Callable[[nn.Module, Training], Optimiser]
ReadBatches = Callable[[int], Sequence[Batch]]  # returns the micro-batches of a step
AddGradients = Callable[[Transformer, Training, Batch, int], Tensor]

# adds the gradient of the micro-batch with this index; returns its summed loss and -log p
Accumulate = Callable[[int], Float[Tensor, "2"]]


@runtime_checkable
class RunMicroBatches(Protocol):
    """Calls `accumulate` for each micro-batch; returns the summed loss and -log p of each.

    It may divide them among processes by token count; then it adds up the processes' gradients.
    It returns None if a signal stops it; the update is then dropped.
    """

    def __call__(
        self, accumulate: Accumulate, token_counts: Sequence[int], optimiser: Optimiser
    ) -> Float[Tensor, "M 2"] | None: ...
