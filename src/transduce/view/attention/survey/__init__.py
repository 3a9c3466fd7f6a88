"""The survey of all heads of a model on many sentence pairs, and of what each contributes."""
