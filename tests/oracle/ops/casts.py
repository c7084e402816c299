"""Rounding into the 16-bit formats, as bit patterns, and of floating numbers into integers."""

import struct

import torch

EDGES = [
    0.0, -0.0, 1.0, -1.0, 0.9999, 1.00390625, 1.01171875, 1.001953125, 0.1, 65504.0, 65519.0,
    65520.0, 3.3895314e38, 3.4028235e38, 1e-40, 6e-8, 2.9e-8, 6.1e-5, 1e-5, -3.14159, 2049.0, 2051.0,
    float("inf"), float("-inf"),
]


def bits(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def rounded(dtype):
    x = torch.tensor(EDGES, dtype=torch.float32)
    return [word & 0xFFFF for word in x.to(dtype).view(torch.int16).tolist()]


def casts():
    fractions = [-2.5, -1.5, -0.5, 0.0, 0.5, 1.5, 2.5, 100.9]
    return {
        "f32_bits": [bits(value) for value in EDGES],
        "bf16_bits": rounded(torch.bfloat16),
        "f16_bits": rounded(torch.float16),
        "floats": fractions,
        "to_i32": torch.tensor(fractions).to(torch.int32).tolist(),
        "to_bool": torch.tensor(fractions).to(torch.bool).tolist(),
    }
