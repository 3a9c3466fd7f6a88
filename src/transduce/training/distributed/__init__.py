"""Data-parallel training: the only package that knows torch.distributed."""
