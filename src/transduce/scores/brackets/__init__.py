"""EVALB's scores of trees: labelled brackets, complete matches, crossing brackets, tags."""
