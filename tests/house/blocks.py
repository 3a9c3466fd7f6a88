"""Code blocks of README and guide: what each is, and why some are not run."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs/guide").glob("*.md"))]
BLOCK = re.compile(
    r"(?:^<!-- not run: (?P<reason>[^\n]+) -->\n)?"
    r"^```(?P<language>\w*)\n(?P<text>.*?)^```$",
    flags=re.MULTILINE | re.DOTALL,
)


class Block(NamedTuple):
    """One fenced block of a page."""

    language: str
    text: str
    reason: str  # why it is not run; empty for one that is

    def transcript(self) -> list[tuple[str, list[str]]]:
        """Return each command of a console block with the lines of output that are printed."""
        parts = re.split(r"^\$ ", self.text, flags=re.MULTILINE)[1:]
        pairs = [re.match(r"((?:[^\n]*\\\n)*[^\n]*)\n?(.*)", part, re.DOTALL) for part in parts]
        return [(found[1], found[2].split("\n")) for found in pairs if found]


def blocks_of(page: Path) -> list[Block]:
    """Return the fenced blocks of a page in their order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(found["language"], found["text"], found["reason"] or "")
        for found in BLOCK.finditer(text)
    ]
