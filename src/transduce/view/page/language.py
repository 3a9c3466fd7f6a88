"""The texts of a page in other languages, each a table from English texts to translations."""

import json
from collections.abc import Mapping
from importlib.resources import files

from transduce.view.page.data import DataBlock, json_block
from transduce.view.page.parts import PACKAGE

Texts = dict[str, str]


def read_texts(page: str) -> dict[str, Texts]:
    """Return the texts of a page, such as "explainer", by the codes of its other languages."""
    folder = files(PACKAGE).joinpath(page, "texts")
    found = {one.name.removesuffix(".json"): one for one in folder.iterdir()}
    return {code: json.loads(found[code].read_text(encoding="utf-8")) for code in sorted(found)}


def texts_file(page: str, language: str) -> str:
    """Return the path of the file with a page's texts in a language."""
    return str(files(PACKAGE).joinpath(page, "texts", f"{language}.json"))


def texts_block(texts: Mapping[str, Texts], language: str = "") -> DataBlock:
    """Return the block of a page's texts by language; without a `language` the browser chooses."""
    return json_block("texts", {"language": language, "texts": texts})
