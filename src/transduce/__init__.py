"""Attention Is All You Need, as software that can be run, read and trusted."""
