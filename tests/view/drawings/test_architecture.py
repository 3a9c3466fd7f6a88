"""Figures 1 and 2 show a recipe's own numbers, and each part is where a reader looks for it."""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest

import transduce
from transduce.recipes import by_name
from transduce.recipes.catalogue import RECIPES
from transduce.settings.counts import count_recipe_parameters
from transduce.settings.recipe import with_changes
from transduce.view.drawings.architecture import NIGHT, draw_figure_1
from transduce.view.drawings.trees import FONT_SIZE, estimate_width
from transduce.view.page.document import read_texts

SPACE = "{http://www.w3.org/2000/svg}"
VARIANTS = [
    *{(one.architecture, one.data.task): one for one in map(by_name, RECIPES)}.values(),
    with_changes(by_name("demo"), {"architecture.tie_embeddings": "none"}),
    with_changes(by_name("tiny"), {"architecture.mixing": "dilated", "architecture.norm": "pre"}),
    with_changes(
        by_name("table3/big"),
        {
            "architecture.encoder_neighbourhood": 129,
            "architecture.decoder_neighbourhood": 65,
            "architecture.attention_dropout": 0.125,
            "architecture.attention_biases": True,
        },
    ),
    *(
        with_changes(by_name("tiny"), {"architecture.compatibility": kind})
        for kind in ("dot", "bilinear", "additive")
    ),
]
EACH = pytest.mark.parametrize("recipe", VARIANTS, ids=lambda one: one.name)


def both(recipe, **form):
    return transduce.draw_model(recipe, **form), transduce.draw_attention(recipe, **form)


def texts_of(group):
    return ["".join(text.itertext()) for text in group.iter(f"{SPACE}text")]


def printed(group):
    """The numbers of parameters that a group's blocks and positions print, added."""
    found = re.findall(r"([\d,]+) parameters", "\n".join(texts_of(group)))
    return sum(int(number.replace(",", "")) for number in found)


def parts(svg):
    """The outermost groups of a figure by id."""
    (drawing,) = ElementTree.fromstring(svg).findall(f"{SPACE}g")
    return {group.get("id"): group for group in drawing.findall(f"{SPACE}g")}


@EACH
def test_the_printed_parameters_add_up_to_those_of_the_model(recipe):
    groups, sizes = parts(transduce.draw_model(recipe)), recipe.architecture
    depths = {"model-encoder": sizes.encoder_depth, "model-decoder": sizes.decoder_depth}
    total = sum(printed(group) * depths.get(name, 1) for name, group in groups.items())
    assert total == count_recipe_parameters(recipe)
    attention = printed(groups["model-decoder"].find(".//*[@id='model-decoder-cross-attention']"))
    blocks = parts(transduce.draw_attention(recipe)).values()
    assert sum(map(printed, blocks)) == attention


@EACH
@pytest.mark.parametrize("language", ["en", "de"])
def test_no_text_leaves_its_block_and_no_block_meets_another(recipe, language):
    for svg in both(recipe, language=language):
        boxes: list[tuple[float, ...]] = []
        for block in ElementTree.fromstring(svg).iterfind(".//*[@id]"):
            if not block.get("class", "").startswith("block"):
                continue
            _, y, width, height = box = read_box(block.findall(f"{SPACE}rect")[-1])
            for text in block.iter(f"{SPACE}text"):
                size = int(text.get("font-size", "12"))
                assert estimate_width("".join(text.itertext())) * size / FONT_SIZE < width
                assert y + size <= float(text.attrib["y"]) <= y + height - 4
            assert all(apart(box, other) for other in boxes), block.get("id")
            boxes.append(box)


def read_box(rect):
    return tuple(float(rect.get(name)) for name in ("x", "y", "width", "height"))


def apart(one, other):
    return any(one[i] + one[i + 2] <= other[i] or other[i] + other[i + 2] <= one[i] for i in (0, 1))


@EACH
def test_arrows_end_at_blocks_at_sums_or_at_the_top(recipe):
    for svg in both(recipe):
        drawing = ElementTree.fromstring(svg)
        boxes = [read_box(rect) for rect in drawing.iterfind(".//*[@class]/" + f"{SPACE}rect")]
        sums = [
            (float(c.attrib["cx"]), float(c.attrib["cy"])) for c in drawing.iter(f"{SPACE}circle")
        ]
        arrows = [one.attrib["d"] for one in drawing.iter(f"{SPACE}path") if one.get("marker-end")]
        ends = [tuple(map(float, path.rpartition("L")[2].split())) for path in arrows]
        loose = [
            (x, y)
            for x, y in ends
            if not any(x in (a, a + w) and b < y < b + h for a, b, w, h in boxes)
            and not any(y in (b, b + h) and a < x < a + w for a, b, w, h in boxes)
            and not any(abs(x - cx) + abs(y - cy) == 10 for cx, cy in sums)
        ]
        assert len(loose) == (1 if "model-encoder" in svg else 2)  # what comes out


