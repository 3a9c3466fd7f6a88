"""Scoring of output lines by a metric; each score has a signature and its test set's name."""

import re
from collections.abc import Mapping, Sequence
from unicodedata import is_normalized

from transduce.allowance import require_short_line
from transduce.datasets.languages import shorten_code
from transduce.errors import InputError, short_repr, suggest_names
from transduce.scores.metric import Metric, Texts
from transduce.scores.metrics import METRICS, WITHOUT_BLANKS
from transduce.scores.paper_bleu import describe_paper_comparability
from transduce.scores.sacrebleu_scorers import estimate_ter_seconds
from transduce.scores.score import Score
from transduce.scores.test_sets import identify_test_set
from transduce.settings.data import UNNAMED
from transduce.text.languages import CODE, LANGUAGE_NAMES, read_primary_code

HAN, KANA, HANGUL = "[\u3400-\u9fff]", "[\u3041-\u30ff]", "[\uac00-\ud7a3]"
LONG_MINUTES = 0.5  # a warning comes before a metric that takes longer
CHINESE = {"cmn": "zh", "yue": "zh"}  # Mandarin and Cantonese


def compute_score(
    metric: str | Metric, hypotheses: Sequence[str], *references: Sequence[str], language: str = ""
) -> Score:
    """Score output lines against one or several references by a metric, given by value or name.

    `language` is the language of the text, which decides what counts as a word in Chinese, Japanese
    and Korean; the paper's BLEU refuses any text not given as "de".
    """
    chosen = find_metric(metric, language, references)
    require_parallel(hypotheses, references)
    texts, suffix = preprocess_texts(chosen, (hypotheses, *references))
    test_set = " + ".join(map(identify_test_set, references))
    comparable = describe_paper_comparability(metric, test_set) if isinstance(metric, str) else ""
    result = chosen.scorer.score(texts)
    return Score(
        name=chosen.name,
        value=result.value,
        signature=f"{result.signature}{suffix}",
        lines=len(hypotheses),
        test_set=test_set,
        details=result.details,
        paper_comparability=comparable,
        higher_is_better=chosen.higher_is_better,
    )


def find_metric(name: str | Metric, language: str, references: Texts = ()) -> Metric:
    """Return the metric with this name for text in `language`; return a `Metric` unchanged.

    Without a language, a Chinese, Japanese or Korean script of the references decides. Raise
    InputError if the name is unknown or its metric is for another language.
    """
    if isinstance(name, Metric):
        return name
    if name not in METRICS:
        raise InputError(f"unknown score {name!r}", suggest_names(name, METRICS))
    code = shorten_language(language) or guess_language(references)
    first = METRICS[name]
    chosen = first.variants.get(code, first)
    if chosen.language not in ("", code):
        known = " and ".join(LANGUAGE_NAMES[one] for one in (first.language, *first.variants))
        given = repr(language) if language else "not given"
        raise InputError(
            f"{name} is for {known} only, and the language of this text is {given}",
            f"--language {first.language} if it is {LANGUAGE_NAMES[first.language]}; "
            "--metric bleu is for any language",
        )
    return chosen


def require_language(language: object) -> None:
    """Raise InputError unless a language is "" or a code in the form of de, ZH or pt-BR."""
    is_code = isinstance(language, str) and re.fullmatch(CODE, language, re.IGNORECASE | re.ASCII)
    if language != "" and not is_code:
        raise InputError(f"language must be a code such as de, not {short_repr(language)}")


def shorten_language(language: str) -> str:
    """Return a language's code without script and country; "" if the language is not named."""
    code = "" if language == UNNAMED[1] else shorten_code(read_primary_code(language))
    return CHINESE.get(code, code)


def guess_language(texts: Texts) -> str:
    """Return zh, ja or ko if most letters of the first text are in that script, else ""."""
    text = "".join(texts[0]) if texts else ""
    han, kana, hangul = (len(re.findall(script, text)) for script in (HAN, KANA, HANGUL))
    if 2 * (han + kana + hangul) <= len(re.findall(r"[^\W\d_]", text)):
        return ""
    if hangul > han + kana:
        return "ko"
    return "ja" if 20 * kana > han + kana else "zh"  # a Japanese sentence has kana in its endings


def require_scorable(metrics: Sequence[str], references: Sequence[str], language: str) -> None:
    """Raise InputError if a metric cannot use these references; outputs are not needed yet."""
    for metric in metrics:
        preprocess_texts(find_metric(metric, language, [references]), ([], references))


def describe_slow_metrics(
    metrics: Sequence[str], references: Sequence[str], language: str, outputs: int = 1
) -> str:
    """Return a warning if TER takes over half a minute for `outputs` such outputs, else ""."""
    if not {"ter", "ter-any-length"}.intersection(metrics):
        return ""
    code = shorten_language(language) or guess_language([references])
    lengths = (len(line if code in WITHOUT_BLANKS else line.split()) for line in references)
    minutes = outputs * sum(map(estimate_ter_seconds, lengths)) / 60
    if minutes < LONG_MINUTES:
        return ""
    duration = f"{minutes:,.0f} minutes" if minutes >= 1.5 else "a minute"
    hint = "--metric bleu --metric chrf leave it out"
    return f"TER alone may take {duration} for lines of so many words; {hint}"


def find_decomposed(texts: Mapping[str, Sequence[str]]) -> str:
    """Return a warning if one of these texts (by name) has decomposed letters, and another not."""
    parts = {name: all(is_normalized("NFC", line) for line in text) for name, text in texts.items()}
    if len({*parts.values()}) < 2:
        return ""
    name = next(name for name, is_composed in parts.items() if not is_composed)
    return f"{name} has letters and accents as two characters, so that no such letter matches (NFC)"


def preprocess_texts(chosen: Metric, texts: Texts) -> tuple[Texts, str]:
    """Return the preprocessed texts for a metric's scorer, and the suffix of its signature.

    Raise InputError for a line that is too long to be scored.
    """
    for text in texts:
        for number, line in enumerate(text, start=1):
            require_short_line(line, number)
    return chosen.preprocess(texts)


def require_parallel(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> None:
    """Raise InputError if a text is missing or empty or the numbers of lines differ."""
    if not references:
        raise InputError("there is no reference to score against")
    if not hypotheses:
        raise InputError("there are no lines to score", "look at the files")
    for text in references:
        if len(text) != len(hypotheses):
            raise InputError(
                f"{len(hypotheses):,} lines are to be scored, but the reference has {len(text):,}",
                "line n of the one belongs to line n of the other; an empty line counts",
            )
