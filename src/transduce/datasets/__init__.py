"""Public corpora and treebanks, how they are fetched, and a user's own treebank folders."""
