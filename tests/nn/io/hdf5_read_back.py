#!/usr/bin/env python3
"""hdf5_read_back.py FILE: reads the example file of the tests with h5py and checks what it finds."""

import sys

import h5py
import numpy as np

NUMPY = {
    "bool": "?", "u8": "u1", "i8": "i1", "i16": "<i2", "i32": "<i4", "i64": "<i8",
    "f16": "<f2", "bf16": "<u2", "f32": "<f4", "f64": "<f8", "c64": "<c8", "c128": "<c16",
}


def example_bytes(size, modulus):
    return bytes((i % 2 if modulus == 2 else (i * 37 + size) % 120) for i in range(size))


def example(name, shape):
    dtype = np.dtype(NUMPY[name])
    size = int(np.prod(shape)) * dtype.itemsize
    return np.frombuffer(example_bytes(size, 2 if name == "bool" else 0), dtype).reshape(shape)


def check_dtypes(file):
    for name in NUMPY:
        data = file["all"][name]
        assert data.dtype == np.dtype(NUMPY[name]), (name, data.dtype)
        np.testing.assert_array_equal(data[()], example(name, (2, 3)), err_msg=name)
    assert file["all/bf16"].attrs["dtype"] == "bfloat16"


def check_model(file):
    model = file["model"]
    assert list(model) == ["h.0.weight", "scalar", "empty", "a", "lm_head.weight"], list(model)
    np.testing.assert_array_equal(model["h.0.weight"][()], example("f32", (40, 50)))
    assert model["h.0.weight"] == model["lm_head.weight"]  # one dataset with two names
    assert model["scalar"].shape == () and model["empty"].shape == (0, 7)
    assert list(file["nothing"]) == []


def check_attributes(file):
    assert file.attrs["count"] == -7 and file.attrs["rate"] == 0.125
    assert file.attrs["text"] == "gr\u00fc\u00dfe" and file.attrs["long"] == "l" * 100000
    assert list(file["model"].attrs["list"]) == [1, 2, 3]
    assert list(file["model"].attrs["reals"]) == [0.5, -1.5]
    assert list(file["model/a"].attrs["names"]) == ["x", "", "yz"]
    assert file.attrs["none"].shape == (0,)


with h5py.File(sys.argv[1], "r") as opened:
    check_dtypes(opened)
    check_model(opened)
    check_attributes(opened)
print("all as written")
