"""`transduce parse`: parse tokenised sentences into constituency trees."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from transduce.cli import options
from transduce.cli.file_path import FilePath
from transduce.cli.line_search import (
    FILE,
    SearchInput,
    format_outputs,
    open_output,
    search_lines,
    show_line_count,
    suggest_tokenise,
)
from transduce.cli.processes import Processes, count_file_lines, process_options
from transduce.cli.searching import (
    WarningPrinter,
    beam_options,
    choose_translator,
    ensemble_option,
    precision_option,
    strict_option,
    warn_if_unfinished,
)
from transduce.errors import InputError
from transduce.settings.fields import require

if TYPE_CHECKING:
    from transduce.inference.outputs import Output

Sentence = tuple[str, list[str] | None]  # words, and part-of-speech tags if the input has them


@click.command("parse")
@click.argument("model", type=FilePath(path_type=Path))
@click.argument("input", type=FILE, default="-")
@options.output("The file to write (default: standard output).")
@ensemble_option
@click.option("--tokenise", is_flag=True, help="INPUT is raw text: split its lines into words.")
@click.option(
    "--columns",
    is_flag=True,
    help="INPUT has a word, a tab and its part-of-speech tag on each line, and blank lines between "
    "sentences; the trees have these tags.",
)
@click.option(
    "--tags", type=FILE, help="A file with the part-of-speech tags of each line of INPUT."
)
@click.option(
    "--unconstrained",
    is_flag=True,
    help="Do not restrict the search to well-formed trees; repair and count malformed ones.",
)
@beam_options
@precision_option
@click.option(
    "--nbest",
    type=click.IntRange(min=1),
    default=1,
    help="Number of trees per sentence, printed with scores.",
)
@click.option("--pretty", is_flag=True, help="Indent trees, with a blank line between them.")
@click.option(
    "--svg",
    type=FilePath(path_type=Path, file_okay=False),
    help="Draw the tree of line N as DIRECTORY/N.svg.",
)
@strict_option
@process_options
@options.as_json
@options.quiet
@options.no_progress
def command(
    *,
    model: Path,
    ensemble: tuple[Path, ...],
    output: Path | None,
    nbest: int,
    as_json: bool,
    processes: Processes,
    **option_values: Any,  # noqa: ANN401 - options have values of many types
) -> None:
    """Parse the sentences of INPUT with MODEL into constituency trees (section 6.3).

    INPUT is a file or standard input, with a sentence on each line. Prints one tree for each line,
    and an empty line for an empty line. Words are separated by blanks, as in the treebank that the
    model was trained on. Every tree is well-formed over exactly the words of its sentence. Its
    part-of-speech tags are those of --columns or --tags; else each word has its most frequent tag
    in the training trees. A sentence longer than the model takes becomes a flat tree, with a
    warning.
    """
    from transduce.tasks.parsing import Parsing

    require(
        not (option_values["pretty"] and as_json),
        "--pretty and --json are two formats",
        "leave one",
    )
    require(
        not (option_values["tags"] and option_values["columns"]),
        "--columns has the tags",
        "leave --tags",
    )
    require(
        not (option_values["tokenise"] and (option_values["tags"] or option_values["columns"])),
        "--tokenise is for raw text, which has no tags",
        "leave one",
    )
    require(
        not str(option_values["input"]) == str(option_values["tags"]) == "-",
        "standard input can be one of the files only",
        "name the other",
    )
    options.require_writable(output, option_values["input"], option_values["tags"])
    option_values["constrained"] = not option_values["unconstrained"]
    models = choose_translator((model, *ensemble), option_values, nbest)
    models = replace(models, task=Parsing, command="parse")
    warn_if_unfinished(models.folders)
    on_warning = WarningPrinter()
    sentences, for_search = tee(read_sentences(option_values))
    text = SearchInput(
        (words for words, _ in for_search), None, partial(count_file_lines, option_values["input"])
    )
    found = search_lines(models, text, processes, on_warning)
    shown = show_line_count(
        found, live=options.is_live(option_values) and output is not None, verb="parse"
    )
    show = partial(format_trees, nbest=nbest, as_json=as_json, pretty=option_values["pretty"])
    with open_output(output) as file:
        for number, (best, (_, tags)) in enumerate(zip(shown, sentences, strict=True), start=1):
            trees = [with_tags(tree, tags) for tree in best]
            file.write(show(number, trees))
            if option_values["svg"] and trees[0].text:
                draw(trees[0].text, option_values["svg"] / f"{number}.svg")
    on_warning.print_count("a flat tree stands for each; --strict refuses such lines")


def read_sentences(option_values: dict[str, Any]) -> Iterator[Sentence]:
    """Yield each input sentence: its words, and its part-of-speech tags if the input has them."""
    from transduce.text.files import read_lines
    from transduce.text.tags import read_tagged
    from transduce.text.tokenise import tokenise
    from transduce.text.words import split_words

    if option_values["columns"]:
        for sentence in read_tagged(option_values["input"]):
            yield " ".join(sentence.tokens), list(sentence.labels)
        return
    lines: Iterable[str] = read_lines(option_values["input"])
    if option_values["tags"]:
        for number, (line, tags) in enumerate(zip_lines(lines, option_values["tags"]), start=1):
            words, found = len(split_words(line)), split_words(tags)
            if len(found) != words:
                fact = f"{len(found)} tags for a sentence of {words} words"
                hint = "--tags has a line for each of the input, with a tag for each word"
                raise InputError(fact, hint, file=option_values["tags"], line=number)
            yield line, found
        return
    for line in lines if option_values["tokenise"] else suggest_tokenise(lines):
        yield " ".join(tokenise(line)) if option_values["tokenise"] else line, None


def zip_lines(lines: Iterable[str], tags: Path) -> Iterator[tuple[str, str]]:
    """Yield pairs of an input line and its line of the tags file; refuse unequal line counts."""
    from itertools import zip_longest

    from transduce.text.files import read_lines

    for number, (line, tagged) in enumerate(zip_longest(lines, read_lines(tags)), start=1):
        if line is None or tagged is None:
            short = "the input ends" if line is None else f"{tags} ends"
            raise InputError(f"{short} before line {number}", "give a line of tags a sentence")
        yield line, tagged


def with_tags(output: "Output", tags: list[str] | None) -> "Output":
    """Return an output tree with the given part-of-speech tags; unchanged if `tags` is None."""
    from transduce.tasks.parsing import to_tree
    from transduce.text.trees.write import format_tree

    if tags is None or not output.text:
        return output
    return replace(output, text=format_tree(to_tree(output.text).with_tags(tags)))


def format_trees(
    number: int, trees: "list[Output]", *, nbest: int, as_json: bool, pretty: bool
) -> str:
    """Format a sentence's trees: one per line, as JSON, or indented if `pretty`."""
    from transduce.text.trees.read import parse_tree
    from transduce.text.trees.write import format_indented

    if not pretty:
        return format_outputs(number, trees, nbest=nbest, as_json=as_json)
    indented = (
        format_indented(parse_tree(tree.text), outer="") if tree.text else "" for tree in trees
    )
    return "".join(f"{tree}\n\n" for tree in indented)


def draw(tree: str, path: Path) -> None:
    """Write the drawing of a tree, given as a line of brackets, to an SVG file."""
    from transduce.durable import ensure_folder, write_atomically
    from transduce.tasks.parsing import to_tree
    from transduce.text.trees.svg import draw_svg

    ensure_folder(path.parent)
    write_atomically(path, draw_svg(to_tree(tree)).encode())
