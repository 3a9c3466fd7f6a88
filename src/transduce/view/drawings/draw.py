"""`transduce.draw_model` and similar functions: figures and formulas of the paper as SVG."""

from transduce.recipes.choice import find_recipe
from transduce.settings import Recipe
from transduce.settings.fields import require
from transduce.text.arguments import describe_value, is_pair, require_count
from transduce.view.drawings.axes import CATEGORY10

BASE = "table3/base"
POSITIONS = 100
LANGUAGES, THEMES = ("en", "de"), ("auto", "light", "dark")
MAX_POSITIONS = 2_000  # a file with more would have many megabytes
MAX_NUMBERS = 4_000_000  # sines and cosines in a picture


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
    from transduce.view.drawings.architecture import draw_figure_1

    require_form(language, theme)
    chosen = find_recipe(recipe)
    symbols = symbols or (chosen.data.vocabulary_size,) * 2
    fact = f"symbols must be the sizes of two vocabularies, not {describe_value(symbols)}"
    require(is_pair(symbols), fact)
    for size in symbols:
        require_count("symbols", size)
    return draw_figure_1(chosen, symbols, language, theme)


def draw_attention(
    recipe: str | Recipe = BASE, *, language: str = "en", theme: str = "auto"
) -> str:
    """Return Figure 2, attention, as SVG with the numbers of a recipe    (section 3.2)

        svg = transduce.draw_attention("table3/B-dk16", theme="dark")

    `language` and `theme` are as in `draw_model`.
    """
    from transduce.view.drawings.architecture import draw_figure_2

    require_form(language, theme)
    return draw_figure_2(find_recipe(recipe), language, theme)


def require_form(language: str, theme: str) -> None:
    """Raise InputError for a language or a theme that no figure has."""
    for what, value, known in (("language", language, LANGUAGES), ("theme", theme, THEMES)):
        hint = f"known: {', '.join(known)}"
        require(value in known, f"a figure has no {what} {value!r}", hint)


def draw_positions(recipe: str | Recipe = BASE, *, positions: int = POSITIONS) -> str:
    """Return a recipe's sinusoids of the first `positions` positions as SVG    (section 3.5)

        svg = transduce.draw_positions("demo", positions=60)

    Raises InputError for a recipe that has other positions.
    """
    from transduce.view.drawings.formulas import draw_sinusoids

    require_count("positions", positions)
    fact = f"positions must be at most {MAX_POSITIONS:,}, not {positions:,}"
    require(positions <= MAX_POSITIONS, fact)
    chosen = find_recipe(recipe)
    require(
        chosen.architecture.positions == "sinusoidal",
        f"architecture.positions of {chosen.name} is {chosen.architecture.positions}, and the "
        "paper's sinusoids are drawn",
        f"a recipe that has them, such as {BASE}",
    )
    d_model = chosen.architecture.d_model
    fact = f"{positions:,} positions of {d_model:,} numbers are too many to draw"
    require(positions * d_model <= MAX_NUMBERS, fact, f"--positions {MAX_NUMBERS // d_model}")
    return draw_sinusoids(d_model, positions)


def draw_rate(*recipes: str | Recipe, steps: int | None = None) -> str:
    """Return each recipe's learning rate over the training steps as SVG    (equation 3)

        svg = transduce.draw_rate("table3/base", "table3/big", steps=20_000)

    Without a recipe the paper's base model is drawn. The last step is `steps`, by default five
    times the longest warm-up or the end of the longest training, whichever comes first.
    """
    from transduce.view.drawings.formulas import draw_rates

    if steps is not None:
        require_count("steps", steps)
        require(steps > 1, "steps must be at least 2, not 1")
    chosen = [find_recipe(one) for one in recipes or (BASE,)]
    most = len(CATEGORY10)
    fact = f"at most {most} recipes have a colour of their own, and these are {len(chosen)}"
    require(len(chosen) <= most, fact)
    return draw_rates(chosen, steps)
