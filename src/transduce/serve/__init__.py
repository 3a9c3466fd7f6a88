"""A translation server: one process answers HTTP, others search for several requests at once."""
