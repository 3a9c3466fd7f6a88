"""Training curves of runs, drawn from untrusted logs: figures, images and a live page."""
