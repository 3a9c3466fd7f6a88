"""The class `Translator`, which turns lines into outputs in order; empty lines stay empty."""

import math
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields, replace
from functools import partial
from importlib import import_module
from itertools import accumulate, chain, pairwise
from operator import methodcaller
from typing import Any, final, overload

import torch

from transduce.equip import choose_lines, equip_for_long_searches
from transduce.errors import InputError, suggest_names
from transduce.inference.alignment import Aligner
from transduce.inference.keeping import keep_items
from transduce.inference.lines import (
    HINT,
    EncodedLine,
    Item,
    Line,
    LineWarning,
    OnWarning,
    Pair,
    encode_line,
    number_lines,
    split_into_blocks,
)
from transduce.inference.outputs import (
    Alignment,
    BlockResult,
    Combination,
    Output,
    collect_warnings,
    combine_best,
    combine_samples,
    join_parts,
    keep_different,
    sample_sources,
    search_sources,
)
from transduce.inference.pairs import (
    encode_pairs,
    find_unscorable,
    number_pairs,
    require_matches,
    score_pairs,
)
from transduce.inference.workers import run_in_workers
from transduce.machine.process_settings import (
    collect_garbage_rarely,
    keep_freed_memory,
    use_threads,
)
from transduce.paper.model import Transformer
from transduce.paper.search import Hypothesis
from transduce.settings import Recipe, Search
from transduce.settings.alignment import AlignmentHeads
from transduce.settings.fields import require
from transduce.settings.recipe import shorten_name
from transduce.settings.search import Sampling
from transduce.tasks import Task, TextToText
from transduce.text.arguments import (
    Text,
    check_lines,
    describe_value,
    require_count,
    require_equal_lines,
    require_lines,
    require_string,
)

WORKER_BLOCK = 250  # lines per request to a worker: few enough that all workers get requests
LINES_AT_ONCE = 2_000  # lines read at once; those of similar length are searched together
PART_BITS = 20  # a sample's key is the line's number and, in these low bits, the part's number
LAST_LINE = 1 << 62 - PART_BITS  # the highest line number, so that a key has at most 63 bits

Texts = list[str] | tuple[str, ...]
CARRIED = ("sampling_settings", "alignment_heads", "aligns", "strict", "keep")  # to workers
UNKNOWN = (math.nan, math.nan)  # score and log P of a pair that cannot be scored


def warn_user(warning: LineWarning) -> None:
    """Issue a line's warning as a Python UserWarning."""
    warnings.warn(str(warning), UserWarning, stacklevel=2)


