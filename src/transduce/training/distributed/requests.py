"""What signals request of a training that is under way."""


class SignalRequests:
    """Set by a signal handler, here or in another process; read by training between updates."""

    stop_signal: int = 0  # the number of the signal that asks training to stop
    checkpoint: bool = False  # whether a checkpoint is wanted before its time
