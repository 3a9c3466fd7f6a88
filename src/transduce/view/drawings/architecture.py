"""`transduce.draw_model`, `draw_attention`: the paper's Figures 1 and 2 for any recipe, as SVG.

The geometry and the colours are the paper's.

Each block is a group with an id, such as `model-encoder-feed-forward`, and its kind as its class.
A block states its parameters, if any; in Figure 1, over all layers, they add up to the model's.
"""

import re
from typing import final

from transduce.recipes.choice import find_recipe
from transduce.settings import Recipe
from transduce.settings.architecture import Architecture
from transduce.settings.counts import (
    count_decoder_layer,
    count_encoder_layer,
    count_feed_forward,
    count_mixing,
    count_norm,
    count_parameters,
    count_positions,
    count_self_attention,
)
from transduce.settings.data import UNNAMED, Data
from transduce.settings.fields import require
from transduce.settings.recipe import shorten_name
from transduce.tasks import find_task_kind
from transduce.text.arguments import describe_value, is_pair, require_count
from transduce.view.drawings.axes import BASE, INK, QUIET, Number, build_svg, draw_text
from transduce.view.page.document import read_texts

Point = tuple[Number, Number]
LANGUAGES, THEMES = ("en", "de"), ("auto", "light", "dark")

COLOURS = {  # by kind of block: the paper's colour, and ours for the dark theme
    "attention": ("#ffe1bb", "#66461a"),
    "norm": ("#f1f4c1", "#4b5019"),
    "feed-forward": ("#c2e8f7", "#1c4e66"),
    "embedding": ("#fce0e1", "#683740"),
    "linear": ("#dcdff0", "#41466f"),
    "softmax": ("#cce7cf", "#2a5832"),
    "product": ("#e3d6ee", "#55406a"),
    "mixing": ("#d3ece6", "#1f5148"),  # what Table 1 has in attention's place
    "stack": ("#f3f3f4", "#161b22"),
}
NIGHT = (("#ffffff", "#0d1117"), (INK, "#e6edf3"), (QUIET, "#c3ccd6"), *COLOURS.values())

TITLE, FACT = 14, 12  # font sizes of a block's title, and of the facts below it
LINE, SMALL, PADDING = 17, 15, 12  # heights of a title's line, of a fact's, and of two paddings
MAP_TITLE = (18, 22)  # a title's font size and height in a map
COPY = 6  # distance between blocks that lie behind one another
CORNER, HEAD, FOOT = 7, 7, 76  # a line's round corner, an arrow's head, the lines at the bottom
SCRIPT = re.compile(r"\b([dPW])([_^])(model|ff|k|v|drop|[QKVO])\b((?:(?!\b[dPW][_^])[^<])*)")
MOST_NAME_CHARACTERS = 48  # most characters of a recipe's name


