"""Turns a source file's contents into HTML: equations as MathML, prose, and code in colours.

In an equation, a slash between spaces is a fraction, whose numerator is the product before it;
a slash without spaces stays a slash. Digits after a letter are its index.
"""

import html
import io
import keyword
import re
import tokenize
from collections.abc import Mapping

# Equations as the docstrings write them; an equation that fills its line stands apart.
EQUATIONS = (
    "softmax(Q Kᵀ / √d_k) V",
    "softmax(Q Kᵀ / √d_k)",
    "Q Kᵀ / √d_k",
    "w · tanh(q + k)",
    "q W · k / √d_k",
    "Dropout(√d_model · E(w) + PE(pos))",
    "LayerNorm(x + Dropout(Sublayer(x)))",
    "x + Dropout(Sublayer(LayerNorm(x)))",
    "gain · (x - mean) / √(variance + ε) + bias",
    "x + Dropout(y)",
    "x / (1 - p)",
    "Concat(head_1 .. head_h) W^O",
    "max(0, x W1 + b1) W2 + b2",
    "max(0, x W1 + b1)",
    "x Wᵀ + b",
    "PE(pos, 2i) = sin(pos / 10000^(2i/d_model))",
    "PE(pos, 2i+1) = cos(pos / 10000^(2i/d_model))",
    "√(6 / (fan-in + fan-out))",
    "Σ [(1 - m) · (-log p(target)) + m · mean over symbols of (-log p)]",
    "d_model^-0.5 · min(step^-0.5, step · warmup^-1.5)",
    "m ← β1 m + (1 - β1) g",
    "v ← β2 v + (1 - β2) g²",
    "w ← w - rate · m / (1 - β1^t) / (√(v / (1 - β2^t)) + ε)",
    "√d_model",
)
LETTER = r"[A-Za-zβ]+(?:_(?:model|ff|k|v|i|n|h|P|\d)|\^(?:-?[\d.]+|[A-Z]))+"
MARKED = re.compile(
    rf"`(?P<code>[^`]+)`|(?<![\w^])(?P<math>{'|'.join(map(re.escape, EQUATIONS))}|{LETTER})(?!\w)"
)
NOTE = re.compile(r"(.*?\S) {4,}(\S.*)")
TOKEN = re.compile(r"(\s?)(\d[\d.,]*(?<![.,])|fan-in|fan-out|[^\W\d_ᵀ²]+|\.\.|\S)")
SIGNS = frozenset("+-=←,<≤")
SPACE = '<mspace width="0.2em"></mspace>'


def render_equation(text: str, *, is_block: bool = False) -> str:
    """Return an equation as a MathML element, in a line of its own if `is_block`."""
    tokens = [(bool(space), token) for space, token in TOKEN.findall(text)]
    display = ' display="block"' if is_block else ""
    label = html.escape(text, quote=True)
    return f'<math{display} aria-label="{label}"><mrow>{render_sum(tokens)}</mrow></math>'


def render_sum(tokens: list[tuple[bool, str]]) -> str:
    """Return the sum at the start of `tokens` as MathML; remove its tokens from the list.

    A token is (whether a space is before it, its text). The sum ends before ")" or with the list.
    """
    found = list[str]()
    while tokens and tokens[0][1] != ")":
        if tokens[0][1] in SIGNS:
            found.append(render_symbol(tokens.pop(0)[1]))
        else:
            found.append(render_product(tokens))
    return "".join(found)


def render_product(tokens: list[tuple[bool, str]]) -> str:
    """Return the product or fraction at the start of `tokens` as MathML; remove its tokens."""
    factors = list[str]()
    while tokens and tokens[0][1] not in SIGNS | {")"}:
        is_spaced, token = tokens[0]
        if token == "/" and is_spaced:
            tokens.pop(0)
            above = strip_parentheses(factors.pop()) if len(factors) == 1 else "".join(factors)
            factors = [
                f"<mfrac><mrow>{above}</mrow><mrow>{strip_parentheses(render_factor(tokens))}</mrow></mfrac>"
            ]
        elif token in "/·":
            tokens.pop(0)
            factors.append(f"<mo>{token}</mo>")
        else:
            is_apart = bool(factors) and is_spaced and not factors[-1].startswith("<mo>")
            factors.append((SPACE if is_apart else "") + render_factor(tokens))
    return "".join(factors)


