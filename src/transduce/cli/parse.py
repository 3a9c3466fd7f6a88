"""`transduce parse`: parse tokenised sentences into constituency trees."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import tee, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

import click

from transduce.cli import options
from transduce.cli.line_outputs import (
    WarningPrinter,
    format_outputs,
    open_output,
    read_words,
    write_lines,
)
from transduce.cli.options import INPUT, FilePath, argument, flag, group, option
from transduce.cli.searching import BeamOptions, ModelOptions, TranslatorChoice, warn_of_language
from transduce.durable.files import ensure_folder, write_atomically
from transduce.durable.folder import require_harmless_output
from transduce.errors import InputError
from transduce.settings.fields import require
from transduce.text.files import read_short_lines
from transduce.text.tags import read_tagged
from transduce.text.trees.brackets import format_indented, format_tree, parse_tree
from transduce.text.words import split_words

if TYPE_CHECKING:
    from transduce.inference.outputs import Output

Sentence = tuple[str, list[str] | None]  # words, and part-of-speech tags if the input has them

FOLDER = FilePath(path_type=Path, file_okay=False)


@options.make_command("parse", options.quiet, options.no_progress)
def command(
    *,
    model: Path = argument(),
    input: Path = argument(type=INPUT, default="-"),  # noqa: A002 - the argument's name in the help
    output: Path | None = options.output("The file to write (default: standard output)."),
    tokenise: bool = flag("INPUT is raw text: split its lines into words."),
    columns: bool = flag(
        "INPUT has a word, a tab and its part-of-speech tag on each line, and blank lines between "
        "sentences; the trees have these tags."
    ),
    tags: Path | None = option(
        "A file with the part-of-speech tags of each line of INPUT.", type=INPUT
    ),
    unconstrained: bool = flag(
        "Do not restrict the search to well-formed trees; repair and count malformed ones."
    ),
    beam: BeamOptions = group(),
    nbest: int = option(
        "Up to N trees per sentence, printed with scores; fewer if the search finds fewer.",
        type=click.IntRange(min=1),
        default=1,
    ),
    pretty: bool = flag("Indent trees, with a blank line between them."),
    svg: Path | None = option("Draw the tree of line N as DIRECTORY/N.svg.", type=FOLDER),
    models: ModelOptions = group(),
    as_json: bool = options.as_json,
) -> None:
    """Parse the sentences of INPUT with MODEL into constituency trees (section 6.3).

    INPUT is a file or standard input, with a sentence on each line. Prints one tree for each line,
    and an empty line for an empty line. Words are separated by spaces, as in the treebank that the
    model was trained on. Every tree is well-formed over exactly the words of its sentence. Its
    part-of-speech tags are those of --columns or --tags; else each word has its most frequent tag
    in the training trees. A sentence longer than the model takes becomes a flat tree, with a
    warning.
    """
    from transduce.tasks.parsing import Parsing

    require(not (pretty and as_json), "--pretty and --json are two formats", "leave one")
    require(not (tags and columns), "--columns has the tags", "leave --tags")
    fact = "--tokenise is for raw text, which has no tags"
    require(not (tokenise and (tags or columns)), fact, "leave one")
    options.require_one_standard_input(input, tags)
    options.require_writable(output, input, tags)
    if svg:
        require_harmless_output(svg / "1.svg")
    choice = TranslatorChoice(
        model,
        models,
        beam,
        nbest=nbest,
        constrained=not unconstrained,
        task=Parsing,
        command="parse",
    )
    on_warning = WarningPrinter()
    translator = choice.open(on_warning, input)
    sentences, for_search = tee(read_sentences(input, tags, columns=columns, tokenise=tokenise))
    lines = warn_of_language(translator, (words for words, _ in for_search))
    trees = translator.nbest_lines(lines, nbest)

    def format_line(number: int, found: "tuple[list[Output], Sentence]") -> str:
        best, (_, given_tags) = found
        best = [with_tags(tree, given_tags) for tree in best]
        if svg and best[0].text:
            draw(best[0].text, svg / f"{number}.svg")
        if pretty:
            indented = [format_indented(parse_tree(one.text)) if one.text else "" for one in best]
            return "".join(f"{tree}\n\n" for tree in indented)
        return format_outputs(number, best, nbest=nbest, as_json=as_json)

    write_lines(open_output(output), zip(trees, sentences, strict=True), format_line, "parse")
    on_warning.print_count("a flat tree stands for each; --strict refuses such lines")


def read_sentences(
    file: Path, tags: Path | None, *, columns: bool, tokenise: bool
) -> Iterator[Sentence]:
    """Yield each sentence's words and its tags (None without any); refuse tags that do not fit."""
    if columns:
        for sentence in read_tagged(file):
            yield " ".join(sentence.tokens), list(sentence.labels)
        return
    if tags is None:
        yield from ((line, None) for line in read_words(file, tokenise=tokenise))
        return
    both = zip_longest(read_short_lines(file), read_short_lines(tags))
    for number, (line, tagged) in enumerate(both, start=1):
        if line is None or tagged is None:
            short = "the input ends" if line is None else f"{tags} ends"
            raise InputError(f"{short} before line {number}", "give a line of tags a sentence")
        word_count, found = len(split_words(line)), split_words(tagged)
        if len(found) != word_count:
            fact = f"{len(found)} tags for a sentence of {word_count} words"
            hint = "--tags has a line for each of the input, with a tag for each word"
            raise InputError(fact, hint, file=tags, line=number)
        yield line, found


def with_tags(output: "Output", tags: list[str] | None) -> "Output":
    """Return an output with these tags in its tree; unchanged without tags or without a tree."""
    from transduce.tasks.parsing import to_tree

    if tags is None or not output.text:
        return output
    return replace(output, text=format_tree(to_tree(output.text).with_tags(tags)))


def draw(tree: str, path: Path) -> None:
    """Write the drawing of a tree, given as a line of brackets, to an SVG file."""
    from transduce.tasks.parsing import to_tree
    from transduce.view.drawings.trees import draw_svg

    ensure_folder(path.parent)
    write_atomically(path, draw_svg(to_tree(tree)).encode())
