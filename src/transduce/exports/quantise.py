"""Quantises weights to 8 bits: each row of a matrix is scaled so that its largest value is 127."""

import numpy as np
from jaxtyping import Float, Int8


def quantise_rows(
    matrix: Float[np.ndarray, "m n"],
) -> tuple[Int8[np.ndarray, "m n"], Float[np.ndarray, " m"]]:
    """Return an m × n matrix in 8-bit integers and m row scales: weight ≈ integer / scale."""
    largest = np.abs(matrix).max(axis=1)
    scale = (127 / np.where(largest == 0, 127, np.maximum(largest, 1e-35))).astype(np.float32)
    return np.rint(matrix * scale[:, None]).astype(np.int8), scale