@final
class Diagram:
    """The elements of a figure, drawn upwards from y = 0, with words in one language.

    A map can be drawn small: its titles are larger, and no facts stand below them. In a map, each
    line with a `residual` name is a group of its own.
    """

    def __init__(self, name: str, language: str, *, is_map: bool = False) -> None:
        self.name, self.elements, self.is_map = name, list[str](), is_map
        self.title, self.line_height = MAP_TITLE if is_map else (TITLE, LINE)
        self.texts = read_texts("drawings").get(language)  # None for English

    def translate(self, text: str, *values: Number | str) -> str:
        """Return a text in the figure's language, with values in place of {0}, {1}, …"""
        return (self.texts[text] if self.texts else text).format(*map(self.format_value, values))

    def format_value(self, value: Number | str) -> str:
        """Return a value as text; a number gets the separators of the figure's language."""
        if isinstance(value, str):
            return value
        text = f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
        return text.translate(str.maketrans(",.", ".,")) if self.texts else text

    def begin(self, name: str, kind: str) -> None:
        """Begin an SVG group of class `kind`; its id is the figure's name, "-" and `name`."""
        self.elements.append(f'<g id="{self.name}-{name}" class="{kind}">')

    def write(
        self, text: str, x: Number, y: Number, size: int = FACT, anchor: str = "middle"
    ) -> None:
        """Add a text with its base line at y; x is its middle, start or end, as `anchor` says."""
        drawn = draw_text(text, x, y, anchor=anchor, fill=INK if size > FACT else QUIET, size=size)
        self.elements.append(SCRIPT.sub(shift_script, drawn))

    def add_end_label(self, name: str, text: str, x: Number, y: Number) -> None:
        """Add the text of a model's input or output, with its middle at x, as an SVG group.

        `name` becomes part of the group's id, as in `begin`.
        """
        self.begin(name, "end")
        self.write(text, x, y, self.title)
        self.elements.append("</g>")

    def format_count(self, parameters: int) -> str:
        """Return a text such as "63 parameters" in the figure's language."""
        return self.translate("{0} parameters", parameters)

    def block(
        self,
        name: str,
        kind: str,
        at: Point,
        width: Number,
        title: str,
        *facts: str,
        copies: int = 1,
    ) -> Number:
        """Draw a block with its lower edge centred at `at`; return the y of its upper edge.

        The title stands above `facts`. `copies` blocks lie behind one another.
        """
        (x, y), titles = at, self.translate(title).split("\n")
        facts = () if self.is_map else facts
        height = PADDING + self.line_height * len(titles) + SMALL * len(facts)
        self.begin(name, f"block {kind}")
        for shift in range(COPY * (copies - 1), -1, -COPY):
            self.box(x - width / 2 + shift, y - height - shift, width, height, COLOURS[kind][0])
        base = y - height + PADDING / 2 - 4
        rows = [(self.line_height, self.title, line) for line in titles]
        for step, size, line in [*rows, *((SMALL, FACT, line) for line in facts)]:
            base += step
            self.write(line, x, base, size)
        self.elements.append("</g>")
        return y - height

    def box(self, x: Number, y: Number, width: Number, height: Number, fill: str) -> None:
        """Draw a rectangle with round corners, the upper left corner at (x, y)."""
        self.elements.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="7" '
            f'fill="{fill}" stroke="{INK}"/>'
        )

    def line(
        self, *points: Point, arrow: bool = True, dash: bool = False, residual: str = ""
    ) -> None:
        """Draw a line through points, with a head if `arrow` and dashed if `dash`.

        Its corners are round. In a map, `residual` is the name of a group around the line.
        """
        path = "M{:g} {:g}".format(*points[0])
        for before, corner, after in zip(points, points[1:], points[2:], strict=False):
            turn = (*find_turn(corner, before), *corner, *find_turn(corner, after))
            path += "L{:g} {:g}Q{:g} {:g} {:g} {:g}".format(*turn)
        path += "L{:g} {:g}".format(*points[-1])
        form = f' marker-end="url(#{self.name}-head)"' if arrow else ""
        form += ' stroke-dasharray="2 4"' if dash else ""
        drawn = f'<path d="{path}" fill="none" stroke="{INK}"{form}/>'
        if residual and self.is_map:
            drawn = f'<g id="{self.name}-{residual}" class="residual">{drawn}</g>'
        self.elements.append(drawn)

    def circle(self, x: Number, y: Number, sign: str, radius: int = 10) -> None:
        """Draw a circle around (x, y); `sign` is an SVG path that starts at the middle."""
        self.elements.append(
            f'<circle cx="{x:g}" cy="{y:g}" r="{radius}" fill="#ffffff" stroke="{INK}"/>'
            f'<path d="M{x:g} {y:g}{sign}" fill="none" stroke="{INK}"/>'
        )

    def build(self, width: int, top: Number, recipe: Recipe, theme: str, *lines: str) -> str:
        """Return the figure as SVG; `top` is its smallest y, `lines` are the texts at its foot.

        The first line is the title. A map has neither a foot nor colours for a dark theme.
        """
        name = shorten_name(recipe.name)
        if len(name) > MOST_NAME_CHARACTERS:
            name = name[: MOST_NAME_CHARACTERS - 1] + "…"
        title = f"{lines[0]} – {name}"
        for number, line in enumerate([] if self.is_map else [title, *lines[1:]]):
            self.write(line, width / 2, 20 * number - FOOT + 24, FACT if number else TITLE)
        dark = "".join(
            f'[fill="{day}"]{{fill:{night}}}[stroke="{day}"]{{stroke:{night}}}'
            for day, night in NIGHT
        )
        styles = {"dark": dark, "auto": f"@media(prefers-color-scheme:dark){{{dark}}}"}
        size = (width, round(24 - top))
        style = "" if self.is_map else f"<style>{styles.get(theme, '')}</style>"
        head = (
            f'{style}<marker id="{self.name}-head" refX="{HEAD}" '
            f'refY="4" markerWidth="{HEAD}" markerHeight="8" orient="auto">'
            f'<path d="M0 0L{HEAD} 4L0 8z" fill="{INK}"/></marker>'
        )
        elements = [head, f'<g transform="translate(0 {size[1]})">', *self.elements, "</g>"]
        return build_svg(size, title, ". ".join(lines[1:]), elements)


