"""The page of a table that `transduce reproduce` measured."""
