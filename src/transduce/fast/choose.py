"""The choice of what is fastest, by the device, the processor, the precision and the job's size

Functions without weights are given to a model as `Operations`. Modules with weights change their
classes in place and keep their parameters and names. The code in `paper/` never checks the device.
Choices that depend on a single tensor are made in other modules of this package. What only training
uses is imported when it is chosen.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib import import_module

import torch
from torch import nn

from transduce.fast.blocks import BucketedAttention
from transduce.fast.compiled_loops import LOOP_TYPES, MANY_ROWS
from transduce.fast.highest_sums import (
    BLOCK,
    assume_any,
    find_block_maxima,
    highest_sums,
    highest_sums_by_loops,
)
from transduce.fast.inference_weights import prepare_for_inference
from transduce.fast.kv_cache import attend_by_loops_if_faster, start_cache
from transduce.fast.layer_graph import DecodingGraphs, LayerGraph
from transduce.fast.loss import (
    log_softmax_by_loops_if_faster,
    log_softmax_in_place,
    smoothed_loss,
    target_log_probs,
)
from transduce.fast.onednn import has_onednn_bfloat16
from transduce.fast.unchanged import is_changed, replace_unless_changed
from transduce.packed import PADDING_SENTENCE_TOKENS, Batch
from transduce.paper.model import AddDropout, Dropout, LayerNorm, Linear, Residual, Transformer
from transduce.paper.operations import (
    PLAIN,
    BatchAttention,
    HighestSums,
    Operations,
    RunLayers,
    SmoothedLoss,
    keep_batch,
    run_layers,
)
from transduce.paper.training import (
    AddGradients,
    Optimiser,
    PendingUpdate,
    ReadBatches,
    Update,
    add_gradients,
)
from transduce.settings import Architecture, Training
from transduce.settings.search import InferencePrecision
from transduce.settings.training import TOKEN_MULTIPLE

# A search of this many sentences makes up for the half second of loading numba and its code.
SENTENCES_FOR_LOOPS = 1_000

HALF_PRECISIONS = (torch.bfloat16, torch.float16)
KNOWN_COMPATIBILITIES = ("scaled-dot", "dot")  # for the others attention stays plain
MAX_HEAD_WIDTH = 256  # the most numbers a head may have in torch's variable-length kernel
MIN_COMPUTE_CAPABILITY = (8, 0)  # the oldest GPUs that run the variable-length kernel (Ampere)


def equip_for_training(model: Transformer, training: Training) -> None:
    """Give a model, in place, the operations and modules that train it fastest on its device.

    Call this once the model is on its device, and before its optimiser is made.
    """
    device, is_half = model.output.weight.device, training.precision == "bfloat16"
    operations = choose_operations(
        model.sizes, device, torch.bfloat16 if is_half else model.output.weight.dtype
    )
    longest = min(PADDING_SENTENCE_TOKENS, model.sizes.max_positions)
    if is_half and not training.pad_to_tokens and can_run_graphs(model, training):
        from transduce.fast.gradient_graphs import pad_to_few_shapes as pad
    else:
        multiple = training.pad_to_tokens or (TOKEN_MULTIPLE if is_half else 1)
        pad = partial(Batch.pad_to_multiple, multiple=multiple)
    model.operations = replace_unless_changed(operations, pad_batch=partial(pad, longest=longest))
    if device.type == "cpu":
        swap_classes(model, choose_training_modules(is_half=is_half))
    elif not training.compile and can_run_triton(device, "triton_residual", model.sizes.d_model):
        from transduce.fast.triton_residual import TritonResidual

        swap_classes(model, {Residual: TritonResidual})
    if training.compile:
        from transduce.fast.compiling import compile_layers

        loss = choose_loss(device, model.output.weight.dtype, compiled=True)
        model.operations = replace_unless_changed(model.operations, smoothed_loss=loss)
        compile_layers(model)


def equip_for_inference(model: Transformer, precision: InferencePrecision | None = None) -> None:
    """Make a model decode fastest, in place; convert its weights unless `precision` is None.

    Without a precision its weights stay as they are. With one they are converted and packed for
    good: such a model cannot be trained, saved, copied or moved to a device.
    """
    if precision is not None:
        prepare_for_inference(model, precision)
    weight = model.output.weight
    operations = choose_operations(model.sizes, weight.device, weight.dtype)
    if precision is not None:
        operations = replace_unless_changed(operations, run_layers=choose_layers(model))
    model.operations = operations


def choose_layers(model: Transformer) -> RunLayers:
    """Return the fastest function to run the decoder layers of a model converted for inference."""
    weight = model.output.weight
    if weight.device.type == "cpu":
        return LayerGraph(model.decoder)
    if weight.dtype not in HALF_PRECISIONS or not can_run_triton(weight.device, "triton_search"):
        return run_layers
    return DecodingGraphs()


def choose_operations(
    sizes: Architecture, device: torch.device, precision: torch.dtype
) -> Operations:
    """Return the fastest operations for models of these sizes on a device, in a precision.

    On a GPU, `is_any` returns True without reading the flags, because reading one waits for all
    work that is queued there.
    """
    on_cpu = device.type == "cpu"
    operations = PLAIN
    if sizes.compatibility in KNOWN_COMPATIBILITIES:
        kernel = choose_attention(sizes, device, precision)
        operations = replace_unless_changed(
            PLAIN, build_attention=partial(kernel, device=device), start_cache=start_cache
        )
    return replace_unless_changed(
        operations,
        smoothed_loss=choose_loss(device, precision),
        target_log_probs=target_log_probs,
        log_softmax=log_softmax_in_place,
        highest_sums=highest_sums if on_cpu else choose_highest_sums(device),
        is_any=PLAIN.is_any if on_cpu else assume_any,
    )


def choose_highest_sums(device: torch.device) -> HighestSums:
    """Return a `highest_sums` that waits for no GPU, by Triton if it runs on `device`."""
    if not can_run_triton(device, "triton_search"):
        find_maxima = partial(find_block_maxima, is_any=assume_any)
        return partial(highest_sums, find_maxima=find_maxima)
    from transduce.fast.triton_search import find_block_maxima_by_triton

    return partial(highest_sums, find_maxima=partial(find_block_maxima_by_triton, block=BLOCK))


def choose_search_operations(
    models: Sequence[Transformer], sentence_count: int | None
) -> list[Operations]:
    """Return each model's operations for a search of `sentence_count` sentences; None means many.

    The choice does not depend on earlier searches. Compiled loops run in one thread, so torch's
    operators are faster with several threads.
    """
    is_long = sentence_count is None or sentence_count >= SENTENCES_FOR_LOOPS
    on_cpu = models[0].output.weight.device.type == "cpu"
    takes_loops = on_cpu and is_long and load_loops()
    each = [model.operations for model in models]
    return [with_compiled_loops(one) for one in each] if takes_loops else each


def load_loops() -> bool:
    """If torch has one thread, load or compile a search's loops; return whether they can run."""
    return torch.get_num_threads() == 1 and try_loops()