@final
@dataclass(frozen=True)
class Translator:
    """A callable from source text to translations: models, their task, and search settings."""

    models: tuple[Transformer, ...]  # several are an ensemble
    task: Task
    recipe: Recipe  # the first model's, with the ensemble's search settings and data.max_length
    hashes: tuple[str, ...] = ()  # sha256 of each model's manifest, if it was read from a folder
    sampling_settings: Sampling | None = None  # None: beam search
    alignment_heads: AlignmentHeads | None = None  # None: all heads of the middle layer
    aligns: bool = False  # whether outputs have word alignments
    strict: bool = False  # whether to refuse sentences too long for the models, not split them
    keep: bool = True  # whether placeholders, URLs and e-mail addresses come back as they were
    on_warning: OnWarning = warn_user  # called with each warning about a line
    precision: str = "float32"  # number format in which the models compute
    workers: int = 1  # processes of one thread each that share the lines
    reload: "Callable[[], Translator] | None" = None  # loads the models again, in a worker process

    def __post_init__(self) -> None:
        for model in self.models:  # checks that learned positions cover the longest output
            replace(self.recipe, architecture=model.sizes)

    def __repr__(self) -> str:
        name, data, count = shorten_name(self.recipe.name), self.recipe.data, len(self.models)
        others = f", {count} models" if count > 1 else ""
        return f"<{name}: {data.source_language} to {data.target_language}{others}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the folders and settings, since packed weights are for this machine only."""
        if self.reload is None:
            fact = "a translator cannot be pickled if its models were not read from a folder"
            raise InputError(fact, "transduce.load(folder)")
        names = (*CARRIED, "on_warning", "workers")
        changes = {name: getattr(self, name) for name in names}
        return reload_translator, (self.reload, self.hashes, self.recipe.search, changes)

    def __copy__(self) -> "Translator":
        return self  # nothing changes it

    def __deepcopy__(self, _memo: object) -> "Translator":
        return self

    @overload
    def __call__(self, text: str, *, prefix: str | None = None) -> Any: ...  # noqa: ANN401
    @overload
    def __call__(self, text: Texts, *, prefix: Texts | None = None) -> list[Any]: ...
    def __call__(self, text: Any, *, prefix: Any = None) -> Any:
        """Return the output of one text, or a list of the outputs of several texts.

        An output is a string for translation, a `Tree` for parsing, a list of labels for tagging.
        The output begins with `prefix` if one is given.
        """
        outputs = self.nbest(text, 1, prefix=prefix)
        if isinstance(text, str):
            return self.task.parse_output(outputs[0].text)
        return [self.task.parse_output(best[0].text) for best in outputs]

    @overload
    def nbest(self, text: str, n: int, *, prefix: str | None = None) -> list[Output]: ...
    @overload
    def nbest(self, text: Texts, n: int, *, prefix: Texts | None = None) -> list[list[Output]]: ...
    def nbest(self, text: Any, n: int, *, prefix: Any = None) -> list[Any]:
        """Return the `n` best `Output`s of a text, best first; for several texts, a list of lists.

        Outputs of a search have different texts, so there may be fewer than `n`.
        """
        if not isinstance(text, str):
            require_lines("text", text)
            return list(self.nbest_lines(text, n, prefixes=prefix))
        require_string("text", text)
        if prefix is not None:
            require_string("prefix", prefix)
        one = replace(self, workers=1)
        (outputs,) = one.nbest_lines([text], n, prefixes=None if prefix is None else [prefix])
        return outputs

    def translate_lines(
        self, lines: Iterable[str], *, prefixes: Iterable[str] | None = None
    ) -> Iterator[str]:
        """Yield the best translation of every line of an iterable, lazily and in order."""
        return (outputs[0].text for outputs in self.nbest_lines(lines, prefixes=prefixes))

    def nbest_lines(
        self,
        lines: Iterable[str],
        n: int = 1,
        *,
        block: int = LINES_AT_ONCE,
        prefixes: Iterable[str] | None = None,
        first: int = 1,
    ) -> Iterator[list[Output]]:
        """Yield each line's `n` best outputs, in order; warnings number lines from `first`.

        Lines are read `block` at a time; with several workers 250, and some blocks ahead. With one
        worker on a GPU, a `block` above 1 is at least 16,384. Samples depend on line numbers, too.
        """
        require_count("n", n)
        require_count("block", block)
        require_count("first", first)
        require(first <= LAST_LINE, f"first is {first:,}, above {LAST_LINE:,}", "count from 1")
        require_lines("lines", lines)
        if prefixes is not None:
            require_lines("prefixes", prefixes)
            prefixes = check_lines("prefixes", prefixes)
        numbered = number_lines(check_lines("lines", lines), prefixes, first)
        return self.run_on_blocks(numbered, block, "translate_block", n)

    def likelihood(
        self, pairs: Iterable[tuple[str, str]], *, block: int = LINES_AT_ONCE
    ) -> Iterator[Output]:
        """Yield the target of each (source, target) pair, with its score and log P, lazily.

        A pair that cannot be scored, such as one too long, gets nan for both, and a warning.
        """
        return self.run_on_pairs("score_block", pairs, block)

    @overload
    def align(self, source: str, target: str) -> Alignment: ...
    @overload
    def align(self, source: Texts, target: Texts) -> list[Alignment]: ...
    def align(self, source: Any, target: Any) -> Any:
        """Return one `Alignment`, links of source to target words; for two lists, one per pair."""
        if isinstance(source, str) and isinstance(target, str):
            (alignment,) = self.align_pairs([(source, target)])
            return alignment
        if isinstance(source, str) or isinstance(target, str):
            wrong = target if isinstance(source, str) else source
            raise InputError(
                f"source and target must be two strings or two lists, not a string and "
                f"{describe_value(wrong)}"
            )
        require_lines("source", source)
        require_lines("target", target)
        sources, targets = list(check_lines("source", source)), list(check_lines("target", target))
        require_equal_lines(source=sources, target=targets)
        return list(self.align_pairs(zip(sources, targets, strict=True)))

    def align_pairs(
        self, pairs: Iterable[tuple[str, str]], *, block: int = LINES_AT_ONCE
    ) -> Iterator[Alignment]:
        """Yield the word alignment of each (source, target) pair, lazily and in order.

        A pair that is too long for the model has no links, and a warning.
        """
        found = self.run_on_pairs("align_block", pairs, block)
        return (output.alignment or Alignment() for output in found)

    def run_on_pairs(
        self, method: str, pairs: Iterable[tuple[str, str]], block: int
    ) -> Iterator[Output]:
        """Yield each pair's output, in order; `method` names the method that computes a block."""
        require_count("block", block)
        require_lines("pairs", pairs)
        found = self.run_on_blocks(number_pairs(pairs), block, method)
        return (output for (output,) in found)

    def run_on_blocks(
        self, items: Iterable[Item], block: int, method: str, *arguments: object
    ) -> Iterator[list[Output]]:
        """Yield each item's outputs, in order; `method` names the method that computes a block.

        An item is a line or a pair. A block has `block` items, or 250 with several workers. With
        one worker on a GPU it has at least 16,384 items, unless `block` is 1.
        """
        device = self.models[0].output.weight.device
        size = WORKER_BLOCK if self.workers > 1 else choose_lines(device, block)
        calls = (methodcaller(method, some, *arguments) for some in split_into_blocks(items, size))
        if self.workers > 1:
            results = run_in_workers(self.worker_loader(), calls, self.workers)
        else:
            no_autocast = torch.autocast(device.type, enabled=False)  # whatever the caller has set
            results = (no_autocast(call)(self) for call in calls)
        return report_warnings(results, self.on_warning)

    def evaluate(
        self,
        source: Text,
        reference: Text | None = None,
        *,
        metrics: Sequence[str] | None = None,
        language: str | None = None,
        contrast: bool = False,
    ) -> Any:  # noqa: ANN401
        """Translate a test set and score it: see `transduce.evaluate`."""
        return import_module("transduce").evaluate(
            self, source, reference, metrics=metrics, language=language, contrast=contrast
        )

    def attend(self, text: str, target: str | None = None) -> Any:  # noqa: ANN401
        """Return the attention weights for a text and its output: see `transduce.attend`."""
        return import_module("transduce").attend(self, text, target)

    def explain(self, *texts: str, **settings: int | str) -> Any:  # noqa: ANN401
        """Return a web page that runs this model and shows every step: see `transduce.explain`."""
        return import_module("transduce").explain(self, *texts, **settings)

    def searching(self, **changes: int | float | str) -> "Translator":
        """Return a translator with other settings of the beam search, such as `beam=8`."""
        require_known("searching", changes, Search)
        search: Search = replace(self.recipe.search, **changes)  # type: ignore[arg-type]
        for name, penalty in (("alpha", "gnmt"), ("gamma", "reward")):
            fact = f"{name} is of the penalty {penalty}, and the penalty here is {search.penalty}"
            hint = f"add --penalty {penalty}, or leave --{name} out"
            require(name not in changes or search.penalty == penalty, fact, hint)
        for name in {"beam", "stop"} & changes.keys():
            fact = f"{name} is of a search, and this translator samples"
            require(self.sampling_settings is None, fact, "choose it before `sampling`")
        return replace(self, recipe=replace(self.recipe, search=search))

    def sampling(self, **changes: int | float) -> "Translator":
        """Return a translator that samples; keywords: `temperature`, `top_k`, `top_p`, `seed`."""
        require_known("sampling", changes, Sampling)
        before = self.sampling_settings or Sampling()
        settings: Sampling = replace(before, **changes)  # type: ignore[arg-type]
        return replace(self, sampling_settings=settings)

    def aligning(self, **changes: int | Sequence[int]) -> "Translator":
        """Return a translator that also aligns words; `changes` are fields of `AlignmentHeads`."""
        require_known("aligning", changes, AlignmentHeads)
        return replace(self, aligns=True, alignment_heads=self.aligner.change_heads(changes))

    @property
    def aligner(self) -> Aligner:
        """The word aligner that uses this translator's model and the heads in `alignment_heads`."""
        return Aligner(self.models, self.task, self.recipe, self.alignment_heads)

    @property
    def keeps_items(self) -> bool:
        """Whether URLs, placeholders and the like are kept, which needs a text-to-text model."""
        return self.keep and isinstance(self.task, TextToText) and self.task.has_words

    def translate_block(self, lines: Sequence[Line], n: int) -> BlockResult:
        """Translate a block of lines; return the `n` best outputs of each line."""
        if not self.keeps_items:
            return self.search_block(lines, n)
        found = keep_items(
            lines,
            lambda some, links: replace(self, aligns=self.aligns or links).search_block(some, n),
            can_align=len(self.models) == 1,
        )
        if self.aligns:
            return self.aligner.align_kept(lines, found)
        plain = [
            [replace(one, alignment=None) if one.alignment else one for one in best]
            for best in found.outputs
        ]
        return replace(found, outputs=plain)

    def search_block(self, lines: Sequence[Line], n: int) -> BlockResult:
        """Return each line's `n` best outputs from one search; URLs are not protected."""
        encoded = [encode_line(line, self.task, self.recipe, strict=self.strict) for line in lines]
        parts = [
            (source, line.number << PART_BITS | index)
            for line, one in zip(lines, encoded, strict=True)
            for index, source in enumerate(one.sources)
        ]
        is_search = self.sampling_settings is None
        # outputs may have equal texts, so the search returns all that the beam holds
        wanted = max(n, self.recipe.search.beam) if is_search and n > 1 else n
        sources, keys = [source for source, _ in parts], [key for _, key in parts]
        hypotheses = self.decode_sources(sources, keys, wanted)
        ends = accumulate((len(one.sources) for one in encoded), initial=0)
        found = [hypotheses[i:j] for i, j in pairwise(ends)]
        combine = combine_best if is_search else combine_samples
        by_line = list[tuple[EncodedLine, list[Combination]]]()
        outputs = list[list[Output]]()
        for line, parts_found in zip(encoded, found, strict=True):
            chosen = combine(parts_found, wanted)
            best = join_parts(line, chosen, self.task)
            if is_search:
                chosen, best = keep_different(chosen, best, n)
            by_line.append((line, chosen))
            outputs.append(best)
        if self.aligns:
            outputs = self.aligner.add_alignments(lines, by_line, outputs)
        faults = [collect_warnings(line, chosen[0], self.task) for line, chosen in by_line]
        return BlockResult(outputs, list(chain.from_iterable(faults)))

    def decode_sources(
        self, sources: Sequence[Sequence[int]], keys: Sequence[int], n: int
    ) -> list[list[Hypothesis]]:
        """Return the `n` best hypotheses of each source, or `n` samples that depend on its key."""
        search, sampling = self.recipe.search, self.sampling_settings
        if sampling is None:
            return search_sources(self.models, sources, search, n)
        return sample_sources(self.models, sources, keys, search, sampling, n)

    def score_block(self, pairs: Sequence[Pair]) -> BlockResult:
        """Score targets; an unscorable one gets nan and a warning, or InputError if `strict`."""
        require_matches(pairs, self.recipe.data)
        encoded = encode_pairs(pairs, self.task)
        warnings = {pair.number: find_unscorable(pair, self.recipe) for pair in encoded}
        faults = [warning for warning in warnings.values() if warning]
        if faults and self.strict:
            raise InputError(str(faults[0]), HINT)
        fitting = [pair for pair in encoded if not warnings[pair.number]]
        scores = iter(score_pairs(self.models, fitting, self.recipe))
        outputs = [
            Output(pair.target, *(UNKNOWN if warnings[pair.number] else next(scores)))
            for pair in pairs
        ]
        return BlockResult([[output] for output in outputs], faults)

    def align_block(self, pairs: Sequence[Pair]) -> BlockResult:
        """Align pairs; one too long gets no links and a warning, or InputError if `strict`."""
        found = self.aligner.align_texts(pairs)
        warnings = [warning for _, warning in found if warning]
        if warnings and self.strict:
            raise InputError(str(warnings[0]), HINT)
        both = zip(pairs, found, strict=True)
        return BlockResult(
            [[Output(pair.target, *UNKNOWN, links)] for pair, (links, _) in both], warnings
        )

    def worker_loader(self) -> "Callable[[], Translator]":
        """Return a function that loads this translator in a worker; refuse if it has no folder."""
        if self.reload is None:
            raise InputError(
                "workers must be 1 for models that were not read from a folder",
                "transduce.load(folder, workers=N)",
            )
        changes = {name: getattr(self, name) for name in CARRIED}
        reload = partial(load_for_long_searches, self.reload, threads=1)
        return partial(reload_translator, reload, self.hashes, self.recipe.search, changes)


