"""Languages of texts: `/detect`, and the source language `auto`."""

from functools import partial

import pytest
from tests.serve.models import load_back, load_random, load_third, random_pair
from tests.serve.running import running_server

GERMAN, FRENCH = "Der Hund ist da.", "Le chien dort."


@pytest.fixture(scope="module")
def client():
    with running_server(load_random, load_third, load_back) as running:
        yield running


def test_languages_are_ranked_by_their_probability(client):
    for text, code in ((GERMAN, "de"), (FRENCH, "fr"), ("Это новая книга.", "ru")):
        found = client.post("/detect", {"q": text}).json
        assert found[0]["language"] == code
        confidences = [one["confidence"] for one in found]
        assert confidences == sorted(confidences, reverse=True)
        assert sum(confidences) <= 100.5
    assert client.form("/detect", q=GERMAN).json[0]["language"] == "de"


@pytest.mark.parametrize("text", ["...", "1,024", "😀🎉"])
def test_a_text_without_letters_is_in_no_language(client, text):
    assert client.post("/detect", {"q": text}).json == [{"language": "zxx", "confidence": 0.0}]


def test_what_is_no_text_has_no_language(client):
    assert client.post("/detect", {}).status == 400
    assert client.post("/detect", {"q": [GERMAN]}).status == 400
    assert client.post("/detect", {"q": "a" * 5_001}).status == 413


@pytest.mark.parametrize(
    ("text", "code", "load"), [(GERMAN, "de", load_back), (FRENCH, "fr", load_third)]
)
def test_auto_is_the_most_probable_source_of_the_target(client, text, code, load):
    found = client.translate(text, source="auto", target="en").json
    assert found["translatedText"] == load()(text)
    assert found["detectedLanguage"]["language"] == code
    assert found["detectedLanguage"]["confidence"] > 30


def test_the_sources_of_a_target_are_ranked_and_no_other_language(client):
    found = client.post("/detect", {"q": FRENCH, "target": "en"}).json
    assert [one["language"] for one in found] == ["fr", "de"]
    assert found[0]["confidence"] > found[1]["confidence"]
    (only,) = client.post("/detect", {"q": FRENCH, "target": "de"}).json
    assert only["language"] == "en"
    assert client.post("/detect", {"q": FRENCH, "target": "xx"}).status == 400


def test_auto_takes_the_only_source_and_tells_how_improbable_it_is(client):
    found = client.translate(FRENCH, source="auto").json
    assert found["detectedLanguage"]["language"] == "en"
    assert found["detectedLanguage"]["confidence"] < 5


def test_a_list_has_one_language_which_is_told_for_each_text(client):
    found = client.translate([GERMAN, "Hallo", ""], source="auto", target="en").json
    assert found["translatedText"] == [load_back()(GERMAN), load_back()("Hallo"), ""]
    assert [one["language"] for one in found["detectedLanguage"]] == ["de"] * 3


def test_markup_is_no_language(client):
    text = "<p title='the title of the dog and the cat'>Hund und Katze</p>"
    found = client.translate(text, source="auto", target="en", format="html").json
    assert found["detectedLanguage"]["language"] == "de"


def test_an_unknown_target_has_no_source(client):
    assert client.translate(GERMAN, source="auto", target="xx").status == 400


def test_a_page_of_several_texts_has_the_language_of_all(client):
    page = client.post("/", {"q": [GERMAN, "Hallo"], "source": "auto", "target": "en"})
    assert page.status == 200
    assert f">{GERMAN}\nHallo</textarea>" in page.body.decode()


@pytest.mark.parametrize("source", ["auto", "de"])
def test_a_text_that_is_in_the_target_language_comes_back_unchanged(client, source):
    german = "Der Hund ist heute nicht zu Hause,\n und die Katze schläft  unter dem Tisch."
    fields = {"source": source, "target": "de", "alternatives": 2, "detail": True}
    found = client.translate([german, ""], **fields).json
    assert found["translatedText"] == [german, ""]
    assert found["sentences"] == found["alternatives"] == [[], []]
    detected = [one["language"] for one in found.get("detectedLanguage", [])]
    assert detected == (["de"] * 2 if source == "auto" else [])
    refused = client.post("/attention", {"q": german, **fields})
    assert (refused.status, refused.json) == (400, {"error": "the text is in de already"})


def test_a_text_in_another_language_than_the_only_source_is_warned_of(client):
    long = "Le chien n'est pas à la maison aujourd'hui, et le chat dort sous la table."
    found = client.translate(long, source="auto", target="de", detail=True).json
    assert found["detectedLanguage"]["language"] == "en"
    warning = "the text reads like fr, and is taken as en"
    assert all(warning in one["warnings"] for one in found["sentences"])
    for text, source in ((long, "en"), ("The dog is not at home today.", "auto")):
        found = client.translate(text, source=source, target="de", detail=True).json
        assert not any(warning in one["warnings"] for one in found["sentences"])


NORWEGIAN = "Jeg vet ikke hvorfor hun ikke kom på jobb i går, men hun er en god venn av meg."
PORTUGUESE = "Eu não sei por que ela não veio trabalhar ontem, mas vamos conversar com ela."


def test_a_model_whose_code_py3langid_does_not_write_is_found_by_its_language():
    pairs = [("no", "en"), ("da", "en"), ("pt_BR", "en"), ("en", "no")]
    loads = [partial(random_pair, 2, *pair) for pair in pairs]
    with running_server(*loads) as client:
        for text, code in ((NORWEGIAN, "no"), (PORTUGUESE, "pt_BR")):
            found = client.translate(text, source="auto", target="en").json
            assert found["detectedLanguage"]["language"] == code
        found = client.translate(NORWEGIAN, source="auto", target="no").json
        assert found["translatedText"] == NORWEGIAN
