"""Constituency trees: reading brackets, cleaning, linearisation, repair, writing and drawing."""
