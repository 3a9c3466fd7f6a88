"""The requests that signals such as Ctrl-C make of a training run."""


class SignalRequests:
    """What signals asked of a training run: to stop, or to write a checkpoint now."""

    stop_signal: int = 0  # the number of the signal that requested to stop; 0 if none
    checkpoint: bool = False  # whether a signal requested a checkpoint now
