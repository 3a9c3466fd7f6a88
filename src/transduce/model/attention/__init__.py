"""Attention: the reference kernel (equation 1), fast kernels, masks, and the multi-head layers."""
