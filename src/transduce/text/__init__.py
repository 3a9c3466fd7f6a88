"""Strings to strings: reading lines, cleaning them, leaving pairs out, splitting long text."""
