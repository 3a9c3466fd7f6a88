"""A number that is set by hand changes what follows from it, as in PyTorch, and nothing else."""

import math
from dataclasses import replace

import pytest
import torch
from tests.view.explainer.opened import FINISH, TOLERANCE, change, open_explainer
from tests.view.explainer.samples import ODD, TEXT, make_translator
from tests.view.explainer.test_model import stored_model
from tests.view.explainer.test_switches import PARTS, compute_logits

pytestmark = pytest.mark.browser
CASES = [
    *("source.embedding:1:3=2", "target.embedding:2:0=-3", "source.position:0:5=1.5"),
    *("target.position:3:1=-2", "encoder.1.self.q:2:20=4", "encoder.2.self.k:0:9=3"),
    *("encoder.1.self.v:1:26=-5", "decoder.1.self.q:3:0=6", "decoder.2.self.k:1:13=4"),
    *("decoder.1.self.v:0:8=7", "decoder.2.cross.q:1:7=5", "decoder.1.cross.k:2:6=-4"),
    *("decoder.2.cross.v:0:18=6", "encoder.1.self.scores.2:1:0=60"),
    "decoder.2.self.scores.1:3:0=7",
    *("encoder.2.self.weights.3:2:0=0.9", "decoder.1.self.weights.2:3:1=2"),
    *("decoder.2.cross.weights.1:0:2=5", "encoder.1.self.joined:1:10=3"),
    *("decoder.1.ff.inner:2:7=8", "decoder.2.ff.output:3:5=-6", "encoder.2.ff.norm:0:11=4"),
    "decoder.1.cross.sum:1:2=5",
    "logits:2:40=9",
]  # fmt: skip
LOGITS = (
    FINISH
    + """
const [source, output, texts] = arguments, { page, traceModel, readEdits } = transduce;
const trace = finish(traceModel(page.result.model, source, output, new Set(), readEdits(texts)));
return trace.logits.map(row => Array.from(row));
"""
)


@pytest.fixture(scope="module")
def translator():
    return make_translator(ODD)


@pytest.fixture
def opened(browser, translator):
    """The page of a small model, as it is without a link."""
    if browser.shown is not translator:
        open_explainer(browser, translator, TEXT)
        browser.shown = translator
    browser.forget()
    change(browser, edits=[], off=[], panel="pieces", cell="", tour=0, stage=0)
    yield browser
    assert browser.console() == []


def set_number(model, text):
    """Make a model compute with one number set by hand, by hooks on its modules."""
    name, row, rest = text.split(":")
    column, number = rest.split("=")
    hooks = Hooks(model, int(row), int(column), float(number))
    parts = name.split(".")
    if parts[0] == "logits":
        return  # of the result, see below
    if len(parts) == 2:
        hooks.edit_input(*parts)
    elif parts[2] == "ff":
        hooks.edit_layer(parts, PARTS["ff"], "outer")
    elif parts[3] in ("scores", "weights"):
        hooks.edit_head(parts)
    elif parts[3] in "qkv":
        hooks.edit_projection(parts)
    else:
        hooks.edit_layer(parts, PARTS[parts[2]], "output")


class Hooks:
    """Hooks that set one number of what a module takes or gives."""

    def __init__(self, model, row, column, number):
        self.model, self.row, self.column, self.number = model, row, column, number

    def set_in(self, rows, column=None):
        rows = rows.clone()
        rows[self.row, self.column if column is None else column] = self.number
        return rows

    def after(self, module, column=None):
        module.register_forward_hook(lambda _, _inputs, rows: self.set_in(rows, column))

    def before(self, module):
        module.register_forward_pre_hook(lambda _, inputs: (self.set_in(inputs[0]), *inputs[1:]))

    def edit_input(self, side, what):
        if what == "position":
            return self.after(getattr(self.model, f"{side}_positions"))
        calls = iter(["source", "target"])  # one embedding serves both sides
        change = lambda _, _inputs, rows: self.set_in(rows) if next(calls) == side else rows  # noqa: E731
        return self.model.source.register_forward_hook(change)

    def layer_of(self, parts):
        return getattr(self.model, parts[0])[int(parts[1]) - 1]

    def edit_layer(self, parts, attribute, last):
        layer, what = self.layer_of(parts), parts[3]
        add = {"self": "add_self", "cross": "add_cross", "ff": "add_feed_forward"}[parts[2]]
        if what in ("sum", "norm"):
            (self.before if what == "sum" else self.after)(getattr(layer, add).norm)
        else:
            module = getattr(getattr(layer, attribute), last)
            (self.after if what == "output" else self.before)(module)

    def edit_projection(self, parts):
        attention, letter = getattr(self.layer_of(parts), PARTS[parts[2]]), parts[3]
        wide = self.model.sizes.heads * self.model.sizes.d_k
        if parts[2] == "self":
            self.after(attention.query_key_value, self.column + "qkv".index(letter) * wide)
        elif letter == "q":
            self.after(attention.query)
        else:
            self.after(attention.key_value, self.column + "kv".index(letter) * wide)

    def edit_head(self, parts):
        stack, layer, kind, what, head = parts
        counts = {"encoder": 0, "decoder": 0}

        def build(_queries, _keys, mask):
            is_asked = mask.causal == (kind == "self") if stack == "decoder" else not mask.causal

            def attend(q, k, v, _dropout=0.0):
                scores = torch.einsum("thk,shk->hts", q, k) / math.sqrt(q.shape[-1])
                allowed = mask.compute_allowed(torch.arange(len(q)), torch.arange(len(k)))
                now = False
                if is_asked and self.stack == stack:
                    counts[stack] += 1
                    now = counts[stack] == int(layer)
                place = int(head) - 1, self.row, self.column
                if now and what == "scores":
                    scores[place] = self.number
                weights = scores.masked_fill(~allowed, -math.inf).softmax(dim=-1)
                if now and what == "weights":
                    weights[place] = self.number
                return torch.einsum("hts,shv->thv", weights, v)

            return attend

        self.stack = "encoder"
        self.model.encoder[-1].register_forward_hook(self.enter_decoder)
        self.model.operations = replace(self.model.operations, build_attention=build)

    def enter_decoder(self, *_):
        self.stack = "decoder"