def shift_script(found: re.Match[str]) -> str:
    """Return the SVG of a letter with an index or exponent, such as d_k, and the text after it."""
    letter, kind, script, rest = found.groups()
    shift = 3 if kind == "_" else -4
    after = f'<tspan dy="{-shift}">{rest}</tspan>' if rest else ""
    return f'{letter}<tspan dy="{shift}" font-size="9">{script}</tspan>{after}'


def find_turn(corner: Point, other: Point) -> Point:
    """Return the point near `corner` at which a line to or from `other` begins to turn."""
    (x, y), (other_x, other_y) = corner, other
    right, down = (other_x > x) - (other_x < x), (other_y > y) - (other_y < y)
    return (x + right * CORNER, y + down * CORNER)


# --- Figure 1: the model (section 3) --------------------------------------------------------------

WIDTH, BLOCK, ARM = 850, 212, 62  # width of figure, of block; distance from middle to outer arrow
LEFT, RIGHT = 248, 548  # the middles of encoder and decoder
LANE, OUTER, INNER = 128, 148, 122  # from a middle to the residual lane and to the stack's edges
MIDDLE, TIED = 398, 828  # x of the lines from the encoder's output and between tied matrices
PLUS = "m-6 0h12m-6 -6v12"
WAVE = "m-9 0q4.5 -13 9 0t9 0"
TABLE = "m-6 -5h12v10h-12zm0 5h12m-8 -5v10m4 -10v10"  # learned positions


def draw_model(
    recipe: str | Recipe = BASE,
    *,
    language: str = "en",
    theme: str = "auto",
    symbols: tuple[int, int] | None = None,
) -> str:
    """Return Figure 1, encoder and decoder, as SVG with the numbers of a recipe    (section 3)

        svg = transduce.draw_model("table3/big", language="de")

    `symbols` are the sizes of the source and the target vocabulary, by default
    `data.vocabulary_size`. The `theme` is "light", "dark", or "auto", which follows the reader's
    screen.
    """
    require_form(language, theme)
    chosen = find_recipe(recipe)
    symbols = symbols or (chosen.data.vocabulary_size,) * 2
    fact = f"symbols must be the sizes of two vocabularies, not {describe_value(symbols)}"
    require(is_pair(symbols), fact)
    for size in symbols:
        require_count("symbols", size)
    return draw_figure_1(chosen, symbols, language, theme)


def require_form(language: str, theme: str) -> None:
    """Raise InputError for a language or a theme that no figure has."""
    for what, value, known in (("language", language, LANGUAGES), ("theme", theme, THEMES)):
        hint = f"known: {', '.join(known)}"
        require(value in known, f"a figure has no {what} {value!r}", hint)


