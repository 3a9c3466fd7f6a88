"""What users of other programs write translates with exported models: no part of it is ours."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.exports.random_members import random_member, save_member, shapes
from tests.external.environments import make_environment
from tests.external.test_exports import MORE_LINES, text_member

import transduce
from transduce.exports.proof import encode, translate

pytestmark = pytest.mark.external
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

    def run(self, script, model, lines, **environment):
        """Run a script on a model and lines; return the value that it prints last."""
        ended = subprocess.run(
            [self.python, "-c", script, str(model)],
            input=json.dumps(lines),
            env={"PATH": "", "HOME": str(self.home), **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        return json.loads(ended.stdout.splitlines()[-1])


def list_outputs(member, lines):
    """Return some lines and their greedy outputs: those that end by themselves, with a text."""
    sources = [encode(member, line) for line in lines]
    found = translate(member, [source.ids for source in sources], 1)
    ended = {
        source.line: member.task.decode(one.ids, "")
        for source, one in zip(sources, found, strict=True)
        if len(one.ids) < source.limit
    }
    return {line: text for line, text in ended.items() if text.strip()}


def test_the_pipeline_of_transformers_4_translates(tmp_path):
    program = Program(make_environment(tmp_path / "env", ["transformers<5"]), tmp_path)
    member = random_member(shapes()["post-norm"])
    expected = list_outputs(member, MORE_LINES[:60])
    assert len(set(expected.values())) > 20
    transduce.export(save_member(member, tmp_path / "m"), to="huggingface", output=tmp_path / "hf")
    is_fast, texts = program.run(PIPELINE, tmp_path / "hf", list(expected))
    assert is_fast
    assert [" ".join(text.split()) for text in texts] == [
        " ".join(text.split()) for text in expected.values()
    ]


def test_argos_installs_a_package_and_translates_by_the_codes_of_its_languages(tmp_path):
    program = Program(make_environment(tmp_path / "env", ["argostranslate"]), tmp_path)
    member = text_member(shapes()["post-norm"])
    expected = list_outputs(member, [line for line in MORE_LINES if "." not in line])
    lines = list(expected)[:30]
    assert len({expected[line] for line in lines}) > 10
    package = tmp_path / "translate-en_de.argosmodel"
    transduce.export(save_member(member, tmp_path / "m"), to="argos", output=package)
    asked = {"ARGOS_CHUNK_TYPE": "SPACY", "ARGOS_BEAM_SIZE": "1"}
    found = program.run(ARGOS, package, lines, **asked)
    assert found.split("\n") == [expected[line] for line in lines]
