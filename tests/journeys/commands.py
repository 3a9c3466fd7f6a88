"""What is typed in the journeys."""

from collections.abc import Sequence

COLD = ("-m", "transduce")  # what Python is asked for, where it is to be started


def tiny(steps: int = 20, **settings: object) -> Sequence[str]:
    """A recipe of seconds, its text and settings; `training__patience=3` is training.patience."""
    said: dict[str, object] = {"training.threads": 1, "training.steps": steps}
    said |= {path.replace("__", "."): value for path, value in settings.items()}
    changes = [part for path, value in said.items() for part in ("--set", f"{path}={value}")]
    return "tiny", "--source", "a.en", "--target", "a.de", *changes
