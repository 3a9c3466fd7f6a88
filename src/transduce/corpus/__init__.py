"""Prepared corpora: token ids on disk, and the sentence pairs of each training update."""
