"""Files of a run: checkpoints for resuming, snapshots for averaging, the model folder."""

from transduce.checkpoint.average import averaged
from transduce.checkpoint.card import CardFacts, CardScore, model_card
from transduce.checkpoint.model_folder import LoadedModel, is_model, load_model, save_model
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
    "averaged",
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
