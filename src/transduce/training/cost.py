"""The cost of training in operations, estimated as in section 6.1 and counted by formula"""

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class MachineRecord:
    """The devices that a run uses: their count, measured speed, and operations per target piece."""

    device: str
    devices: int
    rate: float  # operations per second of one device, measured
    per_piece: float  # training operations per target piece of this corpus, by formula


@final
@dataclass(frozen=True, kw_only=True)
class TrainingCost:
    """The cost of a run's training: devices, seconds, and estimated and counted operations."""

    device: str  # the last device that the run used
    devices: int
    rate: float  # operations per second of each device, measured
    seconds: float
    estimated: float  # training operations, as the paper estimates them: time x devices x rate
    counted: float  # training operations by formula: matrix products, forward and backward


def add_update_cost(
    cost: TrainingCost | None, machine: MachineRecord, target_tokens: int, seconds: float
) -> TrainingCost:
    """Return the cost of a run after one more update on these devices; None means no cost yet."""
    before = (cost.seconds, cost.estimated, cost.counted) if cost else (0.0, 0.0, 0.0)
    return TrainingCost(
        device=machine.device,
        devices=machine.devices,
        rate=machine.rate,
        seconds=before[0] + seconds,
        estimated=before[1] + seconds * machine.devices * machine.rate,
        counted=before[2] + target_tokens * machine.per_piece,
    )
