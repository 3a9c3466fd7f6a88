"""Settings of training: optimiser, schedule, regularisation, validation    (sections 5.2 to 5.4)"""

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
    require_types,
)

SMOOTHINGS = ("szegedy", "t2t")
PRECISIONS = ("float32", "bfloat16")
TOKEN_MULTIPLE = 64  # matrix products are faster if their number of rows is a multiple of 64


@final
@dataclass(frozen=True, kw_only=True)
class Training:
    """Settings of training, such as its steps, Adam, learning rate, validation and precision."""

    steps: int = from_paper(100_000, "5.2", "number of updates; the base models had 100,000")
    warmup: int = from_paper(4_000, "5.3", "number of warm-up steps of equation 3")
    learning_rate_factor: float = from_paper(
        1.0, "5.3", "factor of the learning rate; equation 3 has none"
    )
    beta1: float = from_paper(0.9, "5.3", "Adam's beta1 = 0.9")
    beta2: float = from_paper(0.98, "5.3", "Adam's beta2 = 0.98")
    epsilon: float = from_paper(1e-9, "5.3", "Adam's epsilon = 10^-9")
    label_smoothing: float = from_paper(0.1, "5.4", "label smoothing of 0.1")
    smoothing_form: str = from_paper(
        "szegedy", "5.4", "label smoothing spreads over all symbols, after Szegedy et al."
    )
    seed: int = our_choice(1, "seed of the data order, of dropout and of the initial weights")
    snapshot_every: int = from_paper(
        1_500, "6.1", "steps between snapshots for averaging: 10 minutes at 0.4 s a step"
    )
    average_last: int = from_paper(5, "6.1", "number of last snapshots that are averaged")
    checkpoint_minutes: float = our_choice(
        10.0,
        "minutes between checkpoints, about the most that a crash loses; no result depends on it",
    )
    validate_every: int = our_choice(1_000, "steps between validations on the development set")
    validate_lines: int = our_choice(500, "lines translated at each validation for the score")
    patience: int = our_choice(
        0, "validations without improvement before training stops early; 0: never"
    )
    max_nonfinite_updates: int = our_choice(
        10, "consecutive updates with a loss of NaN or inf after which the run fails"
    )
    micro_batch_tokens: int = our_choice(
        0, "most tokens of both sides in memory at once; 0: chosen by the machine's memory"
    )
    precision: str = our_choice(
        "float32", "number format of matrix products; weights and moments stay float32"
    )
    compile: bool = our_choice(
        False, "compile the layers with torch.compile, which takes minutes at the start"
    )
    pad_to_tokens: int = our_choice(
        0,
        "pad each side of a micro-batch to a multiple of this many tokens; "
        "0: in bfloat16 to a multiple of 64, or on a GPU to one of a few sizes; in float32 none",
    )
    threads: int = our_choice(
        0, "number of CPU threads, which changes the last bits of results; 0: all cores"
    )

    def __post_init__(self) -> None:
        require_types(self)
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
        many = 1_000_000_000  # a limit that no run needs to exceed
        require_at_most(self, many, "steps", "warmup", "snapshot_every", "average_last", "patience")
        require_at_most(self, many, "validate_every", "validate_lines", "max_nonfinite_updates")
        require_at_most(self, many, "micro_batch_tokens")
        require_at_most(self, 1e30, "learning_rate_factor")  # the largest float32 is 3e38
        require_at_most(self, 1, "epsilon")
        require_at_most(self, 525_600, "checkpoint_minutes")  # the minutes of a year
        require_at_most(self, 1 << 24, "pad_to_tokens")
        require_at_most(self, 1_024, "threads")
        require_at_most(self, 2**63 - 1, "seed")
