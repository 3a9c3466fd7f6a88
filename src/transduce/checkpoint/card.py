"""The model card (README.md of a model folder): sizes, differences from the paper, scores."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

from transduce.checkpoint.model_files import FIGURE
from transduce.scores.score import Score
from transduce.settings import Recipe
from transduce.settings.data import OWN, ModelDescription
from transduce.settings.recipe import Value, list_deviations, shorten_name

USE = "## How to use it"


@final
@dataclass(frozen=True, kw_only=True)
class CardFacts:
    """The facts of a model card that are not in the recipe, such as parameters, data and scores."""

    description: ModelDescription
    parameters: int
    updates: int
    averaged: Sequence[int] = ()  # steps of the snapshots that were averaged
    text: str = ""  # sha256 of the training files, or the name and settings of a generator
    unit: str = "pair"  # the word for one item of the training text
    pairs_read: int
    # number of dropped pairs by reason, in the filters' order
    left_out: Mapping[str, int] = field(default_factory=dict)
    mixture: Sequence[Sequence[str]] = ()  # a table row for each text of a mixture
    # versions by package name, of the packages used in training
    versions: Mapping[str, str] = field(default_factory=dict)
    figures: Sequence[Score] = ()
    parent: str = ""  # sha256 of the model whose weights the run began with; "" if random
    imported: str = ""  # sha256 of the weights that another program trained; "" if trained here
    size: str = ""  # a line that sums the parameters and compares the sum with the paper's count
    cost: Sequence[str] = ()  # lines that compare hardware, time and operations with the paper's


def format_model_card(recipe: Recipe, facts: CardFacts) -> str:
    """Return the model card as Markdown, with front matter for model hubs."""
    parts = [
        format_head(recipe, facts.description, facts.parameters),
        f"![The encoder and the decoder as blocks, as in Figure 1 of the paper]({FIGURE})",
        format_deviations_section(recipe),
        *format_trained_sections(recipe, facts),
        format_scores_section(facts),
        format_usage_section(facts.description),
    ]
    return "\n\n".join(parts) + "\n"


def format_front_matter(model: ModelDescription, library: str) -> str:
    """Return the card's YAML front matter for model hubs: library, pipeline tag, languages."""
    lines = [f"library_name: {library}", f"pipeline_tag: {model.pipeline_tag}"]
    lines += ["language:"] if model.languages else []
    lines += [f"- {json.dumps(language)}" for language in model.languages]  # JSON strings are YAML
    return "\n".join(["---", *lines, "---"])


def format_head(
    recipe: Recipe, model: ModelDescription, parameters: int, library: str = "transduce"
) -> str:
    """Return the card's front matter, heading, sentence on sizes, and any recipe description."""
    sizes, purpose = recipe.architecture, escape_markdown(model.purpose)
    codes, name = "-".join(model.languages), shorten_name(recipe.name)
    if not (codes and name.startswith(f"{codes}, ")):  # a name with the languages needs no title
        name = f"{name}: {model.title}"
    encoder, decoder = sizes.encoder_depth, sizes.decoder_depth
    layers = f"{encoder} encoder and {decoder} decoder layers"
    if encoder == decoder:
        layers = f"{encoder} layers a stack"
    lines = [
        f"{format_front_matter(model, library)}\n\n# {escape_markdown(name)}",
        "",
        f"A Transformer (Vaswani et al. 2017) of {parameters:,} parameters that "
        f"{purpose}: {layers}, d_model {sizes.d_model}, d_ff {sizes.d_ff}, "
        f"{sizes.heads} heads.",
    ]
    return "\n".join(lines + ([f"\n> {escape_markdown(recipe.about)}"] if recipe.about else []))


def format_deviations_section(recipe: Recipe) -> str:
    """Return the card's section on every setting that differs from the paper's base model."""
    heading = "## Where it differs from the paper's base model\n\n"
    changed = list_deviations(recipe)
    if not changed:
        return heading + "Nowhere: every setting is that of the paper's base model."
    rows = [
        (one.path, format_value(one.paper), format_value(one.here), one.explanation)
        for one in changed
    ]
    because = f"> {escape_markdown(recipe.because)}\n\n" if recipe.because else ""
    head = ("setting", "base model", "here", "source")
    return heading + because + format_markdown_table(head, rows)


