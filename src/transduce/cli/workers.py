"""Several processes that train one model, as the command line starts and hears them."""

import functools
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import click

from transduce.errors import LostProcessError, NotFiniteError
from transduce.settings import Recipe
from transduce.settings.fields import require
from transduce.training.distributed.rank import Place
from transduce.training.distributed.requests import Requests

if TYPE_CHECKING:
    from transduce.runs.prepared_corpus import PreparedCorpus
    from transduce.training.distributed.process_group import ProcessGroup
    from transduce.training.distributed.rendezvous import Meeting


@final
@dataclass(frozen=True, kw_only=True)
class Together:
    """What the options and the environment say about who takes part."""

    place: Place
    workers: int
    exact: bool
    seconds: float

    @property
    def is_to_start(self) -> bool:
        """Whether this process only starts the others."""
        return self.workers > 1 and self.place.is_alone

    def meeting(self) -> "Meeting | None":
        """Where this process finds the others, if there are any."""
        if self.place.is_alone:
            return None
        from transduce.training.distributed.rendezvous import Meeting

        return Meeting(self.place, self.seconds, exact=self.exact)


def options(command: Callable[..., None]) -> Callable[..., None]:
    """The options about several processes, as one value `together`."""

    @functools.wraps(command)
    def with_together(*, workers: int, exact: bool, lost_after: float, **others: Any) -> None:  # noqa: ANN401
        place = Place.of(os.environ)
        require(
            workers == 1 or place.is_alone or place.meeting is not None,
            "--workers starts the processes of one machine, and torchrun has started some",
            "leave --workers out: torchrun's --nproc-per-node says how many",
        )
        command(
            together=Together(place=place, workers=workers, exact=exact, seconds=lost_after),
            **others,
        )

    for option in (
        click.option(
            "--lost-after",
            type=click.FloatRange(min=1),
            default=60,
            show_default=True,
            help="Seconds after which a silent process is lost, and the run ends.",
        ),
        click.option(
            "--exact",
            is_flag=True,
            help="The same bits for any number of processes; slower, for more is exchanged.",
        ),
        click.option(
            "--workers",
            type=click.IntRange(min=1, max=1_024),
            default=1,
            show_default=True,
            help="So many processes on this machine share every update.",
        ),
    ):
        with_together = option(with_together)
    return with_together


def launched(together: Together) -> int:
    """Start the others, pass signals on, wait; the exit code."""
    from transduce.cli.signals import asking
    from transduce.training.distributed.launcher import crew

    with crew(together.workers) as processes, asking(processes.pass_on):
        return processes.wait(together.seconds)


@contextmanager
def unless_explained(together: Together) -> Iterator[None]:
    """What all processes see, one of them says: the launcher who was lost, the first the rest."""
    try:
        yield
    except LostProcessError as fault:
        if together.place.meeting is None:
            raise
        raise SystemExit(fault.exit_code) from fault
    except NotFiniteError as fault:
        if together.place.rank == 0:
            raise
        raise SystemExit(fault.exit_code) from fault


@contextmanager
def company_of(
    meeting: "Meeting | None", requests: Requests, recipe: Recipe, prepared: "PreparedCorpus"
) -> Iterator["ProcessGroup"]:
    """Who takes part: this process alone, or all who came to the meeting."""
    from transduce.runs.run_folder import fingerprint_corpus
    from transduce.training.distributed.process_group import SingleProcess

    if meeting is None:
        yield SingleProcess(requests)
        return
    word = {"recipe": recipe.as_json(), "corpus": fingerprint_corpus(prepared)}
    meeting.tell(json.dumps(word))
    with meeting.joined(requests) as group:
        yield group


def follow(meeting: "Meeting", folder: Path, store: Path | None) -> int:
    """Train what the first process says, on the corpus it has; the exit code."""
    from transduce.cli.signals import stopping
    from transduce.machine.process_settings import use_threads
    from transduce.runs.prepared_corpus import STORE, open_prepared
    from transduce.runs.run_folder import fingerprint_corpus, require_same_corpus, train_run
    from transduce.training.loop import TrainingCallbacks, ended, nothing

    word = json.loads(meeting.hear())
    recipe = Recipe.from_mapping(word["recipe"])
    prepared = open_prepared(store or folder / STORE)
    require_same_corpus(folder, word["corpus"], fingerprint_corpus(prepared))
    use_threads(recipe.training.threads)
    with stopping(nothing) as requests, meeting.joined(requests) as group:
        progress = train_run(folder, recipe, prepared, TrainingCallbacks(), nothing, group)
    return 0 if ended(progress, recipe.training) else 128 + requests.stop


def idle(recipe: Recipe, size: int) -> str:
    """A sentence if an update has fewer parts than there are processes."""
    tokens = recipe.data.source_tokens + recipe.data.target_tokens
    limit = recipe.training.micro_batch_tokens
    parts = -(-tokens // limit)
    if parts >= size:
        return ""
    return (
        f"{size - parts} of {size} processes have nothing to do: an update of {tokens:,} tokens is "
        f"{parts} micro-batch{'es'[: 2 * (parts > 1)]} of {limit:,} (training.micro_batch_tokens); begin "
        f"a run with --set training.micro_batch_tokens={max(2 * recipe.data.max_length, tokens // size)}"
    )
