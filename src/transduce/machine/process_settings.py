"""Process-wide settings: allocator, garbage collection, OpenMP's waiting, torch's thread count.

Importing this module changes nothing. The command line calls these functions at the start of a
command, and `transduce.train` calls them unless its arguments disable these settings.
"""

import ctypes
import functools
import gc
import os
import sys

from transduce.machine.limits import require_threads

M_MMAP_MAX, M_TRIM_THRESHOLD = -4, -1  # parameter numbers of glibc's mallopt
NEVER = 2**31 - 1
SPINS = 10_000  # turns of libgomp's waiting loop, which take some tenths of a millisecond
TRAINING_SPINS = 30_000  # turns in training, which has larger pieces of work
KERNEL_CACHES = ("LRU_CACHE_CAPACITY", "ONEDNN_PRIMITIVE_CACHE_CAPACITY")
KERNELS = 256  # kernels that each of the two caches keeps in training


def call_glibc(name: str, *numbers: int) -> None:
    """Call a function of glibc; do nothing where glibc or the function is missing."""
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None
    if hasattr(libc, name):
        getattr(libc, name)(*numbers)


def keep_freed_memory() -> None:
    """Make glibc's allocator keep freed blocks instead of returning them to the system.

    Training becomes up to 1.9 times as fast (2 cores, smallest model).
    """
    call_glibc("mallopt", M_MMAP_MAX, 0)
    call_glibc("mallopt", M_TRIM_THRESHOLD, NEVER)


def collect_garbage_rarely() -> None:
    """Let Python search for reference cycles at every 20,000 new objects instead of every 700.

    A block of lines has that many objects and no cycles. Looking for cycles at every 700 took a
    third of the time that translation spends outside of the search.
    """
    gc.set_threshold(20_000)


def release_freed_memory() -> None:
    """Make glibc's allocator return all free blocks to the system now."""
    call_glibc("malloc_trim", 0)


def set_environment_of_torch(*, training: bool = False) -> None:
    """Limit OpenMP's busy-waiting and, in `training`, kernel caches, by environment variables.

    Call this before importing torch. Variables that are already set stay as they are. Threads
    busy-wait briefly before they sleep, three times as long if `training`. If they slept at once,
    training on free cores would be up to 1.4 times slower; if they busy-waited for long, training
    on shared cores would be up to fifty times slower (decision 0032).

    In training, torch and oneDNN keep fewer kernels, each for one shape. Batches have many shapes,
    and with the default of 1,024 kernels each, training a small model in bfloat16 took 5 GB.
    """
    if training:
        for name in KERNEL_CACHES:
            os.environ.setdefault(name, str(KERNELS))
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
        os.environ.setdefault("GOMP_SPINCOUNT", str(TRAINING_SPINS if training else SPINS))


@functools.cache
def use_one_thread_in_children() -> None:
    """Make torch use one thread in every process that is forked from this one from now on.

    OpenMP's threads do not survive a fork, and a forked process would wait for them for ever.
    """
    os.register_at_fork(after_in_child=lambda: use_threads(1))


def use_threads(threads: int) -> None:
    """Set torch's thread count (changes results' last bits); NotEnoughMemoryError if too high."""
    import torch

    require_threads(threads - 1)
    torch.set_num_threads(threads)