def draw_figure_1(
    recipe: Recipe,
    symbols: tuple[int, int],
    language: str = "en",
    theme: str = "auto",
    *,
    is_map: bool = False,
) -> str:
    """Return Figure 1 of a recipe as SVG; `symbols` are the sizes of both vocabularies.

    With `is_map` it has larger titles and a beam search, but no facts, as in `Diagram`.
    """
    a, diagram = recipe.architecture, Diagram("model", language, is_map=is_map)
    encoder = Column(diagram, "encoder", LEFT, -1, a)
    decoder = Column(diagram, "decoder", RIGHT, 1, a)
    source, target = name_ends(diagram, recipe.data)
    matrix = symbols[1] * a.d_model  # a tied matrix is counted in its first block
    is_tied = a.tie_embeddings != "none"
    encoder.embed("input", source, symbols[0], symbols[0] * a.d_model)
    decoder.embed("output", target, symbols[1], None if a.tie_embeddings == "all" else matrix)
    encoder.stack("self-attention", "feed-forward")
    decoder.stack("self-attention", "cross-attention", "feed-forward", encoder_end=encoder.y)
    decoder.rise(36)
    below = decoder.y
    facts = [f"{diagram.format_value(a.d_model)} × {diagram.format_value(symbols[1])}"]
    facts += [diagram.translate("the same matrix")] if is_tied else []
    facts += [diagram.translate("with biases")] if a.output_bias else []
    own = matrix * (not is_tied) + symbols[1] * a.output_bias
    facts += [diagram.format_count(own)] if own else []
    decoder.block("linear", "linear", "Linear", *facts)
    if is_tied and not is_map:
        low, high, edge = decoder.embedding, (below + decoder.y) / 2, RIGHT + BLOCK / 2
        diagram.line((edge, low), (TIED, low), (TIED, high), (edge, high), arrow=False, dash=True)
    if a.tie_embeddings == "all" and not is_map:
        ends = (LEFT + BLOCK / 2, RIGHT - BLOCK / 2)
        diagram.line(*((x, encoder.embedding) for x in ends), arrow=False, dash=True)
    decoder.rise(22)
    over = diagram.translate("over {0} symbols", symbols[1])
    decoder.block("softmax", "softmax", "Softmax", over)
    decoder.finish()
    lines = describe_model(diagram, a, symbols)
    return diagram.build(WIDTH, decoder.y - 24, recipe, theme, *lines)


def name_ends(diagram: Diagram, data: Data) -> list[str]:
    """Return a label each for input and output: the task's word, or a language ("" if unnamed)."""
    languages = (data.source_language, data.target_language)
    named = ["" if name in UNNAMED else name for name in languages]
    sides = find_task_kind(data).sides
    return [
        diagram.translate(side) if side else name for side, name in zip(sides, named, strict=True)
    ]


def describe_model(diagram: Diagram, a: Architecture, symbols: tuple[int, int]) -> list[str]:
    """Return lines with the title, the sum of all parameters, and settings that no block shows."""
    title = diagram.translate("Figure 1: the Transformer, model architecture")
    show, total = diagram.format_value, count_parameters(a, *symbols)
    layers = [
        (a.encoder_depth, count_encoder_layer(a).parameters),
        (a.decoder_depth, count_decoder_layer(a).parameters),
    ]
    terms = [f"{depth} × {show(one)}" for depth, one in layers]
    terms.append(show(total - sum(depth * one for depth, one in layers)))
    facts = [f"d_model = {show(a.d_model)}", f"P_drop = {show(a.dropout)}"]
    for dropout, text in (
        (a.attention_dropout, "{0} of attention weights"),
        (a.feed_forward_dropout, "{0} inside feed-forward"),
    ):
        facts += [diagram.translate(text, dropout)] if dropout else []
    norm = "norm before each sub-layer" if a.norm == "pre" else "norm after each sum"
    facts.append(diagram.translate(norm))
    return [title, f"{' + '.join(terms)} = {diagram.format_count(total)}", " · ".join(facts)]


