"""What signals request of a training that is under way."""


class SignalRequests:
    """What signals request of a training: to stop, or to write a checkpoint early."""

    stop_signal: int = 0  # the number of the signal that asks training to stop
    checkpoint: bool = False  # whether a checkpoint is wanted before its time
