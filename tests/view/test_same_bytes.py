"""Pages and pictures have the same bytes in every process: none depends on the order of a set."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

BUILD = """
import hashlib, json
from tests.view.attention.figures.test_build import view_of
from tests.view.attention.samples import make_view
from tests.view.curves.logs import update, validation, write_log
from tests.view.explainer.samples import PAPERS, TEXT, make_translator
from pathlib import Path
import transduce
from transduce.view.attention.figures import draw_paper_figure
from transduce.view.attention.figures import FIGURES
from transduce.view.attention.page import build_attention_page
from transduce.view.attention.survey.survey import survey
from transduce.view.drawings.formulas import draw_positions, draw_rate

translator, folder = make_translator(PAPERS), Path("pages")
folder.mkdir()
run = write_log(folder / "run", [update(1), update(2), validation(2, 3.0, 11.0)])
transduce.curves(run, output=folder / "curves.html")
survey(translator, ["a dog", "red"], ["ein Hund", "rot"]).write_page(folder / "survey.html")
view = view_of(4)
texts = {
    "attention": build_attention_page(make_view()),
    "figure": draw_paper_figure(view, FIGURES[4], 2),
    "explainer": translator.explain(TEXT).page,
    "curves": (folder / "curves.html").read_text(encoding="utf-8"),
    "survey": (folder / "survey.html").read_text(encoding="utf-8"),
    "positions": draw_positions("tiny"),
    "rate": draw_rate("tiny"),
    "edition": transduce.read(folder / "edition.html").read_text(encoding="utf-8"),
}
print(json.dumps({k: hashlib.sha256(v.encode()).hexdigest() for k, v in texts.items()}))
"""


def build_all(folder: Path, seed: str) -> dict[str, str]:
    """Return the hash of each page and picture, built by a process of its own in a folder."""
    root = Path(__file__).parents[2]
    paths = os.pathsep.join([str(root), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": paths}
    command = [sys.executable, "-c", BUILD]
    folder.mkdir()
    ended = subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, check=False, text=True
    )
    assert ended.returncode == 0, ended.stderr
    found: dict[str, str] = json.loads(ended.stdout)
    return found


@pytest.mark.slow
def test_another_process_with_another_order_of_sets_writes_the_same_bytes(tmp_path):
    """Row V18."""
    first, second = build_all(tmp_path / "1", "1"), build_all(tmp_path / "2", "2")
    assert first == second
    assert len(set(first.values())) == 8
