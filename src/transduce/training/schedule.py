"""The learning rate schedule: linear warm-up, then step^-0.5    (section 5.3)"""

from transduce.settings import Architecture, Training


def learning_rate(step: int, d_model: int, warmup: int) -> float:
    """Return the learning rate d_model^-0.5 · min(step^-0.5, step · warmup^-1.5)    (equation 3)"""
    return float(d_model**-0.5 * min(step**-0.5, step * warmup**-1.5))


def scaled_learning_rate(step: int, sizes: Architecture, training: Training) -> float:
    """Return a step's learning rate: equation 3 times `training.learning_rate_factor`."""
    return training.learning_rate_factor * learning_rate(step, sizes.d_model, training.warmup)