def format_trained_sections(recipe: Recipe, facts: CardFacts) -> list[str]:
    """Return the card's sections on data and training; for an imported model, one on its origin."""
    if not facts.imported:
        return [format_data_section(recipe, facts), format_training_section(recipe, facts)]
    origin = f"""## Origin

Another program trained this model; its text, cost and scores are not known here.

- weights: a Marian checkpoint with sha256 `{escape_markdown(facts.imported)}`
- {escape_markdown(facts.size)}"""
    return [origin]


def format_data_section(recipe: Recipe, facts: CardFacts) -> str:
    """Return the card's section on the corpus and on the pairs or trees that filters removed."""
    rows, remaining = [("read", "", f"{facts.pairs_read:,}")], facts.pairs_read
    for reason, count in facts.left_out.items():
        remaining -= count
        rows.append((reason, f"{count:,}", f"{remaining:,}"))
    corpus, title = map(escape_markdown, (recipe.data.corpus, facts.description.title))
    corpus_line = f"Corpus by the recipe: {corpus}, {title}."
    if corpus.startswith(OWN):
        corpus_line = f"Corpus: {corpus}."
    read = [f"What was read, by its sha256 or its generator: `{escape_markdown(facts.text)}`."]
    about = "\n\n".join(["## Data", corpus_line, *(read if facts.text else [])])
    tables = [format_markdown_table((f"{facts.unit}s", "left out", "remain"), rows)]
    if facts.mixture:
        head = ("text", f"{facts.unit}s", "share while all are read", "updates", "tag")
        tables.append(format_markdown_table(head, facts.mixture))
    return "\n\n".join([about, *tables])


def format_training_section(recipe: Recipe, facts: CardFacts) -> str:
    """Return the card's section on updates, averaged snapshots, cost and package versions."""
    lines = [
        "## Training",
        "",
        f"- {facts.updates:,} updates of about {recipe.data.source_tokens:,} source and "
        f"{recipe.data.target_tokens:,} target tokens, seed {recipe.training.seed}",
    ]
    if facts.parent:
        lines.append(f"- begun with the weights of the model with sha256 `{facts.parent}`")
    if facts.averaged:
        steps = ", ".join(f"{step:,}" for step in facts.averaged)
        mean = f"the mean of {len(facts.averaged)} snapshots (section 6.1): steps {steps}"
        lines.append(f"- {mean if len(facts.averaged) > 1 else f'the weights of step {steps}'}")
    lines += [f"- {escape_markdown(line)}" for line in (facts.size, *facts.cost) if line]
    lines += [
        f"- {escape_markdown(name)} {escape_markdown(version)}"
        for name, version in facts.versions.items()
    ]
    return "\n".join(lines)


def format_scores_section(facts: CardFacts) -> str:
    """Return the card's table of scores, with test sets and the metrics' signatures."""
    if not facts.figures:
        return "## Figures\n\nNone were taken."
    rows = [
        (f.name, f"{f.value:.2f}", f"{f.test_set} ({f.lines:,} lines)", f"`{f.signature}`")
        for f in facts.figures
    ]
    head = ("score", "value", "test set", "signature")
    return "## Figures\n\n" + format_markdown_table(head, rows)


def format_usage_section(model: ModelDescription) -> str:
    """Return the card's section on use from the command line and from Python."""
    source, target = map(escape_markdown, model.files)
    return f"""{USE}

```console
$ transduce {model.command} MODEL < {source} > {target}
```

```python
import transduce

model = transduce.load("MODEL")  # this folder
model("…")
```"""


def format_value(value: Value) -> str:
    """Return a setting's value as text: booleans as yes or no, thousands with commas."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


def format_markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table with this header and these rows; their cells are escaped here."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(escape_markdown(cell) for cell in line) + " |" for line in lines
    )


def escape_markdown(text: str) -> str:
    """Return text on one line, with | and < escaped for Markdown tables."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
