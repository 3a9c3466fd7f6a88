"""What people ask of a run while it goes on."""


class Requests:
    """What a run was asked for by signals, in this process or in another."""

    stop: int = 0  # the number of the signal that asks it to end
    save: bool = False  # whether a save is wanted before its time
