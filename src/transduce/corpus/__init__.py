"""Prepared corpora: token ids on disk, and which pairs make up which update."""
