"""Placeholders, URLs and numbers come back, or are reported."""

import re
from dataclasses import replace

import pytest
from tests.inference.random_models import LINES, ensemble_of, random_translator

import transduce
from transduce.inference.keeping import Attempt, keep_items
from transduce.inference.lines import Line
from transduce.inference.outputs import Alignment, BlockResult, Output

URL = "https://a.org/b?c=1"
TEXTS = ["the {0} sees %s.", f"a woman ({URL}) runs now", "write to a@b.org", "{0}{1} {{ x }} runs"]


class Reader:
    """A search that writes lines in capitals, but without words that it cannot copy."""

    def __init__(self, unknown: str) -> None:
        self.unknown, self.seen = re.compile(unknown), list[str]()

    def __call__(self, lines, needs_links):
        self.seen += [line.text for line in lines]
        texts = [self.unknown.sub("", line.text) for line in lines]
        words = [[w if w[0].isupper() else w.upper() for w in text.split()] for text in texts]
        links = [Alignment(tuple((n, n) for n in range(len(w))), (1.0,) * len(w)) for w in words]
        return BlockResult(
            [
                [Output(" ".join(some), -1.0, -2.0, link if needs_links else None)]
                for some, link in zip(words, links, strict=True)
            ],
            [],
        )


def kept(text, unknown, *, can_align=True):
    reader = Reader(unknown)
    result = keep_items([Line(3, text)], reader, can_align=can_align)
    return result.outputs[0][0], reader.seen, [str(one) for one in result.warnings]


def test_names_stand_in_for_items():
    output, seen, warned = kept("a {0} sees %s", "nothing")
    assert (output.text, output.lost, warned) == ("A {0} SEES %s", (), [])
    assert seen == ["a Tom sees Anna"]


def test_years_are_tried_where_names_do_not_come_back():
    output, seen, _ = kept("a {0} sees", "Tom")
    assert seen == ["a Tom sees", "a 1981 sees"]
    assert output.text == "A {0} SEES"


def test_without_stand_ins_an_item_stands_where_links_say():
    output, seen, warned = kept("a dog (see {0}) runs", "[0-9]{4}|Tom")
    assert seen[-1] == "a dog (see ) runs"
    assert (output.text, warned) == ("A DOG (SEE {0}) RUNS", [])


def test_an_item_that_is_placed_touches_no_word():
    output, _, _ = kept("a dog sees {0}.", "[0-9]{4}|Tom")
    assert output.text == "A DOG SEES {0}."
    output, _, _ = kept("{0}, a dog", "[0-9]{4}|Tom")
    assert output.text == "{0}, A DOG"


def test_what_is_lost_is_named_with_the_line():
    output, _, warned = kept("a {0} sees 7 dogs", r"[0-9]{4}|Tom|\{0\}|7", can_align=False)
    assert output.lost == ("{0}", "7")
    assert output.as_json()["lost"] == ["{0}", "7"]
    assert warned == ["line 3: its translation lacks {0}, the number 7"]


def test_a_line_of_nothing_but_items_is_not_translated():
    output, seen, _ = kept(f"{{0}}: {URL}", "nothing")
    assert (output.text, seen) == (f"{{0}}: {URL}", [""])


def test_an_item_alone_comes_back_with_its_own_bytes():
    text = "{{ a\u00a0b }}  https://x.org/Cafe\u0301"
    output, seen, warned = kept(text, "nothing")
    assert (output.text, output.lost, warned) == (text.replace("  ", " "), (), [])
    assert seen == [""]


def test_a_long_list_of_losses_is_cut():
    text = f"a {URL}{'x' * 9_000} b {' or '.join(map(str, range(900)))}"
    _, _, (warned,) = kept(text, "[^a]", can_align=False)
    assert len(warned) < 200
    assert warned.endswith(" and 896 more")


@pytest.fixture(scope="module")
def translator():
    return replace(random_translator(longest=60), on_warning=lambda _: None)


def test_any_model_brings_every_item_back(translator):
    for text in TEXTS:
        for output in translator.nbest(text, 2)[:1]:
            assert output.lost == ()
            assert all(
                item in output.text for item in re.findall(r"{.}|%s|https:\S*1|a@b.org", text)
            )


def test_text_without_items_is_translated_as_without_keeping(translator):
    plain = replace(translator, keep=False)
    assert list(translator.nbest_lines(LINES, 2)) == list(plain.nbest_lines(LINES, 2))
    for text in TEXTS:
        assert plain.nbest(text, 1) != translator.nbest(text, 1)


def test_an_ensemble_says_what_it_loses(translator):
    both = ensemble_of(translator, random_translator(2, longest=60))
    warned = []
    both = replace(both, on_warning=lambda one: warned.append(one.kind))
    assert both.nbest(TEXTS[0], 1)[0].lost == ("{0}", "%s")
    assert warned == ["lost"]


def test_an_aligned_output_has_links_between_the_words_that_are_shown(translator):
    text = "the {{ x }} sees a cat."
    (output,) = translator.aligning().nbest(text, 1)
    assert translator.align(text, output.text) == output.alignment


@pytest.mark.parametrize(("read", "stays"), [("a Tom runs", True), ("a  runs", False)])
def test_an_output_keeps_its_links_if_they_number_the_words_that_are_shown(read, stays):
    links = Alignment(((0, 0),), (1.0,))
    attempt = Attempt(Line(1, read), lambda _: ("A {0} RUNS", True))
    output, _ = attempt.restore_output(Output("A Tom RUNS", -1.0, -2.0, links), "a {0} runs")
    assert output.alignment == (links if stays else None)


def test_a_line_too_long_to_align_keeps_its_links_or_says_that_it_has_none(translator):
    translator, line = translator.aligning(), Line(1, "the dog sees a cat, " * 20 + "{0}")
    for links, facts in ((Alignment(((0, 0),), (1.0,)), []), (None, ["a source of "])):
        found = BlockResult([[Output("a dog {0}", -1.0, -2.0, links)]], [])
        aligned = translator.aligner.align_kept([line], found)
        assert aligned.outputs[0][0].alignment == (links or Alignment())
        assert [warning.fact[:12] for warning in aligned.warnings] == facts


def test_a_forced_prefix_may_have_an_item(translator):
    found = translator(TEXTS[0], prefix="a {0}")
    assert found.startswith("a {0}")


@pytest.mark.parametrize("prefix", ["Tom", "1981", "Tom Anna"])
def test_a_forced_prefix_is_never_taken_for_an_item(translator, prefix):
    assert translator("the {0} dog", prefix=prefix).startswith(prefix)
    assert translator("https://a.org {0}", prefix=prefix).startswith(prefix)


def test_an_evaluation_sees_the_model_alone(translator):
    texts = ["the {0} sees a cat."]
    found = transduce.evaluate(translator, texts, texts, metrics=["chrf"])
    assert found.outputs == [replace(translator, keep=False)(texts[0])]


@pytest.mark.parametrize(
    ("form", "document", "line"),
    [
        ("text", "A dog.\n\nthe cat sees 77 dogs.\n", 3),
        ("html", "<p>\nA dog.</p>\n<p>the cat <b>sees</b> 77.</p>", 3),
        ("srt", "1\n00:00:01,000 --> 00:00:02,000\nthe cat sees 77\n", 3),
    ],
)
def test_a_document_names_the_line_of_what_is_lost(translator, form, document, line):
    found = transduce.translate_document(translator, document.encode(), form)
    assert found.for_review == (f"line {line}: the translation lacks the number 77",)
