"""The paper as code: operations, model, training and search, in the paper's order."""
