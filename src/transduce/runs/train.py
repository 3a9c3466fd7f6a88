"""`transduce.train`: train a model in a run folder by one call."""

import inspect
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from os import PathLike
from types import FrameType
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from transduce.errors import InputError, InUseError, name_arguments, short_repr
from transduce.machine.process_settings import keep_freed_memory, set_environment_of_torch
from transduce.recipes.choice import read_recipe
from transduce.settings import Recipe
from transduce.settings.recipe import Value, require_changes
from transduce.text.arguments import read_folder, read_path, require_string

if TYPE_CHECKING:
    from transduce.runs.choice import Texts
    from transduce.runs.training_inputs import TrainingInputs
    from transduce.runs.training_run import TrainingRun
    from transduce.training.distributed.rank import SignalRequests
    from transduce.training.progress import TrainingCallbacks

    # opens callbacks for a run of a recipe, as `transduce.show_progress` does
    ObserveTraining = Callable[[Recipe], AbstractContextManager[TrainingCallbacks]]


def train(  # noqa: PLR0913 - one parameter for each choice of the caller
    folder: str | PathLike[str],
    train: "Texts | None" = None,
    dev: "Texts | Literal[False] | None" = None,
    *,
    recipe: str | PathLike[str] | Recipe | None = None,
    settings: Mapping[str, Value] | None = None,
    store: str | PathLike[str] | None = None,
    scale: str | None = None,
    parent: str | PathLike[str] | None = None,
    old: "Texts | None" = None,
    old_share: float | None = None,
    name: str | None = None,
    languages: Sequence[str] | None = None,
    minutes: float | None = None,
    copy_to: str | PathLike[str] | None = None,
    callbacks: "TrainingCallbacks | ObserveTraining | None" = None,
    process_settings: bool = True,
) -> "TrainingRun":
    """Train a model in a folder, or resume the run that the folder holds; return the run.

    `train` and `dev` are texts: a pair of files, a TSV file, pairs of strings, the name of a
    fetched corpus, or several that `transduce.mix` mixed; without them the recipe's is used. A new
    run without `recipe` and `dev` holds out 1 % of the pairs (200 to 2,000) if there are 2,000 or
    more; `dev=False` holds out none. `store` is a folder that `transduce.prepare` made, in place of
    both.

    `recipe` is a name, a file or a `Recipe`; without one a recipe that fits the text and the
    machine is chosen. `settings` overrides its settings, such as `{"training.steps": 200}`. `scale`
    names a scale that makes it smaller, such as "laptop". `minutes` chooses sizes and updates so
    that a new run without `recipe` takes that long on this machine. `callbacks` are called after
    updates and validations; `transduce.show_progress` prints what the command prints.

    `copy_to` is a folder, or an address that fsspec opens, such as "s3://bucket/run". The run is
    copied there after every checkpoint, and brought from there if `folder` is missing or empty.

    `parent` is a model folder or a run from which training continues (adaptation): it decides the
    architecture and the vocabularies, and without `recipe` all settings but the schedule. `old` is
    text that is mixed in, such as the parent's own, for `old_share` (default 0.5) of all pairs.

    `name` is what the model is called, by default its languages, layers and updates. `languages`
    are codes, such as `("en", "fr")`, by default those in the files' names, or a guess by
    py3langid, if it is installed; the model's card then says so.

    Calling it again resumes from the last checkpoint, equal to the bit on the same machine. Ctrl-C
    saves the last finished update, then raises `KeyboardInterrupt`.

    For this whole process the allocator keeps freed memory, which makes training up to 1.9 times as
    fast, and if torch is not yet imported, idle threads sleep after tenths of a millisecond;
    `process_settings=False` leaves both unchanged. torch's number of threads is `training.threads`
    during the training. A process trains one run at a time, and other threads must not draw from
    torch's own generator meanwhile.

        pairs = [("A dog runs.", "Ein Hund rennt."), ("A cat sleeps.", "Eine Katze schläft.")]
        run = transduce.train("run", pairs * 500, settings={"training.steps": 100})
        model = transduce.average(run)
    """
    if process_settings:
        set_process_for_training()
    from transduce.runs.training_inputs import TrainingInputs

    settings = {} if settings is None else settings
    require_changes(settings)
    inputs = TrainingInputs(
        folder=read_folder(folder),
        recipe=read_recipe(recipe, scale),
        train=train,
        dev=dev,
        store=None if store is None else read_path("store", store),
        settings=settings,
        parent=None if parent is None else read_path("parent", parent),
        old=old,
        old_share=old_share,
        name=name,
        languages=languages,
        minutes=minutes,
    )
    return train_interruptibly(
        inputs,
        callbacks,
        measure_duration=minutes is None,
        copy_to=None if copy_to is None else read_address(copy_to),
        name_options=name_arguments,
    )


def read_address(copy_to: object) -> str:
    """Return `copy_to` as a string; raise InputError if it is neither a path nor an address."""
    if not isinstance(copy_to, str | PathLike):
        raise InputError(f"copy_to must be a folder or an address, not {short_repr(copy_to)}")
    address = os.fspath(copy_to)
    require_string("copy_to", address)
    return address


def set_process_for_training() -> None:
    """Make idle threads sleep soon and keep freed memory, which makes training faster."""
    set_environment_of_torch(training=True)
    keep_freed_memory()


