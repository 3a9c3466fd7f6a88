"""Score output lines by a metric, and compare two outputs by paired bootstrap resampling.

Each score has a signature and its test set's name. The resampling (Koehn 2004) tells the
significance of a difference of two scores. Its procedure and defaults are sacreBLEU's: test sets of
equal size are drawn from the lines of the given test set, with replacement, and both outputs are
scored on every drawn set.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, final
from unicodedata import is_normalized

from transduce.allowance import require_short_line
from transduce.datasets.languages import shorten_code
from transduce.errors import InputError, short_repr, suggest_names
from transduce.scores.metrics import METRICS, WITHOUT_BLANKS
from transduce.scores.paper_bleu import describe_paper_comparability
from transduce.scores.sacrebleu_scorers import estimate_ter_seconds
from transduce.scores.score import Metric, Score, Texts
from transduce.scores.test_sets import identify_test_set
from transduce.settings.data import UNNAMED
from transduce.settings.fields import require
from transduce.text.clean import INVISIBLE
from transduce.text.languages import CODE, LANGUAGE_NAMES, read_primary_code

HAN, KANA, HANGUL = "[\u3400-\u9fff]", "[\u3041-\u30ff]", "[\uac00-\ud7a3]"
LONG_MINUTES = 0.5  # a warning comes before a metric that takes longer
HIDDEN = re.compile(f"[\u200c\u200d\u2061-\u2064]|{INVISIBLE.pattern}")
FORMS: Mapping[str, Callable[[str], bool]] = {
    "letters and accents as two characters (not NFC)": partial(is_normalized, "NFC"),
    "invisible characters": lambda line: HIDDEN.search(line) is None,
}
CHINESE = {"cmn": "zh", "yue": "zh"}  # Mandarin and Cantonese
SAMPLES, SEED = 1_000, 12_345  # sacreBLEU's defaults
MOST_SAMPLES = 1_000_000
SIGNIFICANCE_LEVEL = 0.05


def compute_score(
    metric: str | Metric, hypotheses: Sequence[str], *references: Sequence[str], language: str = ""
) -> Score:
    """Score output lines against one or several references, by a metric or by its name.

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
    """Return the metric called `name` for text in `language`; a `Metric` is returned unchanged.

    Without a language, references in Chinese, Japanese or Korean script decide it. Raise
    InputError if the name is unknown or its metric is for another language.
    """
    if isinstance(name, Metric):
        return name
    if name not in METRICS:
        raise InputError(f"unknown score {short_repr(name)}", suggest_names(name, METRICS))
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
    """Return a language's code without script and country, zh for cmn and yue; "" if unnamed."""
    code = "" if language == UNNAMED[1] else shorten_code(read_primary_code(language))
    return CHINESE.get(code, code)


def guess_language(texts: Texts) -> str:
    """Return zh, ja or ko if the first text is mostly in Han, kana or hangul, else ""."""
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
    metrics: Sequence[str], references: Sequence[str], language: str, output_count: int = 1
) -> str:
    """Return a warning if TER on `output_count` outputs may take half a minute or more, else ""."""
    if not {"ter", "ter-any-length"}.intersection(metrics):
        return ""
    code = shorten_language(language) or guess_language([references])
    lengths = (len(line if code in WITHOUT_BLANKS else line.split()) for line in references)
    minutes = output_count * sum(map(estimate_ter_seconds, lengths)) / 60
    if minutes < LONG_MINUTES:
        return ""
    duration = f"{minutes:,.0f} minutes" if minutes >= 1.5 else "a minute"
    hint = "--metric bleu alone leaves it out"
    return f"TER alone may take {duration} for lines of so many words; {hint}"


def warn_of_mixed_forms(texts: Mapping[str, Sequence[str]]) -> str:
    """Return a warning if only some texts are in NFC or have invisible characters, else ""."""
    for fact, fits in FORMS.items():
        misfits = [name for name, text in texts.items() if not all(map(fits, text))]
        if 0 < len(misfits) < len(texts):
            return f"{misfits[0]} has {fact}, so that words with them match no others"
    return ""


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
                f"an output has {len(hypotheses):,} lines, and its reference {len(text):,}",
                "line n of the one belongs to line n of the other; an empty line counts",
            )


