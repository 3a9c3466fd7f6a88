"""The micro-batch of a new run: chosen by an estimate, tried out, and halved once."""

import resource
from pathlib import Path

import pytest
from tests.runs.corpora import TOY, prepared_toy

from transduce.checkpoint.run_file import read_run
from transduce.errors import NotEnoughMemoryError
from transduce.runs import machine_settings
from transduce.runs.machine_settings import probe_update, select_longest
from transduce.runs.training_run import begin_or_resume_run
from transduce.settings.recipe import with_changes

FREE = with_changes(TOY, {"training.micro_batch_tokens": 0})
CHOSEN = 8_192


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    return prepared_toy(tmp_path_factory.mktemp("probe") / "p")


@pytest.fixture
def begin(prepared, tmp_path, monkeypatch):
    """Begin a run with so many free bytes, and return the number of tokens that it stored."""

    def begin_run(free, probe=probe_update):
        monkeypatch.setattr(machine_settings, "free_memory_bytes", lambda: free)
        monkeypatch.setattr(machine_settings, "probe_update", probe)
        begin_or_resume_run(tmp_path / "run", FREE, prepared)
        return read_run(tmp_path / "run").recipe.training.micro_batch_tokens

    return begin_run


def scarce():
    """Free bytes that are enough by the estimate, but not twice as many."""
    from transduce.runs.machine_settings import estimate_token_bytes

    return 1.2 * CHOSEN * estimate_token_bytes(FREE.architecture) + 1e7


def refuse(*_):
    raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes")


def unexpected(*_):
    raise AssertionError


def test_a_micro_batch_that_fits_is_stored_as_it_was_estimated(begin):
    assert begin(scarce()) == CHOSEN


def test_one_that_does_not_fit_is_halved_once_before_the_number_is_stored(begin, record):
    tokens = begin(scarce(), refuse)
    assert tokens == CHOSEN // 2
    record(tokens_estimated=CHOSEN, tokens_stored=tokens)


def test_the_control_without_a_probe_stores_what_does_not_fit(begin, monkeypatch, record):
    monkeypatch.setattr(machine_settings, "fits_in_memory", lambda *_: True)
    tokens = begin(scarce(), refuse)
    assert tokens == CHOSEN
    record(tokens_stored=tokens)


def test_where_memory_abounds_or_a_group_would_kill_nothing_is_tried(begin):
    assert begin(1e12, unexpected) == CHOSEN


def test_where_the_estimate_exceeds_what_is_free_it_is_halved_untried(begin):
    assert begin(1e6, unexpected) == CHOSEN // 2


def test_other_errors_of_the_probe_are_raised(begin):
    with pytest.raises(AssertionError):
        begin(scarce(), unexpected)


def test_the_longest_pairs_are_tried(prepared):
    lengths = prepared.train.source_lengths.astype(int) + prepared.train.target_lengths
    chosen = select_longest(prepared.train, 300)
    assert lengths[chosen].sum() <= 300
    assert lengths[chosen].min() >= sorted(lengths)[-len(chosen)]
    assert len(select_longest(prepared.train, 1)) == 1


def test_a_limit_on_the_address_space_is_memory_too(monkeypatch):
    from transduce.errors import free_address_bytes
    from transduce.machine.limits import memory_bytes

    taken = (
        int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        * resource.getpagesize()
    )
    limit = taken + (1 << 30)
    limits = iter([(limit, limit)] * 2)
    monkeypatch.setattr("resource.getrlimit", lambda _: next(limits))
    assert memory_bytes() == limit
    assert 0 < free_address_bytes() < 2 << 30
    assert NotEnoughMemoryError.exit_code == 8
