"""Names of code are the field's words: retired ones do not come back as identifiers."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("src", "tests", "benchmarks")
# Each stood for several things, or for one that the field calls otherwise (docs/reference/glossary.md).
RETIRED = frozenset(
    """
    told seen laid drawn shown begun said heard looked look among around alone beside even over
    late company trainee audience sight way growth wishes watched place places keeper room rooms
    house floor crew meeting fate
    """.split()
)
# In the phrasebook a place is one where people are, and they meet there.
PLACES = frozenset({"AT_PLACE", "TO_PLACE", "PLACES", "places", "place", "place_of", "MEETING"})
NOT_YET: frozenset[str] = frozenset(
    """
    src/transduce/checkpoint/card.py
    src/transduce/checkpoint/steps.py
    src/transduce/checkpoint/weights.py
    src/transduce/cli/curves.py
    src/transduce/cli/demo.py
    src/transduce/cli/display.py
    src/transduce/cli/fetch.py
    src/transduce/cli/main.py
    src/transduce/cli/options.py
    src/transduce/cli/recipes.py
    src/transduce/cli/reproduce.py
    src/transduce/cli/reproduce_rows.py
    src/transduce/cli/reproducing.py
    src/transduce/cli/searching.py
    src/transduce/cli/signals.py
    src/transduce/cli/tensorboard.py
    src/transduce/cli/train.py
    src/transduce/cli/training.py
    src/transduce/cli/translate.py
    src/transduce/cli/verify.py
    src/transduce/cli/workers.py
    src/transduce/corpus/plan.py
    src/transduce/corpus/toys.py
    src/transduce/datasets/downloads.py
    src/transduce/datasets/fetch.py
    src/transduce/datasets/mtdata.py
    src/transduce/datasets/news.py
    src/transduce/datasets/partial.py
    src/transduce/datasets/transfer.py
    src/transduce/datasets/values.py
    src/transduce/durable/folder.py
    src/transduce/durable/temporary.py
    src/transduce/inference/demo.py
    src/transduce/inference/load.py
    src/transduce/inference/worker_processes.py
    src/transduce/machine/cpus.py
    src/transduce/model/attention/bucketed.py
    src/transduce/model/attention/head_rows.py
    src/transduce/model/attention/padded_blocks.py
    src/transduce/model/attention/reference.py
    src/transduce/model/attention/varlen.py
    src/transduce/model/attention/windowed.py
    src/transduce/model/capture.py
    src/transduce/model/decoding/kv_cache.py
    src/transduce/model/decoding/layer_cache.py
    src/transduce/model/layers.py
    src/transduce/model/positions.py
    src/transduce/model/residual.py
    src/transduce/model/transformer.py
    src/transduce/phrasebook/particles.py
    src/transduce/phrasebook/words.py
    src/transduce/reproduce/findings.py
    src/transduce/reproduce/picture.py
    src/transduce/reproduce/report.py
    src/transduce/reproduce/table.py
    src/transduce/reproduce/table1/growth.py
    src/transduce/reproduce/table1/layer.py
    src/transduce/reproduce/table1/measure.py
    src/transduce/reproduce/table1/trace.py
    src/transduce/reproduce/table2.py
    src/transduce/reproduce/table3.py
    src/transduce/runs/prepare.py
    src/transduce/runs/recommend.py
    src/transduce/runs/run_folder.py
    src/transduce/runs/validation.py
    src/transduce/scores/test_sets.py
    src/transduce/search/batching.py
    src/transduce/search/beam_state.py
    src/transduce/search/beam_step.py
    src/transduce/search/constraints.py
    src/transduce/search/counter_rng.py
    src/transduce/search/sampling.py
    src/transduce/search/stable_topk.py
    src/transduce/settings/training.py
    src/transduce/text/clean.py
    src/transduce/text/filters.py
    src/transduce/training/compiling.py
    src/transduce/training/distributed/launcher.py
    src/transduce/training/distributed/rank.py
    src/transduce/training/distributed/rendezvous.py
    src/transduce/training/distributed/torch_group.py
    src/transduce/training/loop.py
    src/transduce/training/progress.py
    src/transduce/training/step.py
    tests/checkpoint/kept.py
    tests/checkpoint/test_kills.py
    tests/checkpoint/test_model_folder.py
    tests/checkpoint/test_prune.py
    tests/checkpoint/test_run.py
    tests/checkpoint/test_saves.py
    tests/checkpoint/test_unreadable.py
    tests/checkpoint/test_weights.py
    tests/cli/test_curves.py
    tests/cli/test_reproduce_table2.py
    tests/cli/test_searching.py
    tests/cli/test_training.py
    tests/cli/test_translate.py
    tests/cli/test_workers.py
    tests/corpus/conftest.py
    tests/datasets/conftest.py
    tests/datasets/made.py
    tests/datasets/site.py
    tests/datasets/test_downloads.py
    tests/datasets/test_fetch.py
    tests/datasets/test_mtdata.py
    tests/durable/test_folder.py
    tests/faults/calls.py
    tests/faults/inject.py
    tests/faults/page.py
    tests/faults/test_clock.py
    tests/faults/test_damage.py
    tests/faults/test_places.py
    tests/faults/test_refused.py
    tests/faults/test_signals.py
    tests/forked.py
    tests/golden/results.py
    tests/house/test_names.py
    tests/house/test_readme.py
    tests/journeys/conftest.py
    tests/journeys/kills.py
    tests/journeys/test_fetch.py
    tests/journeys/test_kills.py
    tests/journeys/test_limits.py
    tests/journeys/test_lost.py
    tests/journeys/test_signals.py
    tests/journeys/test_story.py
    tests/journeys/test_workers.py
    tests/journeys/together.py
    tests/machine/test_device.py
    tests/model/test_capture.py
    tests/model/test_inference_weights.py
    tests/model/test_kernels.py
    tests/model/test_mixing.py
    tests/model/test_padded_blocks.py
    tests/model/test_varlen.py
    tests/paper/test_section_3_2_3_three_uses.py
    tests/paper/test_section_4_restricted_self_attention.py
    tests/paper/test_section_5_4_dropout.py
    tests/phrasebook/test_phrasebook.py
    tests/phrasebook/test_phrasebook_sentences.py
    tests/properties/test_model_cache.py
    tests/properties/test_model_kernels.py
    tests/recipes/test_citations.py
    tests/recipes/test_history.py
    tests/reproduce/test_table1_paths.py
    tests/reproduce/test_table3.py
    tests/runs/test_damage.py
    tests/scores/test_bootstrap.py
    tests/scores/test_paper_bleu.py
    tests/soak/test_workers.py
    tests/training/alone.py
    tests/training/distributed/crew.py
    tests/training/distributed/test_exchange.py
    tests/training/distributed/test_launch.py
    tests/training/run.py
    tests/training/test_compiling.py
    tests/training/test_loop_keeping.py
    tests/training/test_loop_resume.py
    tests/training/test_queued.py
    tests/vocabulary/test_vocabulary.py
    benchmarks/ctranslate2_model.py
    benchmarks/marian.py
    benchmarks/memory.py
    benchmarks/on_gpu/__main__.py
    benchmarks/on_gpu/agreeing.py
    benchmarks/on_gpu/attending.py
    benchmarks/on_gpu/ladder.py
    benchmarks/on_gpu/products.py
    benchmarks/rectangular.py
    benchmarks/turns.py
    """.split()
)  # files that are still to be converted


def names(tree: ast.AST) -> Iterator[str]:
    """Yield what a file defines: functions, classes, arguments, names of the module and of classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        if isinstance(node, ast.arg):
            yield node.arg
        if isinstance(node, ast.Module | ast.ClassDef):
            yield from assigned(node.body)


def assigned(body: list[ast.stmt]) -> Iterator[str]:
    """Yield the names that statements assign to."""
    for statement in body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if isinstance(statement, ast.AnnAssign | ast.AugAssign):
            targets = [statement.target]
        for target in targets:
            yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def words(name: str) -> set[str]:
    """Return the words of an identifier: snake_case and CamelCase are taken apart."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}


def retired_names(path: Path) -> list[str]:
    """Return the identifiers of a file that hold a retired word; names of tests are sentences."""
    found = set(names(ast.parse(path.read_text(encoding="utf-8"))))
    tests = {name for name in found if name.startswith("test_")}
    location = PLACES if "phrasebook" in path.parts else frozenset()
    return sorted(name for name in found - tests - location if words(name) & RETIRED)


def test_no_identifier_is_made_of_a_retired_word():
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    found = {str(path.relative_to(ROOT)): retired_names(path) for path in files}
    assert {path: named for path, named in found.items() if named and path not in NOT_YET} == {}


def test_words_are_found_inside_of_identifiers():
    assert words("place_of") & RETIRED
    assert words("InnerPlace") & RETIRED
    assert words("PLACES") & RETIRED
    assert not words("replaced_overlap") & RETIRED
