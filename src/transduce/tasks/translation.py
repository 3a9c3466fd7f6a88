"""The task of translating lines of one language into lines of another, scored by BLEU."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

from transduce.scores.score import Score
from transduce.settings import Data
from transduce.settings.description import ModelDescription
from transduce.tasks.task import SplitLevel, TaskKind
from transduce.tasks.text import TextToText
from transduce.text.sentences import split_clauses, split_sentences
from transduce.vocabulary.files import Vocabularies


@final
@dataclass(frozen=True)
class Translation(TextToText):
    """The task of translating lines of one language into lines of another, scored by BLEU."""

    metrics: ClassVar[tuple[str, ...]] = ("bleu", "chrf", "ter")
    has_words: ClassVar[bool] = True
    split_levels: ClassVar[tuple[SplitLevel, ...]] = (
        SplitLevel("sentences", split_sentences, " "),
        SplitLevel("clauses", split_clauses, " "),
        SplitLevel("words", str.split, " "),
        SplitLevel("characters", list, ""),
    )

    def score(self, outputs: Sequence[str], references: Sequence[str]) -> Score:
        """Return the corpus BLEU of outputs against references, with the metric's signature."""
        from transduce.scores.scoring import compute_score

        return compute_score("bleu", outputs, references)

    def describe(self, data: Data) -> ModelDescription:
        """Return the title, purpose and example command of this translator for its model card."""
        source, target = data.source_language, data.target_language
        pair = f"{source} to {target}" if len(data.languages) == 2 else ""
        return ModelDescription(
            pipeline_tag="translation",
            languages=tuple(dict.fromkeys(data.languages)),
            title=pair or "translation",
            purpose=f"translates {pair}" if pair else "translates; its languages were not named",
            files=(f"input.{source}", f"output.{target}"),
        )


def build_translation(_data: Data, vocabularies: Vocabularies) -> Translation:
    """Build the translation task from vocabularies."""
    return Translation(vocabularies.source, vocabularies.target)


TRANSLATION = TaskKind(build=build_translation)
