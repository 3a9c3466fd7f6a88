"""Files of a run: checkpoints for resuming, snapshots for averaging, the model folder.

Every name is imported when it is first used, so that what reads no weights imports no torch.
"""

import importlib
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transduce.checkpoint.average import average_weights
    from transduce.checkpoint.card import CardFacts, CardScore, model_card
    from transduce.checkpoint.model_files import is_model
    from transduce.checkpoint.model_folder import LoadedModel, load_model, save_model
    from transduce.checkpoint.resume import (
        Checkpoint,
        has_checkpoints,
        load_newest_checkpoint,
        prune,
        read_checkpoint_state,
        save_checkpoint,
    )
    from transduce.checkpoint.run_file import Run, create_run, extend_run, is_run, read_run
    from transduce.checkpoint.snapshots import (
        Snapshot,
        has_snapshot,
        list_milestones,
        list_snapshots,
        save_snapshot,
    )
    from transduce.checkpoint.weights import require_matching_tensors

__all__ = [
    "CardFacts",
    "CardScore",
    "Checkpoint",
    "LoadedModel",
    "Run",
    "Snapshot",
    "average_weights",
    "create_run",
    "extend_run",
    "has_checkpoints",
    "has_snapshot",
    "is_model",
    "is_run",
    "list_milestones",
    "list_snapshots",
    "load_model",
    "load_newest_checkpoint",
    "model_card",
    "prune",
    "read_checkpoint_state",
    "read_run",
    "require_matching_tensors",
    "save_checkpoint",
    "save_model",
    "save_snapshot",
]

MODULES = MappingProxyType(  # the names that each module of this package defines
    {
        "average": ("average_weights",),
        "card": ("CardFacts", "CardScore", "model_card"),
        "model_files": ("is_model",),
        "model_folder": ("LoadedModel", "load_model", "save_model"),
        "resume": (
            "Checkpoint",
            "has_checkpoints",
            "load_newest_checkpoint",
            "prune",
            "read_checkpoint_state",
            "save_checkpoint",
        ),
        "run_file": ("Run", "create_run", "extend_run", "is_run", "read_run"),
        "snapshots": (
            "Snapshot",
            "has_snapshot",
            "list_milestones",
            "list_snapshots",
            "save_snapshot",
        ),
        "weights": ("require_matching_tensors",),
    }
)


def __getattr__(name: str) -> object:
    """Import a function or class from its module of this package when it is first used."""
    for module, names in MODULES.items():
        if name in names:
            return getattr(importlib.import_module(f"transduce.checkpoint.{module}"), name)
    raise AttributeError(f"module 'transduce.checkpoint' has no attribute {name!r}")
