"""The record: equal to what the fast kernels compute, for a model's own and given outputs."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.inference.random_models import SEARCH, SIZES, ensemble_of, random_translator

from transduce.errors import InputError
from transduce.inference.attention_weights import capture_attention
from transduce.inference.load import load
from transduce.inference.outputs import combine_models
from transduce.mixing import find_mixing
from transduce.packed import Packed
from transduce.paper.model import build_transformer
from transduce.paper.search import beam_search
from transduce.settings.alignment import AlignmentHeads
from transduce.text.clean import normalise
from transduce.view.attention.attend import record_attention
from transduce.vocabulary import BEGIN

PARSER = Path(__file__).parents[2] / "golden/format-4/parsing-words"

TEXT = "the dog sees a cat."


@pytest.fixture(scope="module")
def translator():
    return random_translator()


@pytest.fixture(scope="module")
def view(translator):
    return record_attention(translator, TEXT)


def with_sizes(**changes):
    translator = random_translator()
    sizes = replace(SIZES, **changes)
    symbols = len(translator.task.source)
    mixing = find_mixing(sizes)
    model = build_transformer(sizes, symbols, symbols, seed=3, build_mixing=mixing).eval()
    return replace(
        translator, models=(model,), recipe=replace(translator.recipe, architecture=sizes)
    )


def test_the_output_is_the_models_own(translator, view):
    assert normalise(view.output.text) == translator(TEXT)
    assert not view.is_given


def test_the_view_names_the_heads_by_which_the_model_aligns_words(translator, view):
    assert view.alignment == AlignmentHeads(1, (1, 2))
    chosen = translator.aligning(heads=(2,), shifted=False)
    expected = AlignmentHeads(1, (2,), shifted=False)
    assert record_attention(chosen, TEXT, "a woman").alignment == expected


def test_the_capturing_pass_computes_what_the_fast_kernel_computes(translator):
    model = translator.models[0]
    source, output = (
        Packed.from_sentences(translator.task.encode_sources([one])) for one in (TEXT, "a woman")
    )
    record = capture_attention(model, source, output.shift_right(BEGIN))
    with torch.no_grad():
        fast = model.decode(output.shift_right(BEGIN), model.encode(source))
    torch.testing.assert_close(record.states, fast, rtol=0, atol=1e-5)


def test_probabilities_of_the_steps_are_those_of_the_search(translator, view):
    (ids,) = translator.task.encode_sources([TEXT])
    ((best,),) = beam_search(combine_models(translator.models), [ids], SEARCH)
    log_prob = sum(np.log(step.chosen.probability) for step in view.steps)
    assert log_prob == pytest.approx(best.log_prob, abs=1e-4)
    assert [step.chosen.piece for step in view.steps] == list(view.output.pieces)


def test_every_query_reads_weights_that_sum_to_one_and_none_of_what_is_masked(view):
    for weights in view.weights.values():
        np.testing.assert_allclose(weights.sum(axis=-1), 1.0, atol=1e-5)
    decoder = view.weights["decoder"]
    future = np.triu(np.ones(decoder.shape[-2:], dtype=bool), k=1)
    assert (decoder[..., future] == 0).all()
    assert (decoder[..., ~future] > 0).all()


def test_there_is_a_row_for_every_reader_and_a_column_for_every_position_read(view):
    assert set(view.weights) == {"encoder", "decoder", "cross"}
    for kind, weights in view.weights.items():
        positions = len(view.queries(kind).pieces), len(view.keys(kind).pieces)
        assert weights.shape == (1, 2, *positions)
    assert view.input.pieces == ("<s>", *view.output.pieces[:-1])


def test_the_chosen_hypotheses_of_the_beams_spell_the_output(view):
    for length, step in enumerate(view.steps):
        (chosen,) = [one for one in step.beam if one.is_chosen]
        assert spell(view, length, step.beam.index(chosen)) == list(view.output.pieces[:length])


def spell(view, length, index):
    pieces: list[str] = []
    for step in reversed(view.steps[: length + 1]):
        hypothesis = step.beam[index]
        pieces, index = [hypothesis.piece, *pieces], hypothesis.parent
    assert index == -1
    return pieces[1:]


def test_alternatives_of_the_beam_are_those_of_the_pass(view):
    """The beam's come from single steps with a KV cache, the others from one pass."""
    for step in view.steps:
        (chosen,) = [one for one in step.beam if one.is_chosen]
        for one, other in zip(chosen.alternatives, step.alternatives, strict=True):
            assert one.probability == pytest.approx(other.probability, abs=1e-5)
        assert len(step.alternatives) == 5
        assert step.alternatives[0].probability == max(p.probability for p in step.alternatives)


def test_of_a_given_output_the_probabilities_are_those_of_likelihood(translator):
    view = record_attention(translator, TEXT, "a woman")
    (expected,) = translator.likelihood([(TEXT, "a woman")])
    log_prob = sum(np.log(step.chosen.probability) for step in view.steps)
    assert log_prob == pytest.approx(expected.log_prob, abs=1e-4)
    assert (view.is_given, view.output.text) == (True, "a woman")
    assert all(step.beam == () for step in view.steps)


def test_a_sample_is_the_output_that_the_sampling_translator_writes(translator):
    sampling = translator.sampling(seed=4)
    view = record_attention(sampling, TEXT)
    assert normalise(view.output.text) == sampling(TEXT)


def test_layers_without_attention_are_left_out_and_said():
    view = record_attention(with_sizes(mixing="convolution"), TEXT)
    assert set(view.weights) == {"cross"}
    assert "no self-attention: architecture.mixing is convolution" in view.notes[0]


def test_a_text_longer_than_the_training_sentences_is_recorded_whole_and_said(translator):
    view = record_attention(translator, "the dog " * 500, "a woman")
    assert len(view.source.pieces) == 1 + len(translator.task.source.encode("the dog " * 500)[:-1])
    assert len(view.source.pieces) > 500
    assert view.notes[0].endswith("trained on at most 24: in ordinary use it would be split.")


def test_a_long_text_for_a_parser_is_not_said_to_be_split():
    (note,) = record_attention(load(PARSER), "the dog runs " * 60).notes
    assert note.endswith("and the model was trained on at most 64.")


def test_a_text_longer_than_the_learned_positions_is_refused():
    translator = with_sizes(positions="learned", max_positions=30)
    with pytest.raises(InputError, match="30 learned positions"):
        record_attention(translator, "the dog " * 50)


def test_one_piece_and_bytes_have_their_own_names(translator):
    view = record_attention(translator, "a", "é")
    assert view.source.pieces == ("a", "</s>")
    assert view.output.pieces == ("<C3>", "<A9>", "</s>")
    assert [word.text for word in view.output.words] == ["é", "</s>"]


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_text_is_refused(translator, text):
    with pytest.raises(InputError, match="the text is empty"):
        record_attention(translator, text)


def test_an_ensemble_is_refused(translator):
    with pytest.raises(InputError, match="one model, and these are 2"):
        record_attention(ensemble_of(translator, random_translator(2)), TEXT)


def test_html_stays_text(translator):
    text = "<script>alert(1)</script>"
    assert record_attention(translator, text, text).source.text == text


def test_the_model_is_named(view):
    assert (view.model.name, view.model.heads, view.task) == ("random", 2, "translation")