@final
class Column:
    """The encoder or the decoder, drawn upwards; `y` is where its next element begins."""

    def __init__(self, diagram: Diagram, name: str, x: int, side: int, a: Architecture) -> None:
        self.diagram, self.name, self.x, self.side, self.a = diagram, name, x, side, a
        self.y, self.embedding = -FOOT - 44.0, 0.0  # the latter is the y of the embedding's middle

    def rise(self, height: Number, *, arrow: bool = True) -> None:
        """Draw a line or an arrow upwards from `y`, and move `y` to its end."""
        self.diagram.line((self.x, self.y), (self.x, self.y - height), arrow=arrow)
        self.y -= height

    def block(self, name: str, kind: str, title: str, *facts: str) -> None:
        """Draw a block above `y`, and move `y` to its upper edge."""
        self.y = self.diagram.block(name, kind, (self.x, self.y), BLOCK, title, *facts)

    def finish(self) -> None:
        """Draw the label "Output Probabilities"; in a map, also a block for the beam search."""
        self.rise(26)
        text = self.diagram.translate("Output Probabilities")
        self.diagram.add_end_label("output-probabilities", text, self.x, self.y - 9)
        if self.diagram.is_map:
            self.y -= 28
            self.rise(20)
            self.block("search", "product", "Beam Search")

    def embed(self, end: str, text: str, symbols: int, parameters: int | None) -> None:
        """Draw the label of the "input" or "output" (`end`), its embedding, and its positions.

        `parameters` is None if the matrix is counted in another block.
        """
        a, diagram, x, side = self.a, self.diagram, self.x, self.side
        name = diagram.translate(f"{end.title()}s")
        diagram.add_end_label(f"{end}s", f"{name} ({text})" if text else name, x, self.y + 18)
        if end == "output" and not diagram.is_map:
            diagram.write(diagram.translate("shifted right"), x, self.y + 34)
        self.rise(24)
        facts = [f"{diagram.format_value(symbols)} × {diagram.format_value(a.d_model)}"]
        same = diagram.translate("the same matrix")
        facts.append(same if parameters is None else diagram.format_count(parameters))
        below = self.y
        self.block(f"{end}-embedding", "embedding", f"{end.title()} Embedding", *facts)
        self.embedding = (below + self.y) / 2
        is_learned, wave, label = a.positions == "learned", x + side * 78, x + side * 98
        self.rise(46 if is_learned else 16)
        y = self.y - 10
        title = "Learned\nPositions" if is_learned else "Positional\nEncoding"
        facts = diagram.translate(title).split("\n")
        if is_learned and not diagram.is_map:
            facts.append(" × ".join(map(diagram.format_value, (a.max_positions, a.d_model))))
            facts.append(diagram.format_count(count_positions(a).parameters // 2))
        diagram.begin(f"{end}-positions", "positions")
        diagram.line((wave, y), (x, y), arrow=False)
        diagram.circle(x, y, PLUS)
        diagram.circle(wave, y, TABLE if is_learned else WAVE, 14)
        for number, line in enumerate(facts):
            size, anchor = FACT if number > 1 else diagram.title, "start" if side > 0 else "end"
            base = y - 3 + (diagram.line_height - 1) * number
            diagram.write(line, label, base, size, anchor)
        diagram.elements.append("</g>")
        self.y -= 20

    def stack(self, *sub_layers: str, encoder_end: Number = 0.0) -> None:
        """Draw one layer, marked N×, as a stack; `encoder_end` is the y where the encoder ends."""
        a, diagram, side, first = self.a, self.diagram, self.side, len(self.diagram.elements)
        count = count_encoder_layer if side < 0 else count_decoder_layer
        self.rise(26, arrow=False)
        bottom = self.y + 12
        for part in sub_layers:
            self.sub_layer(part, encoder_end)
        top = self.y - 14
        inside = diagram.elements[first:]
        del diagram.elements[first:]
        diagram.begin(self.name, "stack")
        left = self.x - (OUTER if side < 0 else INNER)
        diagram.box(left, top, OUTER + INNER, bottom - top, COLOURS["stack"][0])
        x, y = self.x + side * (OUTER + 48), (top + bottom) / 2
        depth, own = a.encoder_depth if side < 0 else a.decoder_depth, count(a).parameters
        if diagram.is_map:
            diagram.write(f"{depth}×", x - side * 20, y, 20)
        else:
            diagram.write("N×", x, y - 24, 20)
            beside = diagram.translate("N = {0}\neach layer:\n{1}\nparameters", depth, own)
            for number, line in enumerate(beside.split("\n")):
                diagram.write(line, x, y - 4 + SMALL * number)
        diagram.elements += inside
        diagram.elements.append("</g>")
        if a.norm == "pre":
            self.rise(34)
            norm = diagram.format_count(count_norm(a).parameters)
            self.block(f"{self.name}-norm", "norm", "Norm", norm)

    def sub_layer(self, part: str, encoder_end: Number) -> None:
        """Draw a sub-layer with inputs, residual and norm; `encoder_end` is as in `stack`."""
        a, diagram, x, edge = self.a, self.diagram, self.x, self.x + self.side * BLOCK / 2
        is_pre, start = a.norm == "pre", (x, self.y - 12)
        name, norm = f"{self.name}-{part}", diagram.format_count(count_norm(a).parameters)
        if is_pre:
            self.rise(30)
            self.block(f"{name}-norm", "norm", "Norm", norm)
        kind, title, *facts = describe_sub_layer(diagram, a, self.name, part)
        if part == "cross-attention":
            start = start if is_pre else (x + ARM - CORNER, self.y - 12)  # on the queries' arrow
            self.draw_cross_inputs(encoder_end)
        elif kind == "attention":
            turn, self.y = self.y - 22, self.y - 42
            for end in (x - ARM, x + ARM):
                diagram.line((x, turn), (end, turn), (end, self.y))
            diagram.line((x, turn + 22), (x, self.y))
        else:
            self.rise(30)
        self.block(name, kind, title, *facts)
        if is_pre:
            self.rise(12, arrow=False)
            middle, edge = self.y - 10, x + self.side * 10
            diagram.circle(x, middle, PLUS)
            self.y -= 20
        else:
            self.rise(6, arrow=False)
            below = self.y
            self.block(f"{name}-norm", "norm", "Add & Norm", norm)
            middle = (below + self.y) / 2
        lane = x + self.side * LANE
        diagram.line(
            start, (lane, start[1]), (lane, middle), (edge, middle), residual=f"{name}-residual"
        )

    def draw_cross_inputs(self, encoder_end: Number) -> None:
        """Draw cross-attention's arrows: queries from below, keys and values from `encoder_end`."""
        x, diagram, over = self.x, self.diagram, encoder_end - 32
        turn, across, end = self.y - 12, self.y - 28, self.y - 48
        diagram.line((x, self.y), (x, turn), (x + ARM, turn), (x + ARM, end))
        diagram.begin("memory", "memory")
        down = ((LEFT, encoder_end), (LEFT, over), (MIDDLE, over), (MIDDLE, across))
        diagram.line(*down, (x, across), (x, end))
        diagram.line((x - ARM - CORNER, across), (x - ARM, across), (x - ARM, end))
        diagram.elements.append("</g>")
        self.y = end


def describe_sub_layer(diagram: Diagram, a: Architecture, stack: str, part: str) -> list[str]:
    """Return a sub-layer's kind, its title, and the facts below the title."""
    is_causal = stack == "decoder"
    if part == "feed-forward":
        activation = "ReLU" if a.activation == "relu" else "swish"
        count = count_feed_forward(a).parameters
        sizes = f"d_ff = {diagram.format_value(a.d_ff)}, {activation}"
        return [part, "Feed Forward", sizes, diagram.format_count(count)]
    if part == "cross-attention" or a.mixing == "self-attention":
        is_masked = is_causal and part == "self-attention"
        title = "Masked\nMulti-Head Attention" if is_masked else "Multi-Head Attention"
        widths = f"d_k = d_v = {a.d_k}" if a.d_k == a.d_v else f"d_k = {a.d_k}, d_v = {a.d_v}"
        facts = [f"h = {a.heads}, {widths}"]
        reach = a.decoder_neighbourhood if is_causal else a.encoder_neighbourhood
        if reach and part == "self-attention":
            facts.append(diagram.translate("neighbourhood r = {0}", reach))
        facts += [diagram.translate("with biases")] if a.attention_biases else []
        count = count_self_attention(a).parameters
        return ["attention", title, *facts, diagram.format_count(count)]
    if a.mixing == "recurrent":
        fact = "LSTM" if is_causal else diagram.translate("LSTM in both directions")
        title = "Recurrent Layer"
    else:
        fact = f"k = {a.kernel_size}"
        dilated = a.mixing.title() if a.mixing != "convolution" else ""
        title = ("Masked\n" if is_causal else "") + f"{dilated} Convolution".strip()
    count = count_mixing(a, causal=is_causal).parameters
    return ["mixing", title, fact, diagram.format_count(count)]


# --- Figure 2: attention (section 3.2) ------------------------------------------------------------

QUERIES, VALUES = 150, 292  # the middles of the left panel's blocks and of its arrow of values
PANEL, PART, WIDE = 980, 176, 556  # widths of the figure and of the right panel's blocks
COLUMNS = (488, 678, 868)  # the middles of V, K and Q in the right panel
START, STEP = -FOOT - 40.0, 26.0  # y at which arrows leave the letters; the length of an arrow
TITLES = {  # attention's titles, by `architecture.compatibility`
    "scaled-dot": "Scaled Dot-Product Attention",
    "dot": "Dot-Product Attention",
    "bilinear": "Bilinear Attention",
    "additive": "Additive Attention",
}


def draw_attention(
    recipe: str | Recipe = BASE, *, language: str = "en", theme: str = "auto"
) -> str:
    """Return Figure 2, attention, as SVG with the numbers of a recipe    (section 3.2)

        svg = transduce.draw_attention("table3/B-dk16", theme="dark")

    `language` and `theme` are as in `draw_model`.
    """
    require_form(language, theme)
    chosen = find_recipe(recipe)
    a, diagram = chosen.architecture, Diagram("attention", language)
    top = min(draw_one_head(diagram, a), draw_multi_head(diagram, a)) - STEP
    diagram.write(diagram.translate(TITLES[a.compatibility]), (QUERIES + VALUES) / 2, top, 16)
    diagram.write(diagram.translate("Multi-Head Attention"), COLUMNS[1], top, 16)
    blocks = a.decoder_depth
    blocks += a.encoder_depth + a.decoder_depth if a.mixing == "self-attention" else 0
    title = "Figure 2: attention of one head (left), multi-head attention with h = {0} (right)"
    about = "n tokens a sentence · {0} parameters a block · {1} such blocks in the model"
    about = diagram.translate(about, count_self_attention(a).parameters, blocks)
    return diagram.build(PANEL, top - 20, chosen, theme, diagram.translate(title, a.heads), about)


def draw_one_head(diagram: Diagram, a: Architecture) -> Number:
    """Draw a head's attention from its inputs upwards; return the y of its upper end."""
    causal = diagram.translate("causal in the decoder's\nself-attention").split("\n")
    masks = causal if a.mixing == "self-attention" else []
    for stack in ("encoder", "decoder"):
        reach: int = getattr(a, f"{stack}_neighbourhood")
        masks += [f"{diagram.translate(stack)}: r = {diagram.format_value(reach)}"] if reach else []
    p = a.attention_dropout
    dropped = [f"P_drop = {diagram.format_value(p)}"] if p else []
    y, starts, middle = START - STEP, (QUERIES - 50, QUERIES + 50), (QUERIES + VALUES) / 2
    for letter, x in zip("QKV", (*starts, VALUES), strict=True):
        diagram.write(letter, x, START + 20, TITLE)
    scores = ("MatMul", [f"(n × {a.d_k}) · ({a.d_k} × n)"])
    if a.compatibility == "bilinear":
        scores = ("MatMul", ["q · W · k", f"W: {a.d_k} × {a.d_k}"])
    elif a.compatibility == "additive":
        scores = ("Compatibility", ["w · tanh(q + k)", f"w: {a.d_k}"])
    is_scaled = a.compatibility in ("scaled-dot", "bilinear")
    scale = ("scale", "norm", "Scale", [f"1 / √{a.d_k} = {diagram.format_value(a.d_k**-0.5)}"])
    for name, kind, title, facts in (
        ("scores", "product", *scores),
        *([scale] if is_scaled else []),
        ("mask", "embedding", "Mask (opt.)", masks or [diagram.translate("none")]),
        ("softmax", "softmax", "SoftMax", [diagram.translate("of n scores each"), *dropped]),
    ):
        for x in starts if name == "scores" else (QUERIES,):
            diagram.line((x, y + STEP), (x, y))
        y = diagram.block(name, kind, (QUERIES, y), 200, title, *facts) - STEP
    diagram.line((QUERIES, y + STEP), (QUERIES, y))
    diagram.line((VALUES, START), (VALUES, y))
    y = diagram.block("values", "product", (middle, y), 230, "MatMul", f"(n × n) · (n × {a.d_v})")
    diagram.line((middle, y), (middle, y - STEP))
    return y - STEP


def draw_multi_head(diagram: Diagram, a: Architecture) -> Number:
    """Draw multi-head attention from its inputs upwards; return the y of its upper end."""
    y, copies, show, middle = START - STEP, min(3, a.heads), diagram.format_value, COLUMNS[1]
    behind, joined, biases = COPY * (copies - 1), a.heads * a.d_v, int(a.attention_biases)
    top = y
    for letter, x, width in zip("VKQ", COLUMNS, (a.d_v, a.d_k, a.d_k), strict=True):
        diagram.write(letter, x, START + 20, TITLE)
        diagram.line((x, START), (x, y))
        sizes = f"W^{letter}: {a.heads} × {show(a.d_model)} × {width}"
        facts = (sizes, diagram.format_count(a.heads * width * (a.d_model + biases)))
        name = f"linear-{letter.lower()}"
        top = diagram.block(name, "linear", (x, y), PART, "Linear", *facts, copies=copies) - behind
        diagram.line((x, top), (x, top - STEP))
    at, title = (middle, top - STEP), TITLES[a.compatibility]
    own = {"bilinear": a.d_k**2, "additive": a.d_k}.get(a.compatibility, 0)
    fact = f"h = {a.heads}, {diagram.translate('each n × {0}', a.d_v)}"
    weights = [diagram.format_count(a.heads * own)] if own else []
    y = diagram.block("heads", "product", at, WIDE, title, fact, *weights, copies=copies) - behind
    diagram.line((middle, y), (middle, y - STEP))
    fact = f"n × {show(joined)}"
    y = diagram.block("concat", "norm", (middle, y - STEP), 218, "Concat", fact)
    diagram.line((middle, y), (middle, y - STEP))
    size, count = f"{show(joined)} × {show(a.d_model)}", (joined + biases) * a.d_model
    facts = (f"W^O: {size}", diagram.format_count(count))
    y = diagram.block("linear-o", "linear", (middle, y - STEP), 218, "Linear", *facts)
    diagram.line((middle, y), (middle, y - STEP))
    return y - STEP
