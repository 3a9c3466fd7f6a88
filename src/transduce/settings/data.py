"""What is trained on: corpus, cleaning, vocabulary, the size of an update."""

from dataclasses import dataclass
from typing import final

from transduce.settings.fields import (
    chosen,
    require,
    require_at_most,
    require_one_of,
    require_positive,
    stated,
)

TASKS = ("translation", "copy", "reverse", "sort")


@final
@dataclass(frozen=True, kw_only=True)
class Data:
    """From text to updates    (section 5.1)"""

    task: str = chosen("translation", "what the pairs mean, and so how outputs are scored")
    corpus: str = stated("wmt14-en-de", "5.1", "WMT 2014, about 4.5 million pairs")
    source_language: str = stated("en", "5.1", "from English")
    target_language: str = stated("de", "5.1", "to German")
    vocabulary: str = stated("byte-pair", "5.1", "byte-pair; word-piece for English to French")
    vocabulary_size: int = stated(37_000, "5.1", "about 37,000 symbols")
    shared_vocabulary: bool = stated(True, "5.1", "source and target share one vocabulary")
    source_tokens: int = stated(25_000, "5.1", "about 25,000 source tokens an update")
    target_tokens: int = stated(25_000, "5.1", "and about 25,000 target tokens")
    max_pairs: int = chosen(0, "train on the first so many pairs; 0 takes all there are")
    max_length: int = chosen(256, "pairs with more pieces on a side are left out and counted")
    max_characters: int = chosen(5_000, "lines with more characters are left out and counted")
    max_length_ratio: float = chosen(
        9.0, "pairs whose lengths in characters differ more are left out"
    )
    drop_identical: bool = chosen(True, "pairs with equal sides teach copying, not translation")
    drop_duplicates: bool = chosen(True, "a pair seen before is left out, in one pass by hash")

    def __post_init__(self) -> None:
        require_positive(
            self,
            "source_tokens",
            "target_tokens",
            "max_length",
            "max_characters",
            "max_length_ratio",
        )
        require_one_of(self, "task", TASKS)
        require(self.max_pairs >= 0, f"data.max_pairs must not be negative, it is {self.max_pairs}")
        require_one_of(self, "vocabulary", ("byte-pair", "word-piece"))
        require(
            self.vocabulary_size >= 258,
            f"data.vocabulary_size must be at least 258, not {self.vocabulary_size}",
            "two special symbols and the 256 bytes come first",
        )
        require_at_most(self, 2_000_000, "vocabulary_size")
        for name in ("source_tokens", "target_tokens"):
            require(
                getattr(self, name) >= self.max_length,
                f"data.{name} is {getattr(self, name)}, but a sentence may have "
                f"{self.max_length} pieces (data.max_length)",
                "an update must hold at least one pair: raise the one or lower the other",
            )
