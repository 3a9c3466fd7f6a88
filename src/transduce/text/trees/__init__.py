"""Constituency trees: reading brackets, cleaning, linearisation, repair and writing."""