def compute_edited(translator, source, output, text):
    """Return the logits that PyTorch computes with one number set by hand."""
    model = stored_model(translator)
    set_number(model, text)
    logits = compute_logits(model, source, output)
    if text.startswith("logits"):
        _, row, rest = text.split(":")
        logits[int(row), int(rest.split("=")[0])] = float(rest.split("=")[1])
    return logits


@pytest.mark.slow
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_a_number_set_by_hand_changes_the_logits_as_in_pytorch(browser, norm):
    translator = make_translator(replace(ODD, norm=norm))
    open_explainer(browser, translator, TEXT)
    (source,) = translator.task.encode_sources([TEXT])
    (output,) = translator.task.encode_targets(["a woman runs now"])
    whole = compute_logits(stored_model(translator), source, output)
    for text in CASES:
        if norm == "pre" and text.split(":")[0].endswith((".sum", ".norm")):
            continue  # of another order
        expected = compute_edited(translator, source, output, text)
        found = torch.tensor(browser.run(LOGITS, source, output, [text]))
        assert float((found - expected).abs().max()) <= TOLERANCE, text
        assert float((whole - expected).abs().max()) > 10 * TOLERANCE, text


def test_the_search_and_the_numbers_that_are_shown_are_of_one_model(opened):
    """The search computes step by step with a cache, the numbers come from one pass."""
    sum_logs = """
        const { trace, output, search } = transduce.page.result;
        const logs = output.map((id, t) => Math.log(trace.probabilities[t][id]));
        return [logs.reduce((a, b) => a + b, 0), search.best.logProb];
    """
    plain = opened.run(sum_logs)
    for text in CASES:
        change(opened, edits=[text])
        passed, searched = opened.run(sum_logs)
        assert passed == pytest.approx(searched, abs=1e-3), text
    change(opened, edits=["decoder.1.self.weights.1:0:1=9", "encoder.9.self.q:0:0=1"])
    assert opened.run(sum_logs) == plain, "what is masked, and what is not there, stays"


def test_an_open_number_is_set_compared_linked_and_undone(opened):
    change(opened, panel="cross", layer=2, head=1, cell="decoder.2.cross.weights.1:0:0")
    before = opened.run("return document.getElementById('translation').textContent")
    opened.click("#edit-value")
    opened.press("Control+a", "5", "0", "Enter")
    opened.wait("transduce.page.ready && transduce.state().edits.length")
    value = "return transduce.page.result.trace['decoder.2.cross.weights.1'][0][0]"
    assert opened.run(value) == 50
    texts = opened.run(
        "return ['off', 'before-text', 'translation', 'cell-formula']"
        ".map((id) => document.getElementById(id).textContent)"
    )
    assert texts[:2] == [
        "Changed: decoder layer 2, cross-attention: head 1, weight, row 1, column 1 is 50.",
        before,
    ]
    assert texts[2] != before
    assert texts[3] == "set by hand"
    link = opened.run("return location.hash")
    opened.run("transduce.change({ edits: [] })")
    opened.wait("transduce.page.ready")
    assert opened.run(value) <= 1
    opened.run("location.hash = arguments[0]", link)
    opened.wait("transduce.page.ready && transduce.state().edits.length === 1")
    assert opened.run(value) == 50
    opened.click("#edit-undo")
    opened.wait("transduce.page.ready && !transduce.state().edits.length")
    opened.press("u")
    opened.wait("transduce.page.ready && transduce.state().edits.length === 1")
    change(opened, cell="probabilities:0:3")
    assert opened.run("return document.getElementById('edit').hidden")


def test_a_masked_weight_cannot_be_set(opened):
    masked, seen = (f"decoder.1.self.weights.1:{cell}" for cell in ("0:1", "1:0"))
    for cell, is_hidden in ((masked, True), (seen, False)):
        change(opened, panel="masked", cell=cell, edits=[f"{cell}=9", f"{cell}=7"])
        assert opened.run("return document.getElementById('edit').hidden") == is_hidden
        formula = opened.run("return document.getElementById('cell-formula').textContent")
        assert (formula == "set by hand") != is_hidden
        title = opened.run("return document.getElementById('cell-title').textContent")
        assert title.endswith(": 0" if is_hidden else ": 7")


def test_wrong_edits_of_a_link_are_left_out(opened):
    wrong = ["probabilities:0:0=1", "encoder.output:0:0=1", "x", "logits:0:0=1e9", "logits:-1:0=1"]
    change(opened, edits=[*wrong, "logits:0:5=1.5"])
    assert opened.run("return transduce.state().edits") == ["logits:0:5=1.5"]


def test_every_station_is_saved_with_what_it_shows(opened):
    for panel in opened.run("return transduce.PANELS.map(one => one.id)"):
        change(opened, panel=panel, text=TEXT)
        svg = opened.run("return transduce.buildSvg()")
        assert len(svg) > 1000 + 500 * (panel not in ("pieces", "softmax")), panel
        assert len(svg.encode()) <= 200_000
