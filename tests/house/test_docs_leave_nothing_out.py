"""The pages name all that there is: packages, dependencies, choices, tests of the paper."""

import re
import tomllib
from dataclasses import fields
from pathlib import Path

import transduce
from transduce.settings.recipe import GROUPS

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LABELS = ("Question", "Choice", "Because", "Cost", "Tried")


def page(name: str) -> str:
    return (ROOT / "docs/internals" / name).read_text(encoding="utf-8")


def test_every_package_is_in_the_table():
    package = ROOT / "src/transduce"
    found = {f"{path.name}/" for path in package.iterdir() if (path / "__init__.py").is_file()}
    found |= {path.name for path in package.glob("*.py")} - {"__init__.py"}
    assert {name for name in found if f"| `{name}` |" not in page("architecture.md")} == set()


def test_the_order_of_the_packages_is_the_one_that_is_checked():
    contracts = PROJECT["tool"]["importlinter"]["contracts"]
    (layers,) = (one["layers"] for one in contracts if one["type"] == "layers")
    assert "\n".join(["```text", *layers, "```"]) in page("architecture.md")


def test_every_dependency_has_a_reason():
    wanted = [re.split(r"[><=]", one)[0] for one in PROJECT["project"]["dependencies"]]
    assert [one for one in wanted if f"\n| {one} |" not in page("architecture.md")] == []


def test_every_setting_on_which_the_paper_is_silent_is_a_deviation_with_a_reason():
    silent = [
        f"{noun}.{field.name}"
        for noun, kind in GROUPS.items()
        for field in fields(kind)
        if not field.metadata["section"]
    ]
    assert len(silent) > 10
    assert [path for path in silent if f"`{path}`" not in page("deviations.md")] == []


def test_every_file_of_tests_of_the_paper_is_in_the_page_of_the_paper():
    files = [path.name for path in (ROOT / "tests/paper").glob("test_*.py")]
    assert [name for name in files if f"tests/paper/{name}" not in page("paper.md")] == []


def test_decisions_are_numbered_and_say_what_was_asked_chosen_paid_and_tried():
    decisions = sorted((ROOT / "docs/internals/decisions").glob("*.md"))
    numbers = [path.name.partition("-")[0] for path in decisions]
    assert len(numbers) == len(set(numbers)) > 0
    for number, path in zip(numbers, decisions, strict=True):
        text = path.read_text(encoding="utf-8")
        assert re.fullmatch(r"\d{4}", number)
        assert text.startswith(f"# {number} ")
        assert [label for label in LABELS if f"\n**{label}.** " not in text] == []


def test_the_architecture_answers_where_to_change_what():
    table = page("architecture.md").split("## Where to change what")[1].split("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")]
    assert len(rows) > 25
    files, places = re.findall(r"`([\w/]+\.\w+)`", table), (ROOT / "src/transduce", ROOT)
    assert [path for path in files if not any((one / path).is_file() for one in places)] == []
    rows = [row for row in rows if not row.startswith("| to change |")]
    assert [row for row in rows if not re.search(r"`[\w/]+\.\w+`", row.split(" | ")[1])] == []


def test_what_one_cites_has_the_version_and_the_licence_of_the_package():
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {transduce.__version__}\n" in cited
    assert f"\nlicense: {PROJECT['project']['license']}\n" in cited
