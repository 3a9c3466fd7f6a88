"""Text as strings: reading lines, normalising, filtering pairs, splitting long text."""