# --- The significance of a difference -------------------------------------------------------------


@final
@dataclass(frozen=True)
class Comparison:
    """Two outputs' scores by one metric, and the significance of the scores' difference."""

    ours: Score
    theirs: Score
    low: float  # 95 % of the resampled differences lie between low and high
    high: float
    p: float  # probability of this difference for equally good outputs, as sacreBLEU estimates it
    samples: int  # number of resampled test sets
    seed: int

    @property
    def difference(self) -> float:
        """The score of the first output (`ours`) minus that of the second (`theirs`)."""
        return self.ours.value - self.theirs.value

    def __str__(self) -> str:
        better = "" if self.ours.higher_is_better else " (lower is better)"
        includes_0, is_low = self.low <= 0 <= self.high, self.p < SIGNIFICANCE_LEVEL
        verdict = "more than chance" if is_low and not includes_0 else "may be chance"
        if is_low and includes_0:
            verdict = f"but the range includes 0: {verdict}"
        return (
            f"{self.ours.name} {self.difference:+.2f}, the first minus the second{better}"
            f" | {self.low:+.2f} to {self.high:+.2f} in 95 %"
            f" of {self.samples:,} resampled test sets"
            f" | p = {self.p:.4f}, {verdict} | paired bootstrap, seed {self.seed}"
        )

    def as_json(self) -> dict[str, Any]:
        """Return the comparison as plain values for JSON."""
        return {"name": self.ours.name, "difference": self.difference, **asdict(self)}


def compare_outputs(
    metric: str | Metric,
    outputs: tuple[Sequence[str], Sequence[str]],
    *references: Sequence[str],
    language: str = "",
    samples: int = SAMPLES,
    seed: int = SEED,
) -> Comparison:
    """Score two outputs against the same references and test the difference by resampling."""
    require(samples >= 40, f"{short_repr(samples)} samples have no 95 % of them", "--samples 1000")
    fact = f"{short_repr(samples)} samples are more than {MOST_SAMPLES:,}"
    require(samples <= MOST_SAMPLES, fact, "--samples 1000")
    require(0 <= seed < 1 << 64, f"a seed is 0 or more, up to 2^64 - 1, not {short_repr(seed)}")
    ours, theirs = (compute_score(metric, one, *references, language=language) for one in outputs)
    chosen = find_metric(metric, language, references)
    a, b = (list(resample_scores(chosen, (one, *references), samples, seed)) for one in outputs)
    low, high, p = measure_significance(ours.value - theirs.value, a, b)
    return Comparison(ours, theirs, low, high, p, samples, seed)


def resample_scores(chosen: Metric, texts: Texts, samples: int, seed: int) -> Iterator[float]:
    """Yield an output's score on each of `samples` test sets that are drawn from its lines.

    The output is the first of `texts`, its references follow. Lines are drawn with replacement.
    Equal seeds draw the same lines, so that two outputs are scored on the same test sets.
    """
    import numpy as np

    texts, _ = preprocess_texts(chosen, texts)
    counts = np.array(chosen.scorer.count_lines(texts), np.float32)
    draw = np.random.default_rng(seed)
    for _ in range(samples):
        lines = draw.choice(len(counts), size=len(counts), replace=True)
        yield chosen.scorer.score_sums(counts[lines].sum(0))


def measure_significance(
    difference: float, ours: Sequence[float], theirs: Sequence[float]
) -> tuple[float, float, float]:
    """Return (low, high, p): the 95 % interval of two outputs' score difference, and its p-value.

    `ours` and `theirs` are the scores on each sample. 95 % of their differences lie between low and
    high. p is about the share of samples where |ours - theirs| - |difference| exceeds its mean.
    """
    import numpy as np

    a, b = np.array(ours), np.array(theirs)
    spread = np.abs(a - b) - np.abs(a - b).mean()
    beyond = int((spread > abs(difference)).sum())
    cut = len(a) // 40
    inner = np.sort(a - b)[cut : len(a) - cut]
    # Outputs with equal scores on every sample get p = 1; sacreBLEU's formula would give almost 0.
    p = (beyond + 1) / (len(a) + 1) if (a != b).any() else 1.0
    return float(inner[0]), float(inner[-1]), p
