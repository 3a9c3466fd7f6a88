"""Code blocks of README and guide run, page by page, as a reader would run them.

Training is shortened and the texts are small, so figures are masked, and translated sentences,
which are indented by more than two blanks or are the output of `translate`, `parse` or `tag`, are
not compared.
"""

import contextlib
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest
from tests.house.blocks import PAGES, Block, blocks_of

from transduce.cli.main import COMMANDS, transduce
from transduce.settings.recipe import Recipe

SHORTER = (
    "--set training.steps=5 --set training.snapshot_every=1 --set training.validate_every=2 "
    "--set training.validate_lines=2 --set data.max_pairs=2000 --set training.threads=1 "
    "--set data.source_tokens=1024 --set data.target_tokens=1024 "
    "--set architecture.layers=1"
)
SHORT = (
    '"training.steps": 5, "training.snapshot_every": 1, "training.threads": 1, '
    '"data.source_tokens": 1024, "data.target_tokens": 1024, "architecture.layers": 1'
)
SENTENCES = ("    ", "  ✓", "  ✗")  # how the demo prints them
COMMAND = "import sys; from transduce.cli.main import main; main()"
TEXTS = """
from pathlib import Path
from transduce.phrasebook import pairs
for name, split, count in (("a", "train", 2500), ("dev", "dev", 20), ("test", "test", 10)):
    for side, lines in zip(("en", "de"), zip(*pairs(split, count))):
        Path(f"{name}.{side}").write_text("".join(f"{line}\\n" for line in lines), "utf-8")
"""
# How many blocks of a page are not run; each says why.
NOT_RUN = {
    "README.md": 1,
    "adapting.md": 1,
    "importing.md": 1,
    "attention.md": 1,
    "deploy.md": 4,
    "explainer.md": 1,
    "exporting.md": 6,
    "more-data.md": 2,
    "parsing.md": 4,
    "public-corpora.md": 2,
    "several-processes.md": 10,
    "small-model.md": 4,
    "tables.md": 2,
}
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


@each_page
def test_every_block_has_a_language_that_is_run_or_a_reason(page):
    runs = {"console", "python", "toml", "text"}  # text is output that another block made
    assert [b.text for b in blocks_of(page) if b.language not in runs and not b.reason] == []


@each_page
def test_as_many_blocks_are_not_run_as_are_counted_here(page):
    left = [block for block in blocks_of(page) if block.reason]
    assert len(left) == NOT_RUN.get(page.name, 0)


@each_page
def test_every_command_line_has_a_command_and_options_of_ours(page):
    lines = [line for block in blocks_of(page) for line, _ in block.transcript()]
    lines = [line.replace("scripts/demo", "transduce demo") for line in lines]
    for words in [part for line in lines for part in transduce_commands(line)]:
        command, rest = named_command(words)
        known = {name for o in command.params for name in (*o.opts, *o.secondary_opts)}
        used = {word.split("=")[0] for word in rest if re.match(r"--?[a-z]", word)}
        assert used - known == set(), words


def transduce_commands(line: str) -> list[list[str]]:
    """Return the words of each call of `transduce` in a line of shell."""
    line = re.sub(r"\\\n", " ", line).replace("-m transduce", "; transduce")
    parts = re.split(r"\s*(?:\||&&|;|<|>)\s*", line)
    return [shlex.split(p, comments=True) for p in parts if p.startswith("transduce ")]


def named_command(words: list[str]) -> tuple[click.Command, list[str]]:
    """Return the command that words call, subcommands included, and the words after it."""
    context = click.Context(transduce)
    command, rest = transduce.get_command(context, words[1]), words[2:]
    assert words[1] in COMMANDS, words
    while isinstance(command, click.Group):
        inner = command.get_command(context, rest[0])
        command, rest = inner, rest[1:]
    assert command is not None, words
    return command, rest


def test_every_recipe_file_is_one():
    found = [block.text for page in PAGES for block in blocks_of(page) if block.language == "toml"]
    for text in found:
        values = {key: v for key, v in tomllib.loads(text).items() if key != "start"}
        Recipe.from_mapping({"name": "mine", **values})
    assert found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A reader's folder: a command `transduce` and small texts of the names that pages use."""
    (tmp_path / "transduce").write_text(f'#!/bin/sh\nexec {sys.executable} -c "{COMMAND}" "$@"\n')
    (tmp_path / "transduce").chmod(0o755)
    subprocess.run([sys.executable, "-c", TEXTS], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.slow
@each_page
def test_what_a_page_shows_is_what_a_reader_gets(page, folder):
    names: dict[str, Any] = {}
    for block in blocks_of(page):
        if block.reason:
            continue
        if block.language == "python":
            run_python(block.text, page, folder, names)
        if block.language == "console":
            run_console(block, folder)
        if block.language == "toml":
            (folder / "my.toml").write_text(block.text, encoding="utf-8")


def run_python(text: str, page: Path, folder: Path, names: dict[str, Any]) -> None:
    """Run a block with the names of those before it, in the reader's folder; training is short."""
    text = re.sub(r'"training\.(?!steps)\w+": [\d_]+, ?', "", text)
    text = re.sub(r'"training\.steps": \w+', SHORT, text).replace("30_000", "2_500")
    text = text.replace('("a.en", "a.de"))', f'("a.en", "a.de"), settings={{{SHORT}}})')
    with contextlib.chdir(folder):
        exec(compile(text, str(page), "exec"), names)


def run_console(block: Block, folder: Path) -> None:
    """Run each command of a block and require the lines that the page prints."""
    environment = os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"}
    for command, output in block.transcript():
        done = subprocess.run(
            shortened(command),
            shell=True,
            cwd=folder,
            env=environment,
            capture_output=True,
            encoding="utf-8",
        )
        assert done.returncode == 0, (command, done.stderr)
        if not re.search(r"transduce (translate|parse|tag) ", command):
            got = comparable((done.stdout + done.stderr).split("\n"))
            assert comparable(output) - got == set(), command


def shortened(command: str) -> str:
    """Return a command with a training of a few updates in place of its own."""
    command = command.replace("scripts/demo", "transduce demo")
    if not re.search(r"transduce (train|demo)", command):
        return command
    return re.sub(r" --set training\.\S+", "", command.split(" #")[0]) + f" {SHORTER}"


def masked(line: str) -> str:
    """Return a line without figures, the settings that were shortened, and blanks that align."""
    changed = r"(data|training|architecture)\.[^:]*|\d+ changed settings"
    line = re.sub(rf" with ({changed})(?=:)", "", line)
    line = re.sub(r"-?\d[\d,.:]*(e[-+]\d+)?|\bnan\b|(?<=\s)-(?=\s|$)", "#", line)
    return re.sub(r"(, #)+|\s+", " ", line).strip()


def comparable(lines: list[str]) -> set[str]:
    """Return the lines that must be found again: no sentences, nothing that the page leaves out."""
    plain = (line for line in lines if line.strip() and not line.startswith(SENTENCES))
    return {masked(line) for line in plain if line != "…"}
