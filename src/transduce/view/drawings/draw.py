"""`transduce.draw_positions` and `transduce.draw_rate`: formulas of the paper as SVG."""

from transduce.errors import InputError
from transduce.recipes.choice import find_recipe
from transduce.settings import Recipe
from transduce.settings.fields import require
from transduce.text.arguments import describe_value, require_count
from transduce.view.attention.figures import CATEGORY10

BASE = "table3/base"
POSITIONS = 100
MAX_POSITIONS = 2_000  # a file with more would have many megabytes


def draw_positions(
    recipe: str | Recipe = BASE,
    *,
    positions: int = POSITIONS,
) -> str:
    """Draw the sinusoids of `positions` positions for a recipe's d_model as SVG    (section 3.5)

        svg = transduce.draw_positions("demo", positions=60)

    A recipe whose positions are learned is refused, since they are unknown before the training.
    """
    from transduce.view.drawings.positions import draw_sinusoids

    require_count("positions", positions)
    fact = f"positions must be at most {MAX_POSITIONS:,}, not {positions:,}"
    require(positions <= MAX_POSITIONS, fact)
    chosen = read_recipe(recipe)
    require(
        chosen.architecture.positions == "sinusoidal",
        f"{chosen.name} learns its positions: no formula gives them",
        f"a recipe with sinusoids, such as {BASE}",
    )
    return draw_sinusoids(chosen.architecture.d_model, positions)


def draw_rate(*recipes: str | Recipe, steps: int | None = None) -> str:
    """Draw the learning rate of each recipe over the training steps as SVG    (equation 3)

        svg = transduce.draw_rate("table3/base", "table3/big", steps=20_000)

    Without a recipe the paper's base model is drawn. The last step is `steps`, by default five
    times the longest warm-up or the end of the longest training, whichever comes first.
    """
    from transduce.view.drawings.rate import draw_rates

    if steps is not None:
        require_count("steps", steps)
        require(steps > 1, "steps must be at least 2, not 1")
    chosen = [read_recipe(one) for one in recipes or (BASE,)]
    most = len(CATEGORY10)
    fact = f"at most {most} recipes have a colour of their own, and these are {len(chosen)}"
    require(len(chosen) <= most, fact)
    return draw_rates(chosen, steps)


def read_recipe(recipe: object) -> Recipe:
    """Return a recipe that is given as a `Recipe`, by its name, or by the path of its file."""
    if isinstance(recipe, Recipe):
        return recipe
    if not isinstance(recipe, str):
        raise InputError(f"a recipe is a name, a file or a Recipe, not {describe_value(recipe)}")
    return find_recipe(recipe)
