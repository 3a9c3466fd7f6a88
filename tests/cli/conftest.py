"""Commands run as a user runs them, without a new process where none is needed."""

import io
import shutil
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
from tests.cli.language import write_corpus

from transduce.cli.main import transduce
from transduce.cli.outcome import run
from transduce.cli.training import LineDisplay

TINY = (
    "tiny", "--set", "training.threads=1", "--set", "training.checkpoint_minutes=0.0001",
    "--set", "search.extra_length=5",  # an untrained model's outputs have the greatest length
)  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """How a command ended, and what it said."""

    code: int
    stdout: str
    stderr: str


Called = Callable[..., Outcome]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Called:
    """Run the command line with these arguments, perhaps with bytes on its standard input."""

    def called(
        *arguments: object, command: click.Command = transduce, stdin: bytes = b""
    ) -> Outcome:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        capsys.readouterr()
        code = run(command, _texts(arguments))
        said = capsys.readouterr()
        return Outcome(code, said.out, said.err)

    return called


def _texts(arguments: Sequence[object]) -> list[str]:
    return [str(argument) for argument in arguments]


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once: a corpus, `run` on it with saves at steps 19 and 20, `model` of its snapshots."""
    folder = write_corpus(tmp_path_factory.mktemp("made"))
    text = [f"--source={folder}/a.en", f"--target={folder}/a.de"]
    dev = [f"--dev-source={folder}/d.en", f"--dev-target={folder}/d.de"]
    assert run(transduce, ["train", *TINY, *text, *dev, "-o", f"{folder}/run", "--quiet"]) == 0
    assert run(transduce, ["average", f"{folder}/run", "-o", f"{folder}/model"]) == 0
    return folder


@pytest.fixture(scope="session")
def babbler(made: Path) -> Path:
    """A model folder whose weights are random: it says something else to every line."""
    import torch

    from transduce.checkpoint.stored_model import load_model, save_model

    model = load_model(made / "model")
    draws = torch.Generator().manual_seed(1)
    weights = {
        name: weight if weight.ndim == 1 else 0.3 * torch.randn(weight.shape, generator=draws)
        for name, weight in sorted(model.weights.items())
    }
    save_model(made / "babbler", weights, model.recipe, model.vocabularies, "# Babbler\n")
    return made / "babbler"


@pytest.fixture
def corpus(made: Path, tmp_path: Path) -> Path:
    """A folder with a.en, a.de, d.en, d.de."""
    for name in ("a.en", "a.de", "d.en", "d.de"):
        shutil.copy(made / name, tmp_path)
    return tmp_path


@pytest.fixture
def trained(made: Path, corpus: Path) -> Path:
    """A run that came to its end, to be damaged at will."""
    return shutil.copytree(made / "run", corpus / "run")


@pytest.fixture
def model(made: Path, tmp_path: Path) -> Path:
    """A model folder, to be damaged at will."""
    return shutil.copytree(made / "model", tmp_path / "model")


@pytest.fixture
def raise_at_step_3(monkeypatch):
    """Let the display of a run's third update raise a signal, while the shell ignores Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)

    def install(number):
        def on_update(_self, update, _progress):
            if update.step == 3:
                signal.raise_signal(number)

        monkeypatch.setattr(LineDisplay, "on_update", on_update)

    yield install
    assert signal.signal(signal.SIGINT, before) == signal.SIG_IGN
