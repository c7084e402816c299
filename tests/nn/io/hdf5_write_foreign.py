#!/usr/bin/env python3
"""hdf5_write_foreign.py FOLDER: HDF5 files as other programs write them, good ones and strange ones."""

import os
import sys

import h5py
import numpy as np


def good(file):
    six = np.arange(6, dtype="<f4").reshape(2, 3)
    file.attrs["fixed"] = np.bytes_(b"abc")
    file["plain"] = six
    file["plain"].attrs["n"] = np.int32(3)
    file["plain"].attrs.create("no texts", [], shape=(0,), dtype=h5py.string_dtype())
    file["plain"].attrs["no text"] = h5py.Empty(h5py.string_dtype())
    file["plain"].attrs["no bytes"] = h5py.Empty("S1")
    file["big_endian"] = six.astype(">f4")
    file.create_dataset("chunked", data=six, chunks=(1, 3), compression="gzip")
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_layout(h5py.h5d.COMPACT)
    space = h5py.h5s.create_simple((2, 3))
    compact = h5py.h5d.create(file.id, b"compact", h5py.h5t.IEEE_F32LE, space, properties)
    compact.write(h5py.h5s.ALL, h5py.h5s.ALL, six)
    group = file.create_group("group")
    group["bool"] = np.array([True, False])
    group["complex"] = np.array([1 + 2j])
    group["half"] = np.array([0.5], dtype="<f2")


def cycle(file):
    group = file.create_group("g")
    group["again"] = group


def deep(file):
    file["kept"] = np.zeros(1)
    file["g/" * 40 + "lost"] = np.zeros(1)


def many_paths(file):
    """Each group is there twice in the one around it: 2^20 ways to the last."""
    group = file
    for _ in range(20):
        inner = group.create_group("a")
        group["b"] = inner
        group = inner


os.chdir(sys.argv[1])
for make in (good, cycle, deep, many_paths):
    with h5py.File(make.__name__ + ".h5", "w") as opened:
        make(opened)
with open("no_hdf5.h5", "wb") as text:
    text.write(b"this is no HDF5 file\n" * 1000)
