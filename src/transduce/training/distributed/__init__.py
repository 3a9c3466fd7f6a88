"""Data-parallel training; no other package imports torch.distributed."""