def train_interruptibly(
    inputs: "TrainingInputs",
    callbacks: "TrainingCallbacks | ObserveTraining | None",
    *,
    measure_duration: bool,
    copy_to: str | None = None,
    name_options: Callable[[str], str] = str,
) -> "TrainingRun":
    """Prepare and train; on Ctrl-C, save the last finished update and raise KeyboardInterrupt.

    With `measure_duration` a new run's duration is measured if the callbacks receive messages.
    `name_options` may replace options of the command line in these messages.
    """
    import torch

    from transduce.durable.lock import create_and_lock_folder
    from transduce.runs.copies import observe_and_copy, open_copy
    from transduce.runs.training_inputs import prepare_training
    from transduce.runs.training_run import require_run_folder, require_usual_torch, run_training
    from transduce.text.arguments import ignore_event

    require_callbacks(callbacks)
    require_usual_torch()
    hears = callbacks is not None and getattr(callbacks, "on_message", None) != ignore_event
    require_run_folder(inputs.folder)
    copy = None if copy_to is None else open_copy(copy_to, inputs.folder)
    with refuse_second_training(), create_and_lock_folder(inputs.folder), ExitStack() as at_end:
        at_end.callback(torch.set_num_threads, torch.get_num_threads())
        prepared = prepare_training(inputs, ignore_event)

        @contextmanager
        def observe(recipe: Recipe) -> "Iterator[tuple[TrainingCallbacks, SignalRequests]]":
            with open_callbacks(callbacks, recipe) as opened:
                for reason in prepared.reasons:
                    opened.on_message(name_options(reason))
                with interrupts_as_requests() as requests:
                    yield guard_callbacks(opened, requests, name_options), requests

        run = run_training(
            inputs.folder,
            prepared.recipe,
            prepared.corpus,
            observe_and_copy(observe, copy, inputs.folder),
            parent=prepared.parent,
            measure_duration=measure_duration and hears,
        )
    if run.stop_signal:
        raise KeyboardInterrupt
    return run


@contextmanager
def open_callbacks(
    callbacks: "TrainingCallbacks | ObserveTraining | None", recipe: Recipe
) -> "Iterator[TrainingCallbacks]":
    """Context manager that yields `callbacks`, or those that `callbacks(recipe)` opens.

    Raises InputError for a display that is no context manager or yields no callbacks.
    """
    from transduce.training.progress import TrainingCallbacks

    if callbacks is None or isinstance(callbacks, TrainingCallbacks):
        yield callbacks or TrainingCallbacks()
        return
    display: object = callbacks(recipe)
    if not isinstance(display, AbstractContextManager):
        refuse_callbacks(callbacks)
    with display as opened:
        if not isinstance(opened, TrainingCallbacks):
            refuse_callbacks(callbacks)
        yield opened


def require_callbacks(callbacks: object) -> None:
    """Refuse values that cannot be callbacks, among them built-in functions such as print."""
    from transduce.training.progress import TrainingCallbacks

    may_display = callable(callbacks) and not inspect.isbuiltin(callbacks)
    may_display &= callbacks is not TrainingCallbacks  # the class in place of an object
    if not (callbacks is None or may_display or isinstance(callbacks, TrainingCallbacks)):
        refuse_callbacks(callbacks)


def refuse_callbacks(callbacks: object) -> NoReturn:
    """Raise the InputError for a value that cannot be callbacks."""
    raise InputError(
        f"callbacks must be a TrainingCallbacks, not {short_repr(callbacks)}",
        "transduce.TrainingCallbacks(on_update=lambda update, progress: …)",
    )


def guard_callbacks(
    callbacks: "TrainingCallbacks", requests: "SignalRequests", name_options: Callable[[str], str]
) -> "TrainingCallbacks":
    """Return callbacks that turn Ctrl-C into a stop request, and raise if torch's settings changed.

    `name_options` is applied to every sentence, and may replace options of the command line.
    """
    from transduce.runs.training_run import require_usual_torch
    from transduce.training.progress import TrainingCallbacks

    def update(*event: Any) -> None:  # noqa: ANN401
        callbacks.on_update(*event)
        require_usual_torch()

    def guard(call: Callable[..., None]) -> Callable[..., None]:
        def call_guarded(*event: object) -> None:
            try:
                call(*event)
            except KeyboardInterrupt:
                requests.stop_signal = signal.SIGINT

        return call_guarded

    return TrainingCallbacks(
        on_update=guard(update),
        on_validation=guard(callbacks.on_validation),
        on_checkpoint=guard(callbacks.on_checkpoint),
        on_message=guard(lambda sentence: callbacks.on_message(name_options(sentence))),
        on_warning=guard(lambda sentence: callbacks.warn(name_options(sentence))),
    )


@contextmanager
def interrupts_as_requests() -> "Iterator[SignalRequests]":
    """Context manager that turns a first Ctrl-C into a request to stop; a second one raises.

    A handler of the user's own stays; outside the main thread nothing is changed.
    """
    from transduce.training.distributed.rank import SignalRequests

    requests = SignalRequests()
    in_main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT)
    if not in_main or before is not signal.default_int_handler:
        yield requests
        return

    def request_stop(number: int, _frame: FrameType | None) -> None:
        if requests.stop_signal:
            raise KeyboardInterrupt
        requests.stop_signal = number

    signal.signal(signal.SIGINT, request_stop)
    try:
        yield requests
    finally:
        signal.signal(signal.SIGINT, before)


TRAINS = threading.Lock()  # held while this process trains


@contextmanager
def refuse_second_training() -> Iterator[None]:
    """Context manager that refuses a second training, because both would seed torch's generator."""
    if not TRAINS.acquire(blocking=False):
        fact = "another training is running in this process, and both would draw each other's noise"
        raise InUseError(fact, "train one after the other, or in processes of their own")
    try:
        yield
    finally:
        TRAINS.release()
