"""The paper's section 3, a file an idea."""
