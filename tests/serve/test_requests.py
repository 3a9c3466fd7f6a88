"""What clients of LibreTranslate and of OpenNMT's server send, and what they get."""

from functools import partial

import pytest
from tests.inference.random_models import random_translator
from tests.serve.models import load_back, random_pair
from tests.serve.running import running_server

from transduce.serve.service import match_language

LINES = ["the dog sees a cat.", "a woman", "who runs now and not today", "the old red house"]


@pytest.fixture(scope="module")
def translator():
    return random_translator()


def test_a_text_has_the_translation_that_the_command_gives(client, translator):
    for line in LINES:
        answer = client.translate(line)
        assert answer.status == 200
        assert answer.json == {"translatedText": translator(line)}


def test_a_form_is_answered_as_json_is(client, translator):
    fields = {"q": LINES[0], "source": "en", "target": "de", "format": "text", "api_key": ""}
    assert client.form("/translate", **fields).json == {"translatedText": translator(LINES[0])}


@pytest.mark.parametrize("name", ["boundary", "Boundary"])
def test_a_form_with_parts_is_answered_too(client, translator, name):
    parts = {"q": f"{LINES[0]}", "source": "en", "target": "de", "format": "text"}
    body = "".join(
        f'--xyz\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'
        for field, value in parts.items()
    )
    kind = f"multipart/form-data; {name}=xyz"
    answer = client.send("POST", "/translate", f"{body}--xyz--\r\n".encode(), Content_Type=kind)
    assert answer.json == {"translatedText": translator(LINES[0])}


def test_a_form_may_hold_plain_utf_8_as_curl_sends_it(client):
    kind = {"Content_Type": "application/x-www-form-urlencoded"}
    body = "q=ein großer Hund&source=en&target=de".encode()
    found = client.send("POST", "/translate", body, **kind).json
    assert found == client.translate("ein großer Hund").json
    assert found != client.translate("ein gro\u00c3\u0178er Hund").json


def test_a_list_has_a_list_in_order_and_an_empty_text_an_empty_one(client, translator):
    texts = [*LINES, "", "  ", LINES[0]]
    found = client.translate(texts).json["translatedText"]
    assert found == [*map(translator, LINES), "", "  ", translator(LINES[0])]


def test_sentences_are_translated_one_by_one_and_white_space_stays(client, translator):
    text = f"\n{LINES[0]} The old house.\t\r\n\r\n  {LINES[3]}\n"
    first, second, third = map(translator, (LINES[0], "The old house.", LINES[3]))
    found = client.translate(text).json["translatedText"]
    assert found == f"\n{first} {second}\t\r\n\r\n  {third}\n"


def test_in_html_only_text_is_translated_and_markup_stays(client, translator):
    text = f"<p class='a'>{LINES[0]}</p><b>{LINES[3]}</b>\n<script>{LINES[1]}</script>&nbsp;"
    first, second = (translator(line).replace("&", "&amp;") for line in (LINES[0], LINES[3]))
    expected = text.replace(LINES[0], first).replace(LINES[3], second)
    assert client.translate(text, format="html").json == {"translatedText": expected}


def test_a_sentence_of_html_goes_on_across_tags(client, translator):
    found = client.translate("the <b>dog</b> sees a cat.", format="html").json["translatedText"]
    assert found.replace("<b>", "").replace("</b>", "") == translator(LINES[0])
    assert found.count("<b>") == found.count("</b>")


def test_a_page_names_the_language_of_its_translation_with_a_hyphen():
    with running_server(partial(random_pair, 2, "en", "pt_BR")) as client:
        page = '<html lang="{}"><p></p></html>'
        found = client.translate(page.format("en"), target="pt_BR", format="html")
        assert found.json == {"translatedText": page.format("pt-BR")}


ITEMS = ["the {0} sees a cat.", "see https://a.org/b?c=1 now", "write to a@b.org"]


