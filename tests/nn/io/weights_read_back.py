#!/usr/bin/env python3
"""weights_read_back.py FILE: checks with h5py the weights of the tests' model (weights_example.h)."""

import sys

import h5py
import numpy as np

DTYPES = {
    "bool": "?", "u8": "u1", "i8": "i1", "i16": "<i2", "i32": "<i4", "i64": "<i8",
    "f16": "<f2", "bf16": "<u2", "f32": "<f4", "f64": "<f8", "c64": "<c8", "c128": "<c16",
}


def pattern(name, seed):
    values = np.array([(7 * i + seed) % 11 for i in range(6)], "<f4").reshape(2, 3)
    if name == "bf16":
        return (values.view("<u4") >> 16).astype("<u2")  # small integers are exact
    return values.astype(DTYPES[name])


def check_order(file):
    assert list(file["/"]) == ["zebra", "dtypes", "head", "shapes", "extra", "relu"], list(file["/"])
    assert list(file["zebra"]) == ["weight", "bias"]


def check_dtypes(group):
    for i, name in enumerate(DTYPES):
        buffer = group["b_" + name]
        assert buffer.dtype == np.dtype(DTYPES[name]), (name, buffer.dtype)
        np.testing.assert_array_equal(buffer[()], pattern(name, i + 1), err_msg=name)
        assert buffer.attrs["kind"] == "buffer" and buffer.attrs["requires_grad"] == 0
    for i, name in list(enumerate(DTYPES))[6:]:
        parameter = group["p_" + name]
        np.testing.assert_array_equal(parameter[()], pattern(name, i), err_msg=name)
        assert parameter.attrs["kind"] == "parameter"
        assert parameter.attrs["requires_grad"] == (i % 2 == 0)
    assert group["p_bf16"].attrs["dtype"] == "bfloat16"


def check_shapes(group):
    assert group["scalar"].shape == () and group["scalar"][()] == 2.5
    assert group["nothing"].shape == (0, 4)
    assert group["steps"][()] == 7 and "scratch" not in group


def check_groups(file):
    assert file.attrs["weights_format"] == 1 and file.attrs["class"] == "Everything"
    assert file["zebra"].attrs["class"] == "Linear" and file["relu"].attrs["class"] == "ReLU"
    assert file["extra"].attrs["state_version"] == 3
    assert file["extra/_extra_state"].dtype == np.dtype("u1")
    assert file["zebra/weight"] == file["head/weight"]  # one dataset with two names


with h5py.File(sys.argv[1], "r") as opened:
    check_order(opened)
    check_dtypes(opened["dtypes"])
    check_shapes(opened["shapes"])
    check_groups(opened)
print("all as written")
