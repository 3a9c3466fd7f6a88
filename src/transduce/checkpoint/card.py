"""The model card: what a model is, where it differs from the paper, and how good it was found."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, final, runtime_checkable

from transduce.settings import Recipe
from transduce.settings.description import ModelDescription
from transduce.settings.deviations import list_deviations
from transduce.settings.recipe import Value


@runtime_checkable
class Figure(Protocol):
    """A score with what makes it a fact; the scores of `transduce.scores` are of this shape."""

    @property
    def name(self) -> str: ...
    @property
    def value(self) -> float: ...
    @property
    def signature(self) -> str: ...
    @property
    def lines(self) -> int: ...
    @property
    def test_set(self) -> str: ...


@final
@dataclass(frozen=True, kw_only=True)
class Facts:
    """What a card says beside the recipe."""

    description: ModelDescription
    parameters: int
    updates: int
    averaged: Sequence[int] = ()  # the steps whose mean the model is
    text: str = ""  # what was read: sha256 of the files, or what a generator was told
    pairs_read: int
    left_out: Mapping[str, int] = field(default_factory=dict)  # by reason, in the filters' order
    versions: Mapping[str, str] = field(default_factory=dict)  # of what it was made with
    figures: Sequence[Figure] = ()
    size: str = ""  # the parameters as a sum, beside the paper's count
    cost: Sequence[str] = ()  # hardware, time and operations, beside the paper's


def model_card(recipe: Recipe, facts: Facts) -> str:
    """The card as Markdown, with the front matter that model hubs read."""
    parts = [
        front_matter(facts.description),
        title(recipe, facts),
        ledger(recipe),
        data(recipe, facts),
        training(recipe, facts),
        figures(facts),
        usage(facts.description),
    ]
    return "\n\n".join(parts) + "\n"


def front_matter(model: ModelDescription) -> str:
    """Return the YAML that model hubs read; JSON strings are YAML strings."""
    lines = ["library_name: transduce", f"pipeline_tag: {model.pipeline_tag}"]
    lines += ["language:"] if model.languages else []
    lines += [f"- {json.dumps(language)}" for language in model.languages]
    return "\n".join(["---", *lines, "---"])


def title(recipe: Recipe, facts: Facts) -> str:
    """What the model is, in a few lines."""
    sizes = recipe.architecture
    lines = [
        f"# {plain(recipe.name)}: {plain(facts.description.title)}",
        "",
        f"A Transformer (Vaswani et al. 2017) of {facts.parameters:,} parameters that "
        f"{plain(facts.description.purpose)}: {sizes.layers} layers a stack, d_model {sizes.d_model}, "
        f"d_ff {sizes.d_ff}, {sizes.heads} heads.",
    ]
    return "\n".join(lines + ([f"\n> {plain(recipe.about)}"] if recipe.about else []))


def ledger(recipe: Recipe) -> str:
    """Every setting that is not as in the paper's base model."""
    heading = "## Where it differs from the paper's base model\n\n"
    changed = list_deviations(recipe)
    if not changed:
        return heading + "Nowhere: every setting is that of the paper's base model."
    rows = [(one.path, shown(one.paper), shown(one.here), one.explanation) for one in changed]
    because = f"> {plain(recipe.because)}\n\n" if recipe.because else ""
    return heading + because + markdown_table(("setting", "base model", "here", "source"), rows)


def data(recipe: Recipe, facts: Facts) -> str:
    """The corpus, and how many pairs were left after each filter."""
    rows, left = [("read", "", f"{facts.pairs_read:,}")], facts.pairs_read
    for reason, count in facts.left_out.items():
        left -= count
        rows.append((reason, f"{count:,}", f"{left:,}"))
    named = f"Corpus by the recipe: {plain(recipe.data.corpus)}, {plain(facts.description.title)}."
    read = [f"What was read, by its sha256 or its generator: `{plain(facts.text)}`."]
    about = "\n\n".join(["## Data", named, *(read if facts.text else [])])
    return f"{about}\n\n" + markdown_table(("pairs", "left out", "remain"), rows)


def training(recipe: Recipe, facts: Facts) -> str:
    """How it was trained, and with what."""
    lines = [
        "## Training",
        "",
        f"- {facts.updates:,} updates of about {recipe.data.source_tokens:,} source and "
        f"{recipe.data.target_tokens:,} target tokens, seed {recipe.training.seed}",
    ]
    if facts.averaged:
        steps = ", ".join(f"{step:,}" for step in facts.averaged)
        lines.append(f"- the mean of {len(facts.averaged)} snapshots (section 6.1): steps {steps}")
    lines += [f"- {plain(line)}" for line in (facts.size, *facts.cost) if line]
    lines += [f"- {plain(name)} {plain(version)}" for name, version in facts.versions.items()]
    return "\n".join(lines)


def figures(facts: Facts) -> str:
    """Scores, each with the signature that says how it was made."""
    if not facts.figures:
        return "## Figures\n\nNone were taken."
    rows = [
        (f.name, f"{f.value:.2f}", f"{f.test_set} ({f.lines:,} lines)", f"`{f.signature}`")
        for f in facts.figures
    ]
    return "## Figures\n\n" + markdown_table(("score", "value", "test set", "signature"), rows)


def usage(model: ModelDescription) -> str:
    """Return how the model is used from the command line and from Python."""
    source, target = map(plain, model.files)
    return f"""## How to use it

```console
$ transduce translate MODEL < {source} > {target}
```

```python
import transduce

translate = transduce.load("MODEL")  # this folder
translate("…")
```"""


def shown(value: Value) -> str:
    """A value as people write it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows under a head, as Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(plain(cell) for cell in line) + " |" for line in lines)


def plain(text: str) -> str:
    """Text that stays in its line and its cell."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
