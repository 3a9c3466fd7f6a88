"""The tables of the paper, run anew and set beside what it prints."""