def report_warnings(
    results: Generator[BlockResult, None, None], on_warning: OnWarning
) -> Generator[list[Output], None, None]:
    """Yield every line's outputs; call `on_warning` with a block's warnings before its first line.

    Closing this generator closes `results`, which ends the worker processes.
    """
    with closing(results):
        for result in results:
            for warning in result.warnings:
                on_warning(warning)
            yield from result.outputs


def reload_translator(
    reload: Callable[[], Translator],
    hashes: Sequence[str],
    search: Search,
    changes: Mapping[str, Any],
) -> Translator:
    """Return a reloaded translator with `search` and `changes`; InputError if hashes differ."""
    found = reload()
    fact = (
        "a model was replaced, or its run went on, after it had been loaded with sha256 "
        f"{', '.join(hashes)}"
    )
    require(found.hashes == hashes, fact, "start again with the models as they are now")
    return replace(found, recipe=replace(found.recipe, search=search), **changes)


def load_for_long_searches(load: Callable[[], Translator], threads: int) -> Translator:
    """Set this process's memory and threads for searching; load and return a translator."""
    keep_freed_memory()
    collect_garbage_rarely()
    use_threads(threads)
    found = load()
    equip_for_long_searches(found.models)  # loads libraries before the first request
    return found


def require_known(name: str, changes: Mapping[str, object], settings: type) -> None:
    """Raise InputError if a keyword of the method `name` is no field of `settings`."""
    known = [field.name for field in fields(settings)]
    for key in changes:
        if key not in known:
            raise InputError(f"{name}() has no setting {key!r}", suggest_names(key, known))


def with_warnings_at(translator: Translator, unit: str, numbers: Sequence[int] = ()) -> Translator:
    """Return a translator whose warnings call a line `unit`; `numbers` may replace line numbers.

    If the translator gets only some lines of a text, `numbers` has their numbers in the whole
    text.
    """

    def warn(warning: LineWarning) -> None:
        line = numbers[warning.line - 1] if numbers else warning.line
        translator.on_warning(replace(warning, line=line, unit=unit))

    return replace(translator, on_warning=warn)