def test_every_part_of_the_base_model_has_an_id():
    ids = re.findall(r' id="model-([^"]+)"', transduce.draw_model())
    attention, rest = ["self-attention", "cross-attention"], ["feed-forward"]
    expected = {"head", "encoder", "decoder", "linear", "softmax", "memory"}
    expected |= {"inputs", "outputs", "output-probabilities"}
    expected |= {
        f"{end}-{part}" for end in ("input", "output") for part in ("embedding", "positions")
    }
    for stack, sub_layers in (("encoder", [attention[0], *rest]), ("decoder", [*attention, *rest])):
        expected |= {f"{stack}-{one}{norm}" for one in sub_layers for norm in ("", "-norm")}
    assert sorted(ids) == sorted(expected)


def test_figure_2_has_the_paper_s_blocks_from_below():
    drawing = ElementTree.fromstring(transduce.draw_attention())
    blocks = [one for one in drawing.iterfind(".//*[@class]") if "block" in one.attrib["class"]]
    boxes = [(read_box(one.find(f"{SPACE}rect")), texts_of(one)[0]) for one in blocks]
    upwards = sorted(boxes, key=lambda one: -one[0][1])
    left, right = (
        [text for (x, *_), text in upwards if (x < 380) == side] for side in (True, False)
    )
    assert left == ["MatMul", "Scale", "Mask (opt.)", "SoftMax", "MatMul"]
    assert right == [*["Linear"] * 3, "Scaled Dot-Product Attention", "Concat", "Linear"]


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("table3/B-dk16", ["h = 8, dk = 16, dv = 64", "dff = 2,048, ReLU", "N = 6"]),
        ("table3/E-learned", ["Learned", "1,024 × 512", "524,288 parameters"]),
        ("table4/wsj", ["Inputs (words)", "Outputs (trees)", "N = 4"]),
        ("toy-copy", ["Inputs (symbols)", "h = 4, dk = 32, dv = 16"]),
        ("history/marian", ["dff = 2,048, swish", "with biases"]),
        ("table2/recurrent-en-de", ["Recurrent Layer", "LSTM in both directions"]),
        ("history/t2t-v3", ["Norm"]),
    ],
)
def test_what_a_recipe_changes_shows(name, facts):
    shown = texts_of(ElementTree.fromstring(transduce.draw_model(name)))
    assert not set(facts) - set(shown)
    assert set(facts) - set(texts_of(ElementTree.fromstring(transduce.draw_model())))


@pytest.mark.parametrize(
    ("compatibility", "title", "facts", "is_scaled"),
    [
        ("scaled-dot", "Scaled Dot-Product Attention", ["(n × 16) · (16 × n)"], True),
        ("dot", "Dot-Product Attention", ["(n × 16) · (16 × n)"], False),
        ("bilinear", "Bilinear Attention", ["q · W · k", "512 parameters"], True),
        ("additive", "Additive Attention", ["w · tanh(q + k)", "32 parameters"], False),
    ],
)
def test_the_compatibility_function_is_the_recipe_s(compatibility, title, facts, is_scaled):
    recipe = with_changes(by_name("tiny"), {"architecture.compatibility": compatibility})
    shown = texts_of(ElementTree.fromstring(transduce.draw_attention(recipe)))
    assert shown.count(title) == 2
    assert not set(facts) - set(shown)
    assert ("Scale" in shown) == is_scaled


def draw_map(recipe, language="en"):
    return draw_figure_1(recipe, (1000, 1000), language, is_map=True)


def test_a_map_has_the_search_above_the_model_and_a_group_for_each_residual_connection():
    recipe = by_name("tiny")
    found = [one.get("id", "") for one in ElementTree.fromstring(draw_map(recipe)).iter()]
    assert "model-search" in found
    assert sum(one.endswith("-residual") for one in found) == 5
    plain = draw_figure_1(recipe, (1000, 1000))
    assert not re.search("model-search|-residual", plain), "the paper's figure has none of them"


def test_every_german_text_is_in_a_figure():
    shown = "\n".join(
        text
        for recipe in VARIANTS
        for svg in (*both(replace(recipe, name="-"), language="de"), draw_map(recipe, "de"))
        for text in texts_of(ElementTree.fromstring(svg))
    )
    assert "63.045.632 Parameter" in shown
    for text in read_texts("drawings")["de"].values():
        assert all(part in shown for part in re.split(r"\{\d\}|\n", text)), text


def test_every_colour_has_another_one_at_night():
    for svg in both("history/t2t-v3", theme="light"):
        assert "<style></style>" in svg
        used = set(re.findall(r'(?:fill|stroke)="(#\w+)"', svg))
        assert used <= dict(NIGHT).keys()
    dark, auto = (transduce.draw_model(theme=theme) for theme in ("dark", "auto"))
    assert auto == re.sub(
        "<style>(.*)</style>", r"<style>@media(prefers-color-scheme:dark){\1}</style>", dark
    )