def test_placeholders_urls_and_addresses_come_back(client, translator):
    for line, item in zip(ITEMS, ("{0}", "https://a.org/b?c=1", "a@b.org"), strict=True):
        answer = client.translate(line).json
        assert answer == {"translatedText": translator(line)}
        assert item in answer["translatedText"]
    (found,) = client.post("/translator/translate", [{"src": ITEMS[0], "id": 0}]).json
    assert found[0]["tgt"] == translator(ITEMS[0])


def test_the_answer_names_what_did_not_come_back(client):
    assert client.translate("a woman runs 77 1,250").json["lost"] == ["77", "1250"]
    texts = ["the old red house", "a woman runs 77"]
    answer = client.translate(texts, detail=True).json
    assert answer["lost"] == [[], ["77"]]
    assert answer["sentences"][1][0]["warnings"] == ["its translation lacks the number 77"]


def test_details_are_of_the_words_that_are_shown(client):
    (sentence,) = client.translate(ITEMS[0], detail=True).json["sentences"]
    shown = "".join(sentence["target_pieces"]).replace("␣", " ").removesuffix("</s>")
    assert shown.strip() == sentence["outputs"][0]["text"]
    assert len(sentence["log_probs"]) == len(sentence["target_pieces"])


def test_the_page_is_filled_for_those_without_script(client):
    found = client.form("/", q=f"{LINES[0]} & <b>", source="en", target="de").body.decode()
    assert f">{LINES[0]} &amp; &lt;b&gt;</textarea>" in found
    assert '<option value="de" selected>German</option>' in found
    assert b"</textarea>" in client.get("/").body


def test_the_page_of_a_text_is_what_the_command_attend_writes(client):
    found = client.form("/attention", q=LINES[0], source="en", target="de").body.decode()
    assert "Attention of random" in found
    assert client.form("/attention", q=LINES[0] * 99, source="en", target="de").status == 413


def test_a_prefix_is_the_beginning_of_the_translation(client, translator):
    found = client.translate(LINES[0], prefix="a cat").json
    assert found == {"translatedText": translator(LINES[0], prefix="a cat")}
    assert found["translatedText"].startswith("a cat")
    assert client.translate([LINES[0], LINES[1]], prefix="a cat").status == 400


@pytest.mark.parametrize(
    ("text", "fact"), [("a", "its prefix has 99 pieces, "), ("", "its text is empty, ")]
)
def test_a_prefix_that_cannot_begin_the_output_is_refused_without_a_line(client, text, fact):
    found = client.translate(text, prefix="x" * 99)
    assert (found.status, found.json["error"].startswith(fact)) == (400, True)


def test_each_pair_of_languages_has_its_model(client, translator):
    back = client.post("/translate", {"q": LINES[1], "source": "de", "target": "en"}).json
    assert back == {"translatedText": load_back()(LINES[1])}
    assert back["translatedText"] != translator(LINES[1])


def test_alternatives_are_the_next_best_translations(client, translator):
    best = list(dict.fromkeys(one.text for one in translator.nbest(LINES[0], 2)))
    found = client.translate(LINES[0], alternatives=3).json
    assert found == {"translatedText": best[0], "alternatives": best[1:]}
    several = client.translate(LINES[:2], alternatives=1).json
    assert several["alternatives"][0] == best[1:2]
    assert len(several["alternatives"]) == 2


def test_details_are_pieces_their_probabilities_and_links(client, translator):
    (found,) = client.translate(LINES[0], detail=True).json["sentences"]
    (best,) = translator.aligning().nbest(LINES[0], 1)
    assert found["outputs"][0]["text"] == best.text
    assert found["outputs"][0]["log_prob"] == pytest.approx(best.log_prob, abs=1e-3)
    assert sum(found["log_probs"]) == pytest.approx(best.log_prob, abs=1e-2)
    assert len(found["log_probs"]) == len(found["target_pieces"])
    assert "".join(found["source_pieces"]).replace("␣", " ") == LINES[0]
    assert best.alignment is not None
    links = [tuple(link) for link in found["alignment"]]
    assert links == list(best.alignment.links)
    assert found["weights"] == pytest.approx(best.alignment.weights, abs=1e-3)


