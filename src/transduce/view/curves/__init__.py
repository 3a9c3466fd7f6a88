"""Training curves of runs: their logs read without trust, as figures, images and a live page."""
