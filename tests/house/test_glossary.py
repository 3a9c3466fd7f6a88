"""The glossary defines each term once, in order, and the pages use it."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
GLOSSARY = ROOT / "docs/reference/glossary.md"
PARTS = re.split(r"^## ", GLOSSARY.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
TERMS = [part.split("\n")[0] for part in PARTS]
ASKED = """
attention mask; averaging; beam search; byte-pair encoding; callback; constraint;
continuous batching; deviation; early stopping; ensemble; KV cache; label smoothing;
length bucket; length penalty; manifest; micro-batch; model folder; packed batch; padded block;
padding sentence; perplexity; piece; plan; prepared folder; provenance; rank; recipe;
resume checkpoint; run folder; scale; slot; snapshot; store; task; token; update; validation;
vocabulary; word-piece
"""


def test_each_term_is_defined_once():
    assert len(TERMS) == len({term.lower() for term in TERMS})


def test_terms_stand_in_the_order_of_the_alphabet():
    assert sorted(TERMS, key=str.lower) == TERMS


def test_each_definition_is_a_short_sentence_that_does_not_begin_with_its_term():
    for term, part in zip(TERMS, PARTS, strict=True):
        definition = part.partition("\n")[2].strip()
        assert definition.endswith("."), term
        assert len(definition.split()) < 45, term
        assert not definition.lower().startswith(term.lower()), term


def test_the_terms_of_this_project_are_there():
    asked = {term.strip() for term in ASKED.replace("\n", " ").split(";")}
    assert asked - set(TERMS) == set()


def test_terms_that_definitions_point_at_are_defined():
    """A word between asterisks in a definition is a term of its own, or defined right there."""
    pointed = set(re.findall(r"(?<!\*)\*([\w -]+)\*(?!\*)", "\n".join(PARTS)))
    here = {"live", "finished", "pre-norm"}
    assert pointed - set(TERMS) - here == set()


def test_pages_link_terms():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    linked = {page.name for page in pages if "glossary.md#" in page.read_text(encoding="utf-8")}
    assert {"architecture.md", "several-processes.md", "tables.md", "your-own-text.md"} <= linked
