"""The annotated edition: the paper's code as a book, with its tests and a tiny model's numbers."""
