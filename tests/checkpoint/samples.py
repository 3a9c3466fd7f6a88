"""Checkpoints with different contents at every step: written, damaged and compared by tests."""

import torch

from transduce.checkpoint.checkpoints import save_checkpoint


def weights(step):
    return {"w": torch.full((3, 2), float(step)), "v": torch.arange(4.0) + step}


def moments(step):
    return {"first.w": torch.full((3, 2), step / 2), "second.w": torch.full((3, 2), step / 4)}


def state(step):
    return {"step": step, "best": step / 3, "tokens": 2**60 + step}


def write_checkpoints(run, *steps):
    for step in steps:
        save_checkpoint(run, step, weights(step), moments(step), state(step))


def folder(run, step):
    return run / "checkpoints" / f"step-{step:08d}"


def require_step(found, step):
    """Fail unless every part of a checkpoint is that of this step, to the bit."""
    assert found is not None
    assert found.step == step
    for part, expected in ((found.weights, weights(step)), (found.moments, moments(step))):
        assert part.keys() == expected.keys()
        assert all(torch.equal(part[name], expected[name]) for name in expected)
    assert found.state == state(step)


def flip(file, offset):
    data = bytearray(file.read_bytes())
    data[offset] ^= 1 << offset % 8
    file.write_bytes(data)
