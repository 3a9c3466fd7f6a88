"""Public corpora as values, and the road from their addresses to files that are whole."""
