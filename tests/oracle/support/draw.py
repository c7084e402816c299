"""Inputs of cases: functions of a generator of random numbers that give a tensor.

Floating numbers are multiples of 1/64 below 4 in size, so that f32, f16 and bf16 hold them exactly.
"""

import zlib

import torch

LARGEST = 250 / 64


def generator(seed, name):
    """What a case draws follows from the fixture's seed and its own name, not from other cases."""
    return torch.Generator().manual_seed(zlib.crc32(f"{seed}/{name}".encode()))


def exact(x):
    return (x * 64).round().div(64).clamp(-LARGEST, LARGEST)


def normal(*shape, scale=1.0):
    return lambda random: exact(scale * torch.randn(shape, generator=random, dtype=torch.float64))


def positive(*shape):
    """At least 1/4."""
    return lambda random: normal(*shape)(random).abs().clamp(0.0, 3.5) + 0.25


def between(*shape, low=1 / 64, high=63 / 64):
    """Even in [low, high]."""
    draw = lambda random: torch.rand(shape, generator=random, dtype=torch.float64)
    return lambda random: exact(draw(random) * (high - low) + low).clamp(low, high)


def signs(*shape):
    """-1 and 1."""
    return lambda random: integers(2, *shape)(random) * 2.0 - 1.0


def integers(high, *shape, low=0):
    """In [low, high)."""
    return lambda random: torch.randint(low, high, shape, generator=random)


def mask(*shape):
    """True in about a quarter of the places, never in the first of the last dim."""
    def draw(random):
        chosen = torch.rand(shape, generator=random) < 0.25
        chosen[..., 0] = False
        return chosen
    return draw


def given(*numbers, dtype=torch.float64):
    """What the case needs: edges, kinks, lengths."""
    return lambda random: torch.tensor(numbers, dtype=dtype)


def with_edges(*numbers, count=40, scale=2.0):
    """Numbers at which a function turns, among random ones."""
    return lambda random: torch.cat([normal(count, scale=scale)(random), given(*numbers)(random)])
