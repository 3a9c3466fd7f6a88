"""Documents in, documents out: what is around the sentences stays."""

import re
from dataclasses import replace

import pytest
from tests.inference.random_models import ensemble_of, random_translator

import transduce
from transduce.errors import InputError
from transduce.inference.lines import LineWarning
from transduce.inference.translator import Translator

PAGE = b"<p title='x'>the <b>dog</b> sees a cat. A woman <i>who runs</i></p><pre>now</pre>\r\n"


@pytest.fixture(scope="module")
def translator() -> Translator:
    return random_translator()


def test_the_sentences_of_a_page_are_those_that_the_translator_gives(translator):
    found = transduce.translate_document(translator, PAGE, "html")
    texts = re.sub("<pre>.*</pre>|<[^>]*>", "", found.text).split("\r")[0]
    wanted = [*map(translator, ["the dog sees a cat.", "A woman who runs"])]
    assert texts.replace(" ", "") == "".join(wanted).replace(" ", "")
    assert re.findall("<[^>]*>", found.text).count("<b>") == 1
    assert found.text.endswith("</p><pre>now</pre>\r\n")
    assert (found.sentences, found.kept, found.for_review) == (2, 0, ())


def test_a_tag_goes_where_the_alignment_says(translator):
    found = transduce.translate_document(translator, PAGE, "html").text
    source = "the dog sees a cat."
    (output,) = translator.aligning().nbest(source, 1)
    weights = dict(zip(output.alignment.links, output.alignment.weights, strict=True))
    inside = re.findall("<b>(.*?)</b>", found)[0].split()
    words = output.text.split()
    for target, word in enumerate(words):
        linked = {i: weight for (i, j), weight in weights.items() if j == target}
        if max(linked, key=lambda i: linked[i]) != 1:
            assert word not in inside or words.count(word) > 1


def test_an_ensemble_translates_the_texts_between_tags_one_by_one(translator):
    both = ensemble_of(translator, random_translator(2))
    found = transduce.translate_document(both, b"<p>the <b>dog</b> now</p>", "html").text
    the, dog, now = map(both, ["the", "dog", "now"])
    assert found == f"<p>{the} <b>{dog}</b> {now}</p>"


def test_a_file_is_read_and_a_byte_order_mark_kept(translator, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfthe dog.\r\n\r\n  A cat!")
    found = transduce.translate_document(translator, tmp_path / "a.txt", "text")
    dog, cat = map(translator, ["the dog.", "A cat!"])
    assert found.text == f"\ufeff{dog}\r\n\r\n  {cat}"


@pytest.mark.usefixtures("unchecked_types")
@pytest.mark.parametrize(
    ("data", "form", "fact"),
    [
        (b"a", "docx", "unknown format 'docx'"),
        (b"a\n\xe4", "text", "the document, line 2: not UTF-8"),
        (b"a\n\nb\0", "html", "the document, line 3: a NUL character"),
        (b"a" * ((16 << 20) + 1), "html", "the document: has more than 16 MiB"),
        ("no such file", "html", "no such file: cannot be read"),
        (3, "html", "document must be a path"),
    ],
    ids=["format", "encoding", "binary", "size", "file", "type"],
)
def test_what_is_no_document_is_refused(translator, data, form, fact):
    with pytest.raises(InputError, match=fact):
        transduce.translate_document(translator, data, form)


def test_a_document_given_as_its_path_is_told_to_come_as_bytes(translator):
    with pytest.raises(InputError, match="cannot be read") as error:
        transduce.translate_document(translator, PAGE.decode(), "html")
    assert "as bytes: text.encode()" in error.value.hint


def test_warnings_count_sentences(translator):
    warnings: list[LineWarning] = []
    strict = replace(translator, on_warning=warnings.append)
    long = b"the dog. " + b"house " * 30
    transduce.translate_document(strict, long.replace(b". h", b". H"), "text")
    assert [str(one).split(":")[0] for one in warnings] == ["sentence 2"]


def test_a_page_names_the_language_of_its_translation_with_a_hyphen(translator):
    data = replace(translator.recipe.data, source_language="zh_Hant", target_language="pt_BR")
    named = replace(translator, recipe=replace(translator.recipe, data=data))
    page = '<html lang="{}"><p></p></html>'
    found = transduce.translate_document(named, page.format("zh").encode(), "html")
    assert (found.text, found.warnings) == (page.format("pt-BR"), ())
    found = transduce.translate_document(named, page.format("en").encode(), "html")
    warning = "the document's source language is 'en', the model's is 'zh-Hant'"
    assert (found.text, found.warnings) == (page.format("en"), (warning,))
