"""Public corpora as values, and how they are fetched, verified and unpacked."""
