"""Compiled layers: the same losses, and one clear error where nothing can be compiled."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from tests.fast.tiny import with_attention
from tests.training.tiny import batch_of, batches, fresh, take_update, training_of
from torch import Tensor

from transduce.errors import InputError
from transduce.fast import varlen as variable_length
from transduce.fast.blocks import BucketedAttention
from transduce.fast.compiling import build_for_compiled_layers, compile_layers, require_compiler
from transduce.fast.varlen import VarlenAttention
from transduce.paper.operations import FULL_ATTENTION
from transduce.runs.validation import sum_validation_loss

ROOT = Path(__file__).parents[2]
CPU, CUDA = torch.device("cpu"), torch.device("cuda")


def losses(*, compiled, **changes):
    training = training_of(compile=compiled, **changes)
    model, optimiser = fresh(training, dropout=0.1)
    found = []
    for step in range(1, 4):
        update = take_update(model, optimiser, training, step, batches(step))
        assert update is not None
        found.append(update.loss)
    return found


def graphs():
    """Count a layer's graph breaks, and its graphs after training and after a validation."""
    kernel = opaque()
    variable_length.import_varlen_kernel = lambda: kernel
    counted = torch._dynamo.utils.counters
    training = training_of()
    model, optimiser = fresh(training, layers=3)
    model.operations = with_attention(VarlenAttention)
    compile_layers(model)
    for layer in [*model.encoder, *model.decoder]:
        layer.compile(backend="eager", dynamic=True)  # traced, and no code made of it
    found = []
    for step, lengths in enumerate([[4, 5, 6], [20, 30], [7] * 40, [200]], start=1):
        take_update(model, optimiser, training, step, [batch_of(lengths, seed=step)])
    found.append(counted["stats"]["unique_graphs"])
    sum_validation_loss(model, [batch_of([50, 3], seed=3), batch_of([5, 3], seed=3)])
    return [len(counted["graph_break"]), *found, counted["stats"]["unique_graphs"]]


def opaque():
    """An operation that a compiler takes as a whole, as torch's kernel is one."""

    def opaque_attention(
        q: Tensor,
        k: Tensor,
        v: Tensor,
        begin_q: Tensor,
        begin_k: Tensor,
        longest: list[int],
        window: list[int],
        scale: float,
    ) -> Tensor:
        assert len(begin_q) == len(begin_k)
        assert len(longest) == len(window)
        return (q + k.mean() + v.mean()) * scale

    whole = torch.library.custom_op("tests::opaque", opaque_attention, mutates_args={})
    whole.register_fake(lambda q, *_: torch.empty_like(q))
    whole.register_autograd(
        lambda ctx, gradient: (gradient, *map(torch.zeros_like, ctx.saved_tensors), *[None] * 5),
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs[1:3]),  # noqa: ARG005
    )

    def kernel(q, k, v, begin_q, begin_k, longest_q, longest_k, *, scale, window_size):
        longest = [longest_q, longest_k]
        return whole(q, k, v, begin_q, begin_k, longest, list(window_size), scale)

    return kernel


@pytest.mark.slow
def test_losses_are_those_of_the_plain_path():
    """Dropout included: its masks stay outside what is compiled on a processor.

    In a process of its own, where no shapes are checked: a compiler does not see through that.
    """
    asked = "from tests.fast.test_compiling import losses; print(losses(compiled=True))"
    done = subprocess.run([sys.executable, "-c", asked], cwd=ROOT, capture_output=True, check=True)
    assert json.loads(done.stdout) == pytest.approx(losses(compiled=False), rel=1e-6)


@pytest.mark.slow
def test_layers_of_a_kind_are_compiled_once_for_batches_of_any_lengths():
    """With torch's kernel inside: no break in a layer's graph, and none made anew."""
    asked = "from tests.fast.test_compiling import graphs; print(graphs())"
    done = subprocess.run([sys.executable, "-c", asked], cwd=ROOT, capture_output=True, check=True)
    breaks, training, validating = json.loads(done.stdout)
    assert (breaks, training, validating) == (0, 2, 4), (
        "an encoder's and a decoder's, then a validation's"
    )


@pytest.mark.parametrize(("device", "named", "missing"), [(CPU, "CXX", "g++"), (CUDA, "CC", "gcc")])
def test_a_missing_compiler_is_an_error_before_the_run_begins(monkeypatch, device, named, missing):
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr("transduce.fast.compiling.CPU_COMPILER", ("CXX", ("g++",)))
    monkeypatch.delenv(named, raising=False)
    require_compiler(training_of(), device)
    with pytest.raises(InputError) as caught:
        require_compiler(training_of(compile=True), device)
    assert caught.value.fact == (
        f"training.compile needs the compiler {missing}, which is not here"
    )
    assert f"name another in {named}" in caught.value.hint
    assert "training.compile=false" in caught.value.hint


def test_a_compiler_of_ones_own_is_asked_for_by_its_name(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: name if name == "mine" else None)
    monkeypatch.setenv("CXX", "mine")
    require_compiler(training_of(compile=True), CPU)
    monkeypatch.setenv("CXX", "gone")
    with pytest.raises(InputError, match="needs the compiler gone"):
        require_compiler(training_of(compile=True), CPU)


def test_padded_blocks_are_not_compiled_and_torchs_kernel_is():
    for kernel, is_compiled in ((BucketedAttention, False), (VarlenAttention, True)):
        build = with_attention(kernel).build_attention
        attend = build_for_compiled_layers([2], [2], FULL_ATTENTION, build=build)
        assert isinstance(attend, kernel) == is_compiled, "wrapped where it is not compiled"
