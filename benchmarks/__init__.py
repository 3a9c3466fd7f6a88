"""How fast transduce is, beside others on the same machine, in the same minutes."""
