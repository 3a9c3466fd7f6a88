"""`transduce.translate_document`: translates the text of a document and keeps its markup."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import final

from transduce.inference.lines import LineWarning
from transduce.inference.load import load
from transduce.inference.outputs import Output
from transduce.inference.translator import Translator
from transduce.tasks import TextToText, require_task
from transduce.text.arguments import read_path
from transduce.text.documents.document import Document, ParseOptions
from transduce.text.documents.read import read_document
from transduce.text.markup import Links
from transduce.text.placeholders import describe_items

LANGUAGE_CODE = re.compile(r"[a-z]{2,3}(-[a-zA-Z0-9-]+)?")


@final
@dataclass(frozen=True)
class TranslatedDocument:
    """A translated document: text, counts of new and kept translations, review notes, warnings."""

    text: str
    sentences: int  # the number of sentences that were translated
    kept: int  # the number of entries that had a translation before and keep it
    for_review: tuple[str, ...]  # a line for each entry that a person should review, with a reason
    warnings: tuple[str, ...] = ()  # such as one about a language that the document names


def translate_document(
    model: Translator | Path | str,
    document: str | PathLike[str] | bytes,
    form: str,
) -> TranslatedDocument:
    """Translate the sentences in a document of format `form`, and keep everything else.

        found = transduce.translate_document("model", b"<p>A <b>dog</b> runs.</p>", "html")
        print(found.text, found.sentences)

    `model` is a translator, a model folder or a run folder. `document` is a file, or bytes, which
    are the document itself. `form` is "text", "html", "po", "xliff" or "srt". Inline tags are
    placed by word alignments. An ensemble has no alignments, so it translates each text between
    two tags separately.
    """
    translator = model if isinstance(model, Translator) else load(model)
    if not isinstance(document, bytes):
        document = read_path("document", document)
    found = parse_document(translator, document, form)
    return join_outputs(found, translate_sentences(translator, found))


def parse_document(translator: Translator, document: Path | bytes, form: object) -> Document:
    """Parse a document of format `form`; raise InputError unless `translator` translates text."""
    data = translator.recipe.data
    require_task(translator.task, TextToText, data, "the translation of a document")
    source, target = (
        code if LANGUAGE_CODE.fullmatch(code) else ""  # the recipe may name no language
        for code in (one.replace("_", "-") for one in (data.source_language, data.target_language))
    )
    inline = len(translator.models) == 1
    options = ParseOptions(inline, target, source_language=source)
    return read_document(document, form, options)


def translate_sentences(translator: Translator, document: Document) -> Iterator[list[Output]]:
    """Yield a list of one output per sentence, with word alignments if there are inline tags."""
    on_warning = translator.on_warning

    def warn(warning: LineWarning) -> None:
        if warning.kind != "lost":  # `join_outputs` reports losses with the document's line numbers
            on_warning(replace(warning, unit="sentence"))

    translator = replace(translator, on_warning=warn)
    if document.has_inline_markup:
        translator = translator.aligning()
    return translator.nbest_lines(document.sentences)


def join_outputs(document: Document, outputs: Iterable[list[Output]]) -> TranslatedDocument:
    """Build the translated document from the best output of each sentence."""
    best = [output for output, *_ in outputs]
    links: list[Links] = []
    if document.has_inline_markup:
        links = [output.alignment.rank_links() if output.alignment else () for output in best]
    joined = document.join([output.text for output in best], links)
    losses = [
        f"line {line}: the translation lacks {describe_items(output.lost)}"
        for line, output in zip(document.lines, best, strict=False)
        if output.lost
    ]
    notes = (*joined.for_review, *losses)
    return TranslatedDocument(
        joined.text, len(best), document.kept, notes, tuple(document.warnings)
    )