@pytest.mark.filterwarnings("ignore:.*split at characters")
def test_a_word_that_is_too_long_does_not_shift_the_links_of_the_details(client, translator):
    line = f"a {'x' * 60} cat"
    assert translator.recipe.data.max_length < 60
    (found,) = client.translate(line, detail=True).json["sentences"]
    (best,) = translator.aligning().nbest(line, 1)
    assert best.alignment is not None
    assert [tuple(link) for link in found["alignment"]] == list(best.alignment.links)
    assert {i for i, _ in found["alignment"]} <= {0, 1, 2}


def test_opennmt_gets_its_own_shape(client, translator):
    body = [{"src": line, "id": 0} for line in LINES]
    (found,) = client.post("/translator/translate", body).json
    assert [one["tgt"] for one in found] == [*map(translator, LINES)]
    assert [one["src"] for one in found] == LINES
    (first,) = translator.nbest(LINES[0], 1)
    assert found[0]["pred_score"] == pytest.approx(first.score, abs=1e-3)
    assert found[0]["n_best"] == 1
    other = client.post("/translator/translate", [{"src": LINES[1], "id": 1}]).json
    assert other[0][0]["tgt"] == load_back()(LINES[1])


@pytest.mark.parametrize(
    ("body", "status", "fact"),
    [
        ([{"src": "a", "id": 2}], 404, "no model has the id 2"),
        ([{"src": "a", "id": -1}], 400, "id must be a whole number of 0 or more"),
        ([{"src": "a", "id": 0}, {"src": "b", "id": 1}], 400, "all sources of a request have one"),
        ([{"id": 0}], 400, "missing src"),
        (["a"], 400, "a list of objects"),
        ([], 400, "a list of objects"),
        ([{"src": "a"}] * 65, 413, "65 sources"),
    ],
)
def test_a_wrong_request_of_opennmt_s_shape_is_refused(client, body, status, fact):
    answer = client.post("/translator/translate", body)
    assert (answer.status, set(answer.json)) == (status, {"error"})
    assert fact in answer.json["error"]


def test_languages_and_settings_are_told(client):
    assert client.get("/languages").json == [
        {"code": "en", "name": "English", "targets": ["de"]},
        {"code": "de", "name": "German", "targets": ["en"]},
    ]
    settings = client.get("/frontend/settings").json
    assert settings["charLimit"] == 5_000
    assert settings["keyRequired"] is False
    assert settings["language"]["source"]["code"] == "en"
    assert client.get("/health").json == {"status": "ok"}
    assert client.get("/ready").json == {"ready": True}


def test_null_is_as_no_value(client):
    plain = {"q": "a", "source": "en", "target": "de"}
    null = dict.fromkeys(("format", "alternatives", "detail"))
    both = [client.post("/translate", fields).json for fields in (plain, plain | null)]
    assert both[0] == both[1]
    assert "translatedText" in both[0]


@pytest.mark.parametrize(
    ("code", "known", "found"),
    [
        ("de", ["de", "de-AT"], "de"),
        ("de-DE", ["de", "en"], "de"),
        ("en", ["en-GB", "de"], "en-GB"),
        ("pt", ["pt-BR", "pt-PT"], "pt"),
        ("fr", ["de"], "fr"),
    ],
)
def test_a_region_more_or_less_finds_the_only_model_of_a_language(code, known, found):
    assert match_language(code, known) == found


