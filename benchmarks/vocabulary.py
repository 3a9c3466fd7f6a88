"""The vocabulary: learning it, encoding by it, what comes back."""

from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import words
from benchmarks.figures import spread, table
from benchmarks.options import Options
from benchmarks.turns import Turn, Variant, measure_in_turns
from benchmarks.vocabulary_worker import ODD
from transduce.text.files import read_lines

LINES, SIZE = 200_000, 10_000
VARIANTS = {
    "transduce": "ours",
    "tokenizers (ByteLevelBPETokenizer)": "tokenizers",
    "SentencePiece (byte-pair, byte fallback)": "sentencepiece",
}


def measure(options: Options) -> dict[str, Any]:
    """Everybody on the same lines."""
    size = SIZE // 20 if options.quick else SIZE
    count = LINES // 100 if options.quick else LINES
    with TemporaryDirectory() as folder:
        file = Path(folder) / "lines"
        made = words.lines(count, 1) if options.text is None else read_lines(options.text)
        text = list(islice((line for line in made if line.strip()), count))
        file.write_text("".join(f"{line}\n" for line in text), encoding="utf-8")
        variants = [
            Variant(name, "vocabulary_worker", (str(file), str(size), whose), peer=whose != "ours")
            for name, whose in VARIANTS.items()
            if whose == "ours" or not options.no_peers
        ]
        turns = measure_in_turns(variants, min(options.rounds, 3), options.threads)
    return {
        "turns": turns,
        "lines": len(text),
        "characters": sum(map(len, text)),
        "different words": len({word for line in text for word in line.split()}),
        "symbols": size,
        "text": options.text.name if options.text else "words that are made",
        "without peers": options.no_peers,
    }


def page(found: dict[str, Any]) -> list[str]:
    """Lines of the page."""
    header = ["", "learning, s", "encoding, lines/s", "pieces", "odd strings that come back"]
    body = [[name, *build_row(some)] for name, some in found["turns"].items()]
    return [
        f"{found['symbols']:,} symbols from {found['lines']:,} lines ({found['text']}: "
        f"{found['characters']:,} characters, {found['different words']:,} different words).",
        "",
        *([found["without peers"], ""] if found["without peers"] else []),
        *table(header, body),
    ]


def build_row(turns: list[Turn]) -> list[str]:
    """The cells of one variant."""
    return [
        spread([turn["learning"] for turn in turns], 1),
        spread([turn["lines"] / turn["encoding"] for turn in turns]),
        f"{turns[0]['pieces']:,}",
        f"{turns[0]['back']} of {len(ODD)}",
    ]