@cache
def try_loops() -> bool:
    """Run every compiled search loop on zero tensors; return whether they work on this machine.

    numba may be missing, not fit this numpy, lack a shared library, or find the disk full.
    """
    try:
        import numba
    except (ImportError, OSError, AttributeError):
        return False
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined] # loops would stay Python
        return False
    try:
        run_loops_once()
    except Exception:  # noqa: BLE001 # damaged machine code on disk fails in many ways
        return False
    return True


def run_loops_once() -> None:
    """Run every loop of a search on a few zeros, which compiles it or loads its machine code."""
    from transduce.fast.search_loops import (
        LOOP_OPERATOR,
        POSITIONS_AT_ONCE,
        log_softmax_by_loops,
    )

    for dtype in LOOP_TYPES:
        sides = torch.zeros(MANY_ROWS, 1, POSITIONS_AT_ONCE, 1, dtype=dtype)
        LOOP_OPERATOR(sides, sides, sides, sides.transpose(2, 3))
    log_probs = log_softmax_by_loops(torch.zeros(MANY_ROWS, 2))
    highest_sums_by_loops(torch.zeros(MANY_ROWS, 1), log_probs, 1)


def with_compiled_loops(operations: Operations) -> Operations:
    """Return `operations` with compiled loops for cached attention, log_softmax, highest_sums."""
    cached = operations.start_cache
    if cached is start_cache:
        cached = partial(start_cache, attend=attend_by_loops_if_faster)
    return replace_unless_changed(
        operations,
        start_cache=cached,
        log_softmax=log_softmax_by_loops_if_faster,
        highest_sums=highest_sums_by_loops,
    )


def choose_training_modules(*, is_half: bool) -> Mapping[type[nn.Module], type[nn.Module]]:
    """Return each module class with its fast form for training on a CPU (bfloat16 if `is_half`)."""
    from transduce.fast.dropout import CheapAddDropout, CheapDropout

    if not is_half:
        return {Dropout: CheapDropout, AddDropout: CheapAddDropout}
    from transduce.fast.bfloat16 import Bfloat16AddDropout, Bfloat16LayerNorm, Bfloat16Linear

    return {
        Dropout: CheapDropout,
        AddDropout: Bfloat16AddDropout,
        LayerNorm: Bfloat16LayerNorm,
        Linear: Bfloat16Linear if has_onednn_bfloat16() else Linear,
    }


def swap_classes(model: nn.Module, classes: Mapping[type[nn.Module], type[nn.Module]]) -> None:
    """Replace the classes of a model's modules in place; `classes` maps old classes to new.

    Modules of other and derived classes stay, and so do those of a class changed in `paper/`.
    """
    for module in model.modules():
        if type(module) in classes and not is_changed(type(module).__name__):
            module.__class__ = classes[type(module)]


# --- Kernels of a GPU -----------------------------------------------------------------------------


