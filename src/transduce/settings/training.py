"""How a model is trained    (sections 5.2 to 5.4)"""

from dataclasses import dataclass
from typing import final

from transduce.settings.fields import (
    from_paper,
    our_choice,
    require,
    require_at_most,
    require_one_of,
    require_positive,
    require_probability,
)

SMOOTHINGS = ("szegedy", "t2t")
PRECISIONS = ("float32", "bfloat16")
TOKEN_MULTIPLE = 64  # matrix products whose number of rows is a multiple of 64 are faster


@final
@dataclass(frozen=True, kw_only=True)
class Training:
    """Optimisation by Adam and equation 3, label smoothing, validation, checkpoints, precision."""

    steps: int = from_paper(100_000, "5.2", "the base models were trained for 100,000 steps")
    warmup: int = from_paper(4_000, "5.3", "warmup_steps = 4000")
    learning_rate_factor: float = from_paper(1.0, "5.3", "equation 3 has no other factor")
    beta1: float = from_paper(0.9, "5.3", "Adam with beta1 = 0.9")
    beta2: float = from_paper(0.98, "5.3", "and beta2 = 0.98")
    epsilon: float = from_paper(1e-9, "5.3", "and epsilon = 10^-9")
    label_smoothing: float = from_paper(0.1, "5.4", "label smoothing of 0.1")
    smoothing_form: str = from_paper(
        "szegedy", "5.4", "after Szegedy et al.: spread over all symbols"
    )
    seed: int = our_choice(1, "the one number that decides order, dropout and first weights")
    snapshot_every: int = from_paper(1_500, "6.1", "10 minutes at 0.4 s a step, for averaging")
    average_last: int = from_paper(5, "6.1", "the last 5 are averaged")
    checkpoint_minutes: float = our_choice(
        10.0, "what a crash may cost; checkpoints change no result"
    )
    validate_every: int = our_choice(1_000, "between two validations on the development set")
    validate_lines: int = our_choice(500, "as many lines are translated for BLEU while training")
    patience: int = our_choice(
        0, "early stopping after so many validations without improvement; 0 trains all"
    )
    max_nonfinite_updates: int = our_choice(
        10, "so many in a row with a loss of NaN or inf stop the run"
    )
    micro_batch_tokens: int = our_choice(
        0, "tokens of both sides in memory at once; 0 asks the machine"
    )
    precision: str = our_choice(
        "float32", "of products; weights and Adam's means are always float32"
    )
    compile: bool = our_choice(False, "layers as compiled code; costs minutes at the start")
    pad_to_tokens: int = our_choice(
        0, "each side of a micro-batch is padded to a multiple; 0 pads none"
    )
    threads: int = our_choice(
        0, "of the processor; 0 takes all; stored, for it changes the last bit"
    )

    def __post_init__(self) -> None:
        require_positive(
            self,
            "steps",
            "warmup",
            "learning_rate_factor",
            "epsilon",
            "snapshot_every",
            "average_last",
        )
        require_positive(
            self, "checkpoint_minutes", "validate_every", "validate_lines", "max_nonfinite_updates"
        )
        require_probability(self, "beta1", "beta2", "label_smoothing")
        require_one_of(self, "smoothing_form", SMOOTHINGS)
        require_one_of(self, "precision", PRECISIONS)
        for name in ("seed", "patience", "micro_batch_tokens", "pad_to_tokens", "threads"):
            value = getattr(self, name)
            require(value >= 0, f"training.{name} must not be negative, it is {value}")
        require(
            self.pad_to_tokens % TOKEN_MULTIPLE == 0,
            f"training.pad_to_tokens must be a multiple of {TOKEN_MULTIPLE}, "
            f"it is {self.pad_to_tokens}",
            f"take {-(-self.pad_to_tokens // TOKEN_MULTIPLE) * TOKEN_MULTIPLE}: "
            "products of even sizes are faster",
        )
        require_at_most(self, 1 << 24, "pad_to_tokens")
        require_at_most(self, 1_024, "threads")
        require_at_most(self, 2**63 - 1, "seed")
