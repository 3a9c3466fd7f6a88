"""Tables 1, 2 and 3 of the paper, measured and set beside the printed figures."""