@cache
def can_run_triton(device: torch.device, module: str, *sizes: int) -> bool:
    """Run the Triton kernels of `fast/<module>.py` once with `sizes`; return whether they work.

    The answer is cached. Triton needs a C compiler and a folder for its code, and a GPU may lack
    the memory for a tile. If anything fails, torch computes the same.
    """
    if device.type != "cuda" or not torch.cuda.is_available():
        return False
    try:
        with torch.inference_mode(mode=False), torch.enable_grad():
            import_module(f"transduce.fast.{module}").try_kernels(device, *sizes)
    except Exception:  # noqa: BLE001 - whatever it is, there is another way
        return False
    return True


def choose_loop(
    model: Transformer, optimiser: Optimiser, training: Training, batches: ReadBatches
) -> tuple[ReadBatches, AddGradients, Callable[[PendingUpdate], Update]]:
    """Return a training loop's functions: to read batches, add gradients, and read update results.

    If CUDA graphs can hold the kernels of the training, they add the gradients, and batches are
    prepared for the graphs while the GPU is busy.
    """
    device = model.output.weight.device
    add: AddGradients = add_gradients
    prepare: Callable[[Batch], Batch] = keep_batch
    if not training.compile and can_run_graphs(model, training):
        from transduce.fast.flat_adam import FlatAdam
        from transduce.fast.gradient_graphs import GradientGraphs, lay_out

        if isinstance(optimiser, FlatAdam):
            add = GradientGraphs(optimiser)
            prepare = partial(lay_out, pad=model.operations.pad_batch)
    batches, read = build_prefetch_functions(batches, training.steps, device, prepare)
    return batches, add, read


def build_prefetch_functions(
    batches: ReadBatches,
    last_step: int,
    device: torch.device,
    prepare: Callable[[Batch], Batch] = keep_batch,
) -> tuple[ReadBatches, Callable[[PendingUpdate], Update]]:
    """Return two functions: one gets a step's batches, the other reads an update's results.

    On a GPU the second function fetches and prepares the next step's batches before it waits for
    the results.
    """
    if device.type != "cuda":
        return batches, PendingUpdate.read
    ahead = dict[int, Sequence[Batch]]()

    def get_batches(step: int) -> Sequence[Batch]:
        return ahead.pop(step, None) or batches(step)

    def read(pending: PendingUpdate) -> Update:
        ahead.clear()
        step = pending.step + 1
        if step <= last_step:
            ahead[step] = [prepare(batch) for batch in batches(step)]
        return pending.read()

    return get_batches, read


def can_run_graphs(model: Transformer, training: Training) -> bool:
    """Return whether CUDA graphs can hold the attention and loss kernels of this training."""
    device, precision = model.output.weight.device, getattr(torch, training.precision)
    if any(map(is_changed, ("build_attention", "smoothed_loss", "pad_batch", "add_gradients"))):
        return False
    return can_run_varlen(model.sizes, device, precision) and can_run_triton(device, "triton_loss")


def choose_loss(
    device: torch.device, precision: torch.dtype, *, compiled: bool = False
) -> SmoothedLoss:
    """Return the smoothed loss by Triton if it works, else by torch, compiled if `compiled`."""
    if precision != torch.float64 and can_run_triton(device, "triton_loss"):
        from transduce.fast.triton_loss import cross_entropy_by_triton

        return partial(smoothed_loss, kernel=cross_entropy_by_triton)
    if not compiled:
        return smoothed_loss
    from transduce.fast.compiling import compiled_cross_entropy

    return partial(smoothed_loss, kernel=compiled_cross_entropy())


# --- Which attention ------------------------------------------------------------------------------


def choose_attention(
    sizes: Architecture, device: torch.device, precision: torch.dtype
) -> Callable[..., BatchAttention]:
    """Return the fastest class or function that builds attention from lengths, a mask and a device.

    It computes without padding if model and device allow it, else in padded blocks.
    """
    if not can_run_varlen(sizes, device, precision):
        return BucketedAttention
    if can_run_triton(device, "triton_attention", sizes.d_k, sizes.d_v):
        from transduce.fast.triton_attention import build_packed_attention

        return build_packed_attention
    from transduce.fast.varlen import VarlenAttention

    return VarlenAttention


def can_run_varlen(sizes: Architecture, device: torch.device, precision: torch.dtype) -> bool:
    """Return whether torch's variable-length attention kernel works for these sizes on a device.

    The kernel needs a GPU, half precision and heads that are not too wide, and has no dropout.
    """
    if device.type != "cuda" or precision not in HALF_PRECISIONS:
        return False
    if sizes.attention_dropout or sizes.neighbourhood_row:
        return False
    is_old = torch.cuda.get_device_capability(device) < MIN_COMPUTE_CAPABILITY
    if is_old or max(sizes.d_k, sizes.d_v) > MAX_HEAD_WIDTH:
        return False
    from transduce.fast.varlen import import_varlen_kernel

    try:
        known = inspect.signature(import_varlen_kernel()).parameters
    except ImportError:  # an older torch
        return False
    return "scale" in known and "window_size" in known
