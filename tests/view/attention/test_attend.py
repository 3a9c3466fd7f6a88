"""What Python users get: a page in a notebook, files, figures."""

import html
import json
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from tests.inference.random_models import random_translator

import transduce
from transduce.errors import InputError

TEXT = "the dog </script><script>alert(1)</script> sees"


@pytest.fixture(scope="module")
def attention():
    return random_translator().attend(TEXT)


class Frames(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def test_a_notebook_shows_the_page_in_a_sandboxed_frame(attention, tmp_path):
    parser = Frames()
    parser.feed(attention._repr_html_())
    ((tag, attributes),) = parser.found
    assert (tag, attributes["sandbox"]) == (
        "iframe",
        "allow-scripts allow-downloads allow-forms allow-modals",
    )
    path = attention.write_page(tmp_path / "page.html")
    assert attributes["srcdoc"] == path.read_text(encoding="utf-8")
    assert html.escape("<script>alert(1)") not in attention._repr_html_()


def test_what_is_saved_is_the_record(attention, tmp_path):
    found = json.loads((attention.save(tmp_path / "record") / "record.json").read_bytes())
    assert found["source"]["pieces"] == list(attention.record.source.pieces)


@pytest.mark.usefixtures("unchecked_types")
def test_what_is_no_folder_or_layer_is_refused(attention):
    with pytest.raises(InputError, match="folder must be a path, not 5"):
        attention.save(5)
    with pytest.raises(InputError, match="no layer '1' of the encoder here, but 1"):
        attention.draw_figure(5, "1", (1,))


def test_a_model_and_the_function_give_the_same(attention):
    again = transduce.attend(random_translator(), TEXT)
    assert again.record.output == attention.record.output
    assert repr(again).startswith(f"<attention of {TEXT!r} to '")
    assert repr(again).endswith("': 1 layers, 2 heads>")


def test_figures_are_drawn_and_unknown_ones_refused(attention):
    assert attention.draw_figure(5, 1, (1, 2)).startswith("<svg ")
    with pytest.raises(InputError, match="unknown figure 6"):
        attention.draw_figure(6)
    word = TEXT.split()[0]
    assert f"the word '{word}'" in attention.draw_figure(3, 1, word=word)
    with pytest.raises(InputError, match="the text has no word 'making'"):
        attention.draw_figure(3, 1)
    with pytest.raises(InputError, match="Figure 5 shows all words"):
        attention.draw_figure(5, 1, word=word)


def test_layers_are_selected_by_number(attention):
    assert attention.record.select_layers((1,)).layers == (1,)
    with pytest.raises(InputError, match="there is no layer 2"):
        attention.record.select_layers((2,))
    record = attention.record
    shallow = {kind: layers[:0] for kind, layers in record.weights.items() if kind != "encoder"}
    deep = replace(record, weights={**record.weights, **shallow}).select_layers((1,))
    assert set(deep.weights) == {"encoder"}


@pytest.mark.usefixtures("unchecked_types")
@pytest.mark.parametrize(("text", "target"), [(3, None), (None, None), (["a"], None)])
def test_what_is_no_text_is_refused(text, target):
    with pytest.raises(InputError, match="text must be a string, not"):
        random_translator().attend(text, target)
    with pytest.raises(InputError, match="target must be a string, not"):
        random_translator().attend("a", 3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="most must be a whole number, not nan"):
        transduce.attend(random_translator(), "a", most=float("nan"))  # type: ignore[arg-type]
