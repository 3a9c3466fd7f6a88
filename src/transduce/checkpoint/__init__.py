"""What a run keeps: resume saves, snapshots for averaging, and the model folder at its end."""

from transduce.checkpoint.average import averaged
from transduce.checkpoint.card import Facts, Figure, model_card
from transduce.checkpoint.model_folder import LoadedModel, is_model, load_model, save_model
from transduce.checkpoint.run import Run, begin_run, is_run, lengthen_run, read_run
from transduce.checkpoint.saves import Save, has_saves, newest, prune, save
from transduce.checkpoint.snapshots import Snapshot, has_snapshot, save_snapshot, snapshots
from transduce.checkpoint.weights import matching

__all__ = [
    "Facts",
    "Figure",
    "LoadedModel",
    "Run",
    "Save",
    "Snapshot",
    "averaged",
    "begin_run",
    "has_saves",
    "has_snapshot",
    "is_model",
    "is_run",
    "lengthen_run",
    "load_model",
    "matching",
    "model_card",
    "newest",
    "prune",
    "read_run",
    "save",
    "save_model",
    "save_snapshot",
    "snapshots",
]
