#!/usr/bin/env python3
"""hdf5_foreign_arrays_write.py FOLDER: weights of a linear layer (2 to 3) with one more array of a type that
no tensor has. KIND_beside has it under a name of its own, KIND_wanted in the place of the weight."""

import os
import sys

import h5py
import numpy as np

WEIGHT = np.arange(6, dtype="<f4").reshape(3, 2)
BIAS = np.array([7, 8, 9], dtype="<f4")


def of_type(file, name, kind):
    """Of a type that numpy has not, without values."""
    space = h5py.h5s.create_simple((2,))
    h5py.h5d.create(file.id, name.encode(), kind, space)
    h5py.h5a.create(file.id, name.encode(), kind, space)


def nine_dims(file, name):
    file[name] = np.zeros((1,) * 9, "<f4")


def virtual(file, name):
    layout = h5py.VirtualLayout(shape=(3, 2), dtype="<f4")
    layout[:] = h5py.VirtualSource("other.h5", "plain", shape=(3, 2))
    file.create_virtual_dataset(name, layout)


def valued(values, dtype=None):
    def add(file, name):
        file.create_dataset(name, data=values, dtype=dtype)
        file.attrs.create(name + " attribute", values, dtype=dtype)
    return add


def put(link):
    def add(file, name):
        file[name] = link
    return add


def cycle(file, name):
    file[name] = file["/"]


def reference(file, name):
    valued([file["bias"].ref] * 2, h5py.ref_dtype)(file, name)


def region(file, name):
    valued([file["bias"].regionref[0:2]] * 2, h5py.regionref_dtype)(file, name)


def big_endian_complex(file, name):
    kind = h5py.h5t.create(h5py.h5t.COMPOUND, 8)
    kind.insert(b"r", 0, h5py.h5t.IEEE_F32BE)
    kind.insert(b"i", 4, h5py.h5t.IEEE_F32BE)
    of_type(file, name, kind)


HDF5 = {
    "uint16": valued(np.array([1, 65535], "<u2")),
    "uint32": valued(np.array([1, 2], "<u4")),
    "uint64": valued(np.array([1, 1 << 63], "<u8")),
    "big_uint16": valued(np.array([1, 2], ">u2")),
    "longdouble": valued(np.array([1, 2], np.longdouble)),
    "fixed_text": valued(np.array([b"ab", b"c"])),
    "text": valued(["ab", "c"], h5py.string_dtype()),
    "compound": valued(np.zeros(2, [(name, "<f4") for name in "vwxyz"])),
    "enum": valued([1, 2], h5py.enum_dtype({"ONE": 1, "TWO": 2}, basetype="i1")),
    "opaque": valued(np.zeros(2, "V5")),
    "reference": reference,
    "region": region,
    "list": valued([np.zeros(1, "<f4"), np.ones(2, "<f4")], h5py.vlen_dtype("<f4")),
    "array": lambda file, name: of_type(file, name, h5py.h5t.array_create(h5py.h5t.IEEE_F32LE, (3,))),
    "bitfield": lambda file, name: of_type(file, name, h5py.h5t.STD_B16LE),
    "complex": big_endian_complex,
    "none": put(h5py.Empty("f4")),
    "nine_dims": nine_dims,
    "soft_link": put(h5py.SoftLink("/nowhere")),
    "external_link": put(h5py.ExternalLink("other.h5", "/plain")),
    "virtual": virtual,
    "cycle": cycle,
    "lzf": lambda file, name: file.create_dataset(name, data=WEIGHT, compression="lzf"),  # h5py's own
    "elsewhere": lambda file, name: file.create_dataset(name, (4,), "<f4", external=[("/etc/passwd", 0, 16)]),
}


def hdf5_of(kind, add):
    with h5py.File(f"{kind}_beside.h5", "w") as file:
        file["bias"] = BIAS
        file["type"] = np.dtype("<f8")  # a type with a name
        add(file, "a")
        file["weight"] = WEIGHT
        add(file, "z")
    with h5py.File(f"{kind}_wanted.h5", "w") as file:
        file["bias"] = BIAS
        add(file, "weight")


os.chdir(sys.argv[1])
for kind, add in HDF5.items():
    hdf5_of(kind, add)
