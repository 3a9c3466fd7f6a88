"""The transcripts of the README are run: each line shown must come, figures and sentences aside.

Training is shortened and the texts are small, so figures are masked; translated sentences, which
stand deeper than two blanks or are the output of `translate`, are not compared at all.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```console\n(.*?)```", README, flags=re.DOTALL)
SHORTER = (
    "--set training.steps=5 --set training.snapshot_every=1 --set training.validate_every=2 "
    "--set training.validate_lines=2 --set data.max_pairs=2000 --set training.threads=1"
)
SENTENCES = ("    ", "  ✓", "  ✗")  # how the demo shows them
COMMAND = "import sys; from transduce.cli.main import main; main()"
TEXTS = """
from pathlib import Path
from transduce.phrasebook import pairs
for name, split, count in (("a", "train", 2500), ("dev", "dev", 20), ("test", "test", 10)):
    for side, lines in zip(("en", "de"), zip(*pairs(split, count))):
        Path(f"{name}.{side}").write_text("".join(f"{line}\\n" for line in lines), "utf-8")
"""


def transcripts(block: str) -> list[tuple[str, list[str]]]:
    """Each command of a block with the lines that it answers."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [(part.split("\n")[0], part.split("\n")[1:]) for part in parts]


def masked(line: str) -> str:
    """Without figures, the curve of settings that were shortened, and blanks that align."""
    line = re.sub(r" with (data|training)\.[^:]*(?=:)", "", line)
    line = re.sub(r"-?\d[\d,.:]*(e[-+]\d+)?", "#", line)
    return re.sub(r"(, #)+|\s+", " ", line).strip()


def shown(lines: list[str]) -> set[str]:
    """The lines to be found again: no sentences, nothing left out."""
    plain = (line for line in lines if line.strip() and not line.startswith(SENTENCES))
    return {masked(line) for line in plain if line != "…"}


def shortened(command: str) -> str:
    command = command.replace("scripts/demo", "transduce demo")
    training = re.search(r"transduce (train|demo)", command)
    if not training:
        return command
    return re.sub(r" --set training\.\S+", "", command) + f" {SHORTER}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("reader")
    (place / "transduce").write_text(f'#!/bin/sh\nexec {sys.executable} -c "{COMMAND}" "$@"\n')
    (place / "transduce").chmod(0o755)
    subprocess.run([sys.executable, "-c", TEXTS], cwd=place, check=True)
    return place


@pytest.mark.slow
def test_what_the_readme_shows_is_what_a_reader_gets(folder):
    environment = os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"}
    for command, answer in [pair for block in BLOCKS for pair in transcripts(block)]:
        done = subprocess.run(
            shortened(command),
            shell=True,
            cwd=folder,
            env=environment,
            capture_output=True,
            encoding="utf-8",
        )
        assert done.returncode == 0, (command, done.stderr)
        if "transduce translate" not in command:
            got = shown((done.stdout + done.stderr).split("\n"))
            assert shown(answer) - got == set(), command


def test_every_command_line_of_the_readme_is_one_of_ours():
    from transduce.cli.main import COMMANDS

    commands = [command for block in BLOCKS for command, _ in transcripts(block)]
    assert commands
    for command in commands:
        words = shlex.split(command.split("|")[-1])
        assert words[0] == "scripts/demo" or words[:1] == ["transduce"], command
        assert words[0] == "scripts/demo" or words[1] in COMMANDS, command
