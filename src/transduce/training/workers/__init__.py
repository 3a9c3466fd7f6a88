"""Several processes that train one model: the one room that knows torch.distributed."""
