"""Files of a run: checkpoints for resuming, snapshots for averaging, the model folder."""
