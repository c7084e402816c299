#!/usr/bin/env python3
"""safetensors_read_back.py FILE [package]: checks the weights of the tests' model (weights_example.h),
without c128, by the format's description or with the safetensors package, and ends with 77 where
that is not installed."""

import json
import struct
import sys

import numpy as np

DTYPES = {
    "bool": ("BOOL", "?"), "u8": ("U8", "u1"), "i8": ("I8", "i1"), "i16": ("I16", "<i2"),
    "i32": ("I32", "<i4"), "i64": ("I64", "<i8"), "f16": ("F16", "<f2"), "bf16": ("BF16", "<u2"),
    "f32": ("F32", "<f4"), "f64": ("F64", "<f8"), "c64": ("C64", "<c8"),
}


def read(path):
    """{name: (word, array)} and the metadata, by the format's description."""
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    assert length % 8 == 0
    metadata = header.pop("__metadata__")
    numpy = dict(DTYPES.values())
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        held = np.frombuffer(data[8 + length + begin:8 + length + end], numpy[entry["dtype"]])
        tensors[name] = entry["dtype"], held.reshape(entry["shape"])
    return tensors, metadata


def pattern(name, seed):
    values = np.array([(7 * i + seed) % 11 for i in range(6)], "<f4").reshape(2, 3)
    if name == "bf16":
        return (values.view("<u4") >> 16).astype("<u2")
    return values.astype(DTYPES[name][1])


def check_tensors(tensors):
    for i, (name, (word, _)) in enumerate(DTYPES.items()):
        cases = [("b_", i + 1)] + ([("p_", i)] if i >= 6 else [])
        for kind, seed in cases:
            got_word, got = tensors["dtypes." + kind + name]
            assert got_word == word
            np.testing.assert_array_equal(got, pattern(name, seed), err_msg=name)
    assert tensors["shapes.scalar"][1].shape == () and tensors["shapes.scalar"][1] == 2.5
    assert tensors["shapes.nothing"][1].shape == (0, 4)
    assert "shapes.scratch" not in tensors and "head.weight" not in tensors


def read_with_package(path):
    try:
        import safetensors
    except ImportError:
        sys.exit(77)
    numpy = dict(DTYPES.values())
    with open(path, "rb") as file:
        entries = safetensors.deserialize(file.read())
    tensors = {}
    for name, entry in entries:
        held = np.frombuffer(bytes(entry["data"]), numpy[entry["dtype"]])
        tensors[name] = entry["dtype"], held.reshape(entry["shape"])
    with safetensors.safe_open(path, "numpy") as file:
        return tensors, file.metadata()


found, texts = (read_with_package if sys.argv[2:] == ["package"] else read)(sys.argv[1])
check_tensors(found)
assert texts["head.weight"] == "zebra.weight", texts
