"""A whole update as a GPU would be asked for it, in every configuration that only a GPU takes."""

import math

import pytest
import torch
from tests.stand_in.operators import ATTENTION
from tests.stand_in.updates import (
    BASE,
    BIG,
    PAPER_TOKENS,
    paper_batch,
    paper_training,
    small_training,
)
from tests.training.tiny import batches, fresh, take_update, training_of

from transduce.runs.machine_settings import estimate_token_bytes

BFLOAT16 = {"precision": "bfloat16"}
READ = "paper/training.py:PendingUpdate.read"
SETTINGS = {
    "float32": {},
    "bfloat16": BFLOAT16,
    "bfloat16 in fixed shapes": BFLOAT16 | {"pad_to_tokens": 64},
}
# architectures that take other ways through the kernels of a GPU
ARCHITECTURES = {
    "one width for keys and values": {"d_k": 8, "d_v": 8},
    "dropout of attention weights": {"attention_dropout": 0.1},
    "a neighbourhood": {"encoder_neighbourhood": 3, "decoder_neighbourhood": 3},
    "learned positions, pre-norm": {"positions": "learned", "norm": "pre"},
    "no shared embeddings": {"tie_embeddings": "none"},
    "separable convolutions": {"mixing": "separable", "kernel_size": 3},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_the_losses_are_those_of_a_cpu(settings):
    """Of two updates, so that gradients and Adam are right, too."""
    with small_training(**settings) as traced:
        ours = [traced.queue(step).read() for step in (1, 2)]
    training = training_of(**settings)
    model, optimiser = fresh(training)
    plain = [take_update(model, optimiser, training, step, batches(step)) for step in (1, 2)]
    tolerance = 0.01 if settings else 1e-6
    for one, other in zip(ours, plain, strict=True):
        assert one.loss == pytest.approx(other.loss, rel=tolerance)
        assert one.gradient_norm == pytest.approx(other.gradient_norm, rel=10 * tolerance)


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_the_host_waits_only_where_an_update_is_read(settings):
    with small_training({"dropout": 0.1}, **settings) as traced:
        queued = traced.queue(1)
        assert traced.record.waits_by_caller() == {}
        assert traced.record.copies, "token ids come from pinned memory"
        queued.read()
        assert traced.record.waits_by_caller() == {READ: 1}


@pytest.mark.parametrize("changes", ARCHITECTURES.values(), ids=ARCHITECTURES)
def test_other_architectures_wait_nowhere_and_multiply_in_bfloat16(changes):
    with small_training({"dropout": 0.1} | changes, **BFLOAT16) as traced:
        queued = traced.queue(1)
        assert traced.record.waits_by_caller() == {}
        require_bfloat16(traced.record)
        assert math.isfinite(queued.read().loss)


def require_bfloat16(record):
    """All products are of bfloat16; attention may also write its sums, in float32."""
    assert record.products()
    for call in record.products():
        kinds = call.dtypes - ({torch.float32} if call.name in ATTENTION else set())
        assert kinds == {torch.bfloat16}, call


def test_in_bfloat16_only_loss_and_optimiser_compute_in_float32():
    with small_training({"dropout": 0.1}, **BFLOAT16) as traced:
        traced.queue(1)
        wide = {call.caller for call in traced.record.calls if torch.float32 in call.dtypes}
        double = {call.caller for call in traced.record.calls if torch.float64 in call.dtypes}
    files = {caller.split(":")[0] for caller in wide | double}
    assert files == {
        "fast/loss.py",
        "paper/training.py",
        "training/distributed/process_group.py",
        "fast/flat_adam.py",
        "fast/varlen.py",  # the sums of its softmax
    }
    assert double == {
        "paper/training.py:update_weights",
        "paper/training.py:add_gradients",
        "training/distributed/process_group.py:SingleProcess.run_micro_batches",
        "fast/loss.py:SlicedLoss.forward",
        "fast/loss.py:SlicedLoss.backward",
        "fast/loss.py:cross_entropy_inplace",
    }


def test_an_update_that_is_not_finite_changes_nothing_and_nobody_waits():
    with small_training() as traced:
        traced.queue(1).read()
        before = [tensor.cpu() for tensor in traced.optimiser.state_tensors]
        with torch.no_grad():
            traced.model.decoder[0].add_self.norm.bias[0] = math.nan
        queued = traced.queue(2)
        assert traced.record.waits_by_caller() == {}
        assert not queued.read().applied
        after = [tensor.cpu() for tensor in traced.optimiser.state_tensors[1:]]
    for one, other in zip(after, before[1:], strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize(
    ("architecture", "held", "peak"), [(BASE, 1.14, 8.97), (BIG, 3.86, 16.96)], ids=["base", "big"]
)
def test_operators_and_memory_of_the_papers_update(architecture, held, peak):
    """In GB: weights, gradients and moments, and the most at once. docs/records/scale.md has it.

    Every operator is at least one kernel; whoever adds or saves some says so here.
    """
    with paper_training(architecture, **BFLOAT16, pad_to_tokens=25_600) as traced:
        record, before = traced.record, traced.record.bytes
        traced.queue(1, batches=paper_batch)
        assert record.waits_by_caller() == {}
        assert (len(record.calls), len(record.copies)) == (825, 11)
        assert before / 1e9 == pytest.approx(held, abs=0.01)
        assert record.peak_bytes / 1e9 == pytest.approx(peak, abs=0.01)
        assert record.bytes == pytest.approx(before, abs=1e5), "all else is freed"
        estimate = 2 * PAPER_TOKENS * estimate_token_bytes(architecture)  # for float32
        assert record.peak_bytes - before < estimate
