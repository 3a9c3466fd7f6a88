"""Incremental decoding: the KV cache, one decoding step, weights packed for inference."""
