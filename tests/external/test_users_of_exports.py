"""What users of other programs write translates with exported models: no part of it is ours."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.exports.random_members import save_member, shapes
from tests.external.environments import make_environment
from tests.external.test_exports import MORE_LINES, list_ended, text_member

import transduce

pytestmark = pytest.mark.external
SOURCES = Path(__file__).parents[2] / "src"
MEMBER = text_member(shapes()["untied"])
PIPELINE = """
import json, sys
from transformers import pipeline
lines = json.load(sys.stdin)
found = pipeline("translation", sys.argv[1])
texts = [one["translation_text"] for one in found(lines, num_beams=1, max_length=60)]
print(json.dumps([found.tokenizer.is_fast, texts]))
"""
# Argos downloads a splitter of sentences for each language. Here it finds one of spaCy's in its
# cache, which splits by rules and needs no download.
ARGOS = """
import json, sys
import spacy
from argostranslate import settings
(settings.cache_dir / "spacy").mkdir()
spacy.blank("xx").to_disk(settings.cache_dir / "spacy")
(settings.cache_dir / "spacy/senter/model").mkdir(parents=True)
from argostranslate import package, translate
package.install_from_path(sys.argv[1])
print(json.dumps(translate.translate("\\n".join(json.load(sys.stdin)), "en", "de")))
"""


@dataclass
class Program:
    """An interpreter that has another program, and a folder to be its home."""

    python: Path
    home: Path

    def run(self, *command, given="", **environment):
        """Run the interpreter with some words; return what it prints."""
        known = {"PATH": "", "HOME": str(self.home), "PYTHONPATH": str(SOURCES)}
        ended = subprocess.run(
            [self.python, *command],
            input=given,
            env=known | environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    def translate(self, script, model, lines, **environment):
        """Run a script on an exported model and lines; return the value that it prints last."""
        printed = self.run("-c", script, model, given=json.dumps(lines), **environment)
        return json.loads(printed.splitlines()[-1])


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """The folder of a model whose outputs are plain words."""
    return save_member(MEMBER, tmp_path_factory.mktemp("model") / "model")


@pytest.fixture(scope="module")
def expected():
    """Some lines and their greedy outputs."""
    ended = list_ended(MEMBER, [line for line in MORE_LINES if "." not in line])
    assert len(set(ended.values())) > 10
    return ended


def test_the_pipeline_of_transformers_4_translates(model, expected, tmp_path):
    program = Program(make_environment(tmp_path / "env", ["transformers<5"]), tmp_path)
    transduce.export(model, to="huggingface", output=tmp_path / "hf")
    is_fast, texts = program.translate(PIPELINE, tmp_path / "hf", list(expected))
    assert is_fast
    assert [" ".join(text.split()) for text in texts] == list(expected.values())


def test_argos_installs_a_package_and_translates_by_the_codes_of_its_languages(
    model, expected, tmp_path
):
    program = Program(make_environment(tmp_path / "env", ["argostranslate"]), tmp_path)
    package = tmp_path / "translate-en_de.argosmodel"
    lines = tmp_path / "lines.en"
    lines.write_text("\n".join(expected), encoding="utf-8")
    export = ("export", model, "--to", "argos", "-o", package, "--prove", lines)
    program.run("-m", "transduce", *export)  # Argos brings SentencePiece
    asked = {"ARGOS_CHUNK_TYPE": "SPACY", "ARGOS_BEAM_SIZE": "1", "ARGOS_COMPUTE_TYPE": "float32"}
    found = program.translate(ARGOS, package, list(expected), **asked)
    assert found.split("\n") == list(expected.values())
