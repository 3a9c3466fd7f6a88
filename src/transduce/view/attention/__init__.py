"""What a model attends to: the attention record, what heads tend to do, pages and figures."""