def render_factor(tokens: list[tuple[bool, str]]) -> str:
    """Return the factor at the start of `tokens` as MathML; remove its tokens.

    A factor is a root, a parenthesis, a number or a letter, with its index and exponent.
    """
    token = tokens.pop(0)[1]
    if token == "√":
        return f"<msqrt>{strip_parentheses(render_factor(tokens))}</msqrt>"
    if token == "(":
        inner = render_sum(tokens)
        tokens.pop(0)
        size = "" if "<mfrac" in inner or "<msqrt" in inner else ' stretchy="false"'
        found = f"<mrow><mo{size}>(</mo>{inner}<mo{size}>)</mo></mrow>"
    else:
        found = render_symbol(token)
    below = above = ""
    while tokens and not tokens[0][0] and (mark := tokens[0][1]) in "_^²ᵀ0123456789":
        tokens.pop(0)
        if mark == "_" or mark.isdecimal():
            below = render_symbol(mark if mark.isdecimal() else tokens.pop(0)[1])
        elif mark == "^":
            sign = render_symbol(tokens.pop(0)[1]) if tokens[0][1] == "-" else ""
            is_open = tokens[0][1] == "("
            above = sign + (
                strip_parentheses(render_factor(tokens))
                if is_open
                else render_symbol(tokens.pop(0)[1])
            )
        else:
            above = render_symbol({"²": "2", "ᵀ": "T"}[mark])
    for kind, script in (("msub", below), ("msup", above)):
        found = f"<{kind}>{found}<mrow>{script}</mrow></{kind}>" if script else found
    return found


def render_symbol(token: str) -> str:
    """Return a number, letter, word or sign as a MathML element."""
    kind = "mn" if token[0].isdigit() else "mi" if token[0].isalpha() else "mo"
    return f"<{kind}>{html.escape({'-': '−', '..': '…'}.get(token, token))}</{kind}>"


def strip_parentheses(row: str) -> str:
    """Return the MathML inside a row's outer parentheses, or the whole row if it has none."""
    inner = re.fullmatch(r"<mrow><mo[^>]*>\(</mo>(.*)<mo[^>]*>\)</mo></mrow>", row)
    return inner[1] if inner else row


def render_prose(text: str) -> str:
    """Return the paragraphs, lists and equations of a docstring or comment as HTML."""
    return "".join(map(render_paragraph, re.split(r"\n\s*\n", text.strip())))


def render_paragraph(text: str) -> str:
    """Return a paragraph or list as HTML; equations become blocks, and a note follows its line."""
    is_legend = " · " in text.split("\n")[0] and not text.endswith((".", ")"))
    if is_legend or text.startswith("- "):
        items = re.split(" · |\n" if is_legend else r"\n?- ", text)
        return f"<ul>{''.join(f'<li>{render_line(item)}</li>' for item in items if item)}</ul>"
    found, rest = list[str](), list[str]()
    for line in text.split("\n"):
        content, note = match.groups() if (match := NOTE.fullmatch(line)) else (line, "")
        noted = f'<span class="note">{html.escape(note.strip("()"))}</span>' if note else ""
        if content.strip() in EQUATIONS:
            equation = render_equation(content.strip(), is_block=True)
            found.append(f'<div class="equation">{equation}{noted}</div>')
        else:
            rest.append(render_line(content) + (" " + noted))
    return "".join(found) + (f"<p>{' '.join(rest)}</p>" if rest else "")


def render_line(text: str) -> str:
    """Return a line as HTML: backticks as code, equations and letters with an index as MathML."""
    found, end = list[str](), 0
    for match in MARKED.finditer(text):
        found.append(html.escape(text[end : match.start()]))
        code = match["code"]
        found.append(
            f"<code>{html.escape(code)}</code>" if code else render_equation(match["math"])
        )
        end = match.end()
    return "".join([*found, html.escape(text[end:])])


def render_code(text: str, links: Mapping[str, str]) -> list[str]:
    """Return each line of Python as HTML: tokens get CSS classes, names in `links` become links."""
    lines = text.split("\n")
    found, ends, before = [""] * len(lines), [0] * len(lines), ""
    for one in tokenize.generate_tokens(io.StringIO(text).readline):
        row, word = one.start[0] - 1, html.escape(one.string)
        if row < len(lines) and one.end[0] == one.start[0] and one.string.strip():
            kind = classify(tokenize.tok_name[one.type], one.string, before)
            if kind:
                word = f"<b class={kind}>{word}</b>"
            elif one.string in links and before != ".":
                word = f'<a href="#{links[one.string]}" tabindex="-1">{word}</a>'
            found[row] += html.escape(lines[row][ends[row] : one.start[1]]) + word
            ends[row], before = one.end[1], one.string
    rest = zip(found, lines, ends, strict=True)
    return [line + html.escape(source[end:]) for line, source, end in rest]


def classify(kind: str, word: str, before: str) -> str:
    """Return a token's class in the style sheet, such as "k" for a keyword; "" if it has none."""
    if kind == "NAME":
        is_keyword = keyword.iskeyword(word) or word == "self"
        return "d" if before in ("def", "class") else "k" if is_keyword else ""
    kinds = {"COMMENT": "c", "NUMBER": "n", "STRING": "s"}
    return kinds.get("STRING" if kind.startswith("FSTRING") else kind, "")
