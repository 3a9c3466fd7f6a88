"""The requests that signals such as Ctrl-C make to a running training."""


class SignalRequests:
    """Requests made by signals to a running training: to stop, or to write a checkpoint now."""

    stop_signal: int = 0  # the number of the signal that requested to stop; 0 if none
    checkpoint: bool = False  # whether a signal requested a checkpoint now
