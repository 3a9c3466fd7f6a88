"""What Python users get: a page in a notebook or a file, or why there is none."""

import html
from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.inference.random_models import ensemble_of
from tests.view.explainer.samples import ODD, PAPERS, TEXT, make_translator

import transduce
from transduce.errors import InputError
from transduce.view.explainer.explain import PARTS, build_stored_model, compute_example
from transduce.view.explainer.reference import sample_rows, trace_model
from transduce.view.explainer.weights import store_weights
from transduce.view.page.document import encode_json, join_scripts, join_styles


@pytest.fixture(scope="module")
def translator():
    return make_translator(PAPERS)


@pytest.fixture(scope="module")
def explainer(translator):
    return translator.explain(TEXT)


def test_a_notebook_shows_the_page_in_a_sandboxed_frame(explainer, tmp_path):
    path = explainer.write_page(tmp_path / "page.html")
    assert path.read_text(encoding="utf-8") == explainer.page
    shown = explainer._repr_html_()
    assert shown.startswith('<iframe sandbox="allow-scripts allow-downloads allow-forms ')
    assert html.escape(explainer.page, quote=True) in shown


def test_without_a_notebook_it_says_what_it_is(explainer):
    assert repr(explainer) == (
        f"<explainer page of {len(explainer.page):,} characters: write_page writes it>"
    )


def test_equal_models_give_equal_bytes(translator, explainer):
    assert transduce.explain(translator, TEXT).page == explainer.page
    assert transduce.explain(translator, "a dog").page != explainer.page


def test_hostile_texts_are_in_the_data_only_and_escaped(explainer, translator):
    hostile = translator.explain("</script><script>alert(1)</script>").page
    assert hostile.count("<") == explainer.page.count("<")
    hostile.encode("utf-8")


def test_a_model_too_large_says_the_limit_and_offers_the_attention_page(translator):
    with pytest.raises(InputError, match="at most 1,000") as refused:
        translator.explain(TEXT, max_weights=1_000)
    assert "transduce attend" in str(refused.value.hint)


def test_other_models_are_refused_with_the_reason(translator):
    with pytest.raises(InputError, match="shows one model, and these are 2"):
        ensemble_of(translator, translator).explain(TEXT)
    convolution = make_translator(replace(ODD, mixing="convolution"))
    with pytest.raises(InputError, match="no self-attention"):
        convolution.explain(TEXT)
    rows = make_translator(replace(ODD, encoder_neighbourhood=3, neighbourhood_row=3))
    with pytest.raises(InputError, match="the page has no neighbourhoods of rows"):
        rows.explain(TEXT)


@pytest.mark.usefixtures("unchecked_types")
@pytest.mark.parametrize(("text", "reason"), [(3, "must be a string"), ("  ", "is empty")])
def test_what_is_no_text_is_refused(translator, text, reason):
    with pytest.raises(InputError, match=reason):
        translator.explain(text)


def test_a_text_longer_than_the_page_reads_is_refused(translator):
    with pytest.raises(InputError, match="at most 48"):
        translator.explain("x" * 60)


def test_learned_positions_bound_what_the_page_reads():
    known = make_translator(replace(PAPERS, positions="learned", max_positions=160))
    data = replace(known.recipe.data, max_length=9)
    recipe = replace(known.recipe, data=data)
    found = replace(known, recipe=recipe)
    assert '"longest":9' in found.explain("a dog").page.replace(" ", "")
    with pytest.raises(InputError, match="at most 9"):
        found.explain(TEXT + TEXT)


@pytest.mark.parametrize(("number", "bound"), [("float16", 5e-4), ("int8", 4e-3), ("float32", 0.0)])
def test_stored_weights_are_close_to_the_models(number, bound):
    """float16 keeps 11 bits of a number, int8 a 127th of half the largest number of a row."""
    weights = {"matrix": torch.randn(7, 30), "vector": torch.randn(11)}
    stored = store_weights(weights, number)
    for name, tensor in weights.items():
        far = (stored.tensors[name] - tensor).abs()
        assert bool((far <= bound * tensor.abs().amax(dim=-1, keepdim=True)).all())
    assert [one["size"] for one in stored.layout] == {
        "float16": [420, 22],
        "int8": [7 * 4 + 210, 22],
        "float32": [840, 44],
    }[number]


def test_what_float16_cannot_hold_is_stored_in_32_bits():
    stored = store_weights({"big": torch.tensor([[1e6, 1.0]])}, "float16")
    assert stored.layout[0]["type"] == "float32"
    assert np.array_equal(stored.tensors["big"].numpy(), [[1e6, 1.0]])


def test_the_numbers_by_which_a_page_checks_itself_have_at_most_20_kilobytes():
    """Row E7, for 24 layers of 16 heads and the longest numbers."""
    row = torch.full((1, 41), -1.234567e-05)
    names = [f"encoder.{i // 40}.cross.weights.{i}" for i in range(960)]
    sampled = sample_rows(dict.fromkeys(names, row))
    assert len(encode_json(sampled).encode()) <= 19_000, "the sentence and its ids have the rest"
    layers = [int(name.split(".")[1]) for name in sampled]
    assert {layers.count(layer) for layer in range(24)} <= {8, 9}
    assert (next(iter(sampled)), next(reversed(sampled))) == (names[0], names[-1])


def test_a_small_model_checks_itself_by_all_its_intermediates(translator):
    stored = store_weights(translator.models[0].named_weights(), "float32")
    model = build_stored_model(translator, stored)
    example = compute_example(translator, model, TEXT)
    rows = trace_model(model, example["source"], example["output"])
    assert example["numbers"].keys() == {name for name in rows if ".scores." not in name}
    assert {len(values) for values in example["numbers"].values()} <= {3, 4}


def test_script_and_style_have_at_most_144_kilobytes():
    script, style = join_scripts(PARTS.scripts), join_styles(PARTS.styles)
    assert len(script.encode()) + len(style.encode()) <= 144_000
