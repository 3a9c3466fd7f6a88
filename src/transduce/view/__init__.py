"""Self-contained HTML pages: what a model attends to, and the curves of its training."""