REFUSED = [
    ({"source": "en", "target": "de"}, 400, "missing q"),
    ({"q": "a", "target": "de"}, 400, "missing source"),
    ({"q": "a", "source": "en"}, 400, "missing target"),
    ({"q": 3, "source": "en", "target": "de"}, 400, "q must be"),
    ({"q": ["a", None], "source": "en", "target": "de"}, 400, "q must be"),
    ({"q": "a", "source": "fr", "target": "de"}, 400, "a source of de; supported: en"),
    ({"q": "a", "source": "en", "target": "fr"}, 400, "a target language; supported: de"),
    ({"q": "a", "source": "en", "target": "de", "format": "pdf"}, 400, "format"),
    ({"q": "a", "source": "en", "target": "de", "alternatives": 6}, 400, "at most 5"),
    ({"q": "a", "source": "en", "target": "de", "alternatives": -1}, 400, "alternatives"),
    ({"q": "a", "source": "en", "target": "de", "alternatives": True}, 400, "alternatives"),
    ({"q": "a", "source": "en", "target": "de", "detail": "perhaps"}, 400, "detail"),
    ({"q": "a" * 5_001, "source": "en", "target": "de"}, 413, "5,000"),
    ({"q": "a", "source": "en", "target": "de", "prefix": "b" * 5_001}, 413, "5,000"),
    ({"q": ["a"] * 65, "source": "en", "target": "de"}, 413, "64"),
    ({"q": "A dog. " * 257, "source": "en", "target": "de"}, 413, "257 sentences"),
    ({"q": "a" * (1 << 20), "source": "en", "target": "de"}, 413, "1,048,576"),
    (
        {"q": "a", "source": ["en", "en"], "target": "de"},
        400,
        "source must be one value, not a list",
    ),
    ([], 400, "object"),
    ("q", 400, "object"),
]


@pytest.mark.parametrize(("body", "status", "word"), REFUSED)
def test_a_wrong_request_is_refused_with_a_status_and_a_sentence(client, body, status, word):
    answer = client.post("/translate", body)
    assert (answer.status, set(answer.json)) == (status, {"error"})
    assert word in answer.json["error"]


def test_the_place_of_a_fault_in_json_is_named(client):
    body = b'{"q": "a",\n "source" "en"}'
    answer = client.send("POST", "/translate", body, **{"Content-Type": "application/json"})
    assert answer.json["error"] == "the body is no JSON that can be used: line 2, column 11"


def test_unknown_paths_and_methods_are_refused_with_json(client):
    for path in ("/nothing", "/languages/"):
        assert (client.get(path).status, set(client.get(path).json)) == (404, {"error"})
    assert (client.get("/translate").status, client.get("/translate").json) == (
        405,
        {"error": "method not allowed: use POST"},
    )


def test_a_key_beyond_ascii_is_taken_as_curl_sends_it():
    with running_server(api_key="schlüssel 鍵") as client:
        sent = "Bearer schlüssel 鍵".encode().decode("latin-1")  # http.client writes latin-1
        item = [{"src": "a woman", "id": 0}]
        assert client.post("/translator/translate", item, Authorization=sent).status == 200
        fields = {"q": "a woman", "source": "en", "target": "de"}
        assert client.form("/translate", **fields, api_key="schlüssel 鍵").status == 200
        assert client.translate("a woman", api_key="schlussel 鍵").status == 403
    with running_server(api_key="clà") as client:  # its last byte is a blank in Latin-1
        sent = " Bearer \tclà ".encode().decode("latin-1")
        assert client.post("/translator/translate", item, Authorization=sent).status == 200


def test_with_a_key_only_those_who_have_it_are_answered():
    with running_server(api_key="open sesame") as client:
        assert client.translate("a woman").status == 403
        assert client.translate("a woman", api_key="open").status == 403
        assert client.translate("a woman", api_key=["open sesame"]).status == 403
        assert client.translate("a woman", api_key="open sesame").status == 200
        bearer = {"Authorization": "Bearer open sesame"}
        item = [{"src": "a woman", "id": 0}]
        assert client.post("/translator/translate", item).status == 403
        assert client.post("/translator/translate", item, **bearer).status == 200
        assert client.get("/frontend/settings").json["keyRequired"] is True
