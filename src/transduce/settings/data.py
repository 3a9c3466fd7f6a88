"""Settings of the data: corpus, cleaning, vocabulary, the size of an update."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from transduce.settings.fields import (
    from_paper,
    our_choice,
    require,
    require_at_most,
    require_one_of,
    require_positive,
    require_probability,
    require_types,
)

TASKS = ("translation", "copy", "reverse", "sort", "parsing", "tagging", "signal")
LINEARISATIONS = ("xx", "numbered", "tags", "t2t")
OWN = "your own"  # begins the corpus name of a user's own text
UNNAMED = ("source", "target")  # stand-ins for languages that file names do not show
VOCABULARIES = ("byte-pair", "word-piece", "word", "sentencepiece")
LABEL_SCHEMES = ("raw", "bio", "iob1")
# the changes that an epoch makes to some pairs, in this order; each setting is a share of pairs
CHANGES = ("short_input", "copied_token", "typos", "no_end_mark", "title_case", "upper_case")


@final
@dataclass(frozen=True, kw_only=True)
class Data:
    """Settings of task, corpus, vocabulary, cleaning, changed pairs and size of updates    (5.1)"""

    task: str = our_choice("translation", "how text is encoded, outputs decoded and scored")
    linearisation: str = our_choice(
        "xx",
        "parsing: trees as symbols; xx: (NP XX )NP; numbered: (NP XX1 )NP; tags: (NP NN )NP; "
        "t2t: NP NN /NP",
    )
    label_scheme: str = our_choice(
        "raw", "tagging: labels stand for themselves (raw) or for spans (bio, iob1)"
    )
    source_row: int = our_choice(
        0, "signal: pixels of a row of source pictures, or samples of a second of sound; 0: text"
    )
    target_row: int = our_choice(0, "signal: pixels of a row of target pictures; 0: text")
    corpus: str = from_paper("wmt14-en-de", "5.1", "WMT 2014, about 4.5 million sentence pairs")
    source_language: str = from_paper("en", "5.1", "the source language is English")
    target_language: str = from_paper("de", "5.1", "the target language is German")
    vocabulary: str = from_paper(
        "byte-pair",
        "5.1",
        "byte-pair encoding; word-pieces for English to French; word: words of tokenised text; "
        "sentencepiece: that of an imported model",
    )
    vocabulary_size: int = from_paper(37_000, "5.1", "about 37,000 symbols")
    shared_vocabulary: bool = from_paper(True, "5.1", "source and target share one vocabulary")
    source_tokens: int = from_paper(25_000, "5.1", "about 25,000 source tokens per update")
    target_tokens: int = from_paper(25_000, "5.1", "about 25,000 target tokens per update")
    max_pairs: int = our_choice(0, "number of first pairs to train on; 0: all pairs")
    max_length: int = our_choice(
        256, "most pieces of a sentence, END included; pairs with a longer side are dropped"
    )
    max_characters: int = our_choice(5_000, "pairs with a side of more characters are dropped")
    max_length_ratio: float = our_choice(
        9.0, "pairs with a larger ratio of their lengths in characters are dropped"
    )
    drop_identical: bool = our_choice(True, "drop pairs with equal sides, which teach copying")
    drop_duplicates: bool = our_choice(True, "drop repeated pairs, detected by a hash")
    short_input: float = our_choice(
        0.0,
        "share of pairs cut to one sentence or first clause, of those whose sides have equal marks",
    )
    copied_token: float = our_choice(
        0.0, "share of pairs that get a name, code, emoji or URL at an end of both sides"
    )
    typos: float = our_choice(0.0, "share of pairs whose source gets typing errors")
    no_end_mark: float = our_choice(0.0, "share of pairs that lose the end mark, such as a stop")
    title_case: float = our_choice(0.0, "share of pairs whose words begin with capitals")
    upper_case: float = our_choice(0.0, "share of pairs in upper case")

    @property
    def has_changed_pairs(self) -> bool:
        """Whether training reads some pairs in another form, such as in upper case."""
        return any(getattr(self, name) for name in CHANGES)

    def __post_init__(self) -> None:
        require_types(self)
        require_probability(self, *CHANGES)
        for name in CHANGES:
            require(
                not getattr(self, name) or self.vocabulary != "word",
                f"data.{name} changes text, and data.vocabulary is word",
                f"leave out data.{name}; it is for translation without a vocabulary of words",
            )
        require_positive(
            self,
            "source_tokens",
            "target_tokens",
            "max_length",
            "max_characters",
            "max_length_ratio",
        )
        require_at_most(self, 65_536, "max_length")  # architecture.max_positions has the same limit
        require_at_most(self, 1_000_000_000, "source_tokens", "target_tokens", "max_characters")
        require_at_most(self, 1_000_000_000, "max_length_ratio")
        require_at_most(self, 1_000_000_000_000, "max_pairs")
        require_one_of(self, "task", TASKS)
        require_one_of(self, "linearisation", LINEARISATIONS)
        require_one_of(self, "label_scheme", LABEL_SCHEMES)
        require_at_most(self, 1_000_000, "source_row", "target_row")
        for name in ("source_row", "target_row"):
            row = getattr(self, name)
            require(row >= 0, f"data.{name} must be 0 or more, not {row}")
        require(self.max_pairs >= 0, f"data.max_pairs must not be negative, it is {self.max_pairs}")
        require_one_of(self, "vocabulary", VOCABULARIES)
        require(
            self.vocabulary != "word" or not self.shared_vocabulary,
            "source and target cannot share a vocabulary of words",
            "--set data.shared_vocabulary=false",
        )
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

    @property
    def languages(self) -> tuple[str, ...]:
        """The codes of the source and the target language; unnamed ones are left out."""
        both = (self.source_language, self.target_language)
        return tuple(name for name, unnamed in zip(both, UNNAMED, strict=True) if name != unnamed)


@final
@dataclass(frozen=True, kw_only=True)
class ModelDescription:
    """The texts and Hugging Face tags of a model card that say what the model does."""

    pipeline_tag: str  # the Hugging Face hub's name of the task, such as translation
    languages: Sequence[str] = ()  # language codes for the hub, such as en and de
    title: str  # the card's title, such as "en to de"
    purpose: str  # the end of the sentence "a Transformer that …"
    command: str = "translate"  # subcommand of transduce in the card's example
    # names of the input and output file in the card's example
    files: tuple[str, str] = ("input.txt", "output.txt")
