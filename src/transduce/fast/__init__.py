"""What a machine makes us do: faster functions and modules with the results of `paper/`."""
