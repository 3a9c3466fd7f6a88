"""Ids on disk, and which of them make up which update."""
