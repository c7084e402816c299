#!/usr/bin/env python3
"""make_seeds.py FOLDER: the seeds of the corpus, small files of every sort. What fuzzers found beyond
them lies beside them in the corpus and is kept."""

import json
import pathlib
import struct
import sys

import h5py
import numpy as np

SIX = np.arange(6, dtype="<f4").reshape(2, 3)


def entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def safetensors(header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


SAFETENSORS = {
    "empty": b"",
    "nothing": safetensors({}),
    "two": safetensors({"a": entry("F32", [2], 0, 8), "b": entry("I16", [], 8, 10)}, bytes(10)),
    "metadata": safetensors({"__metadata__": {"b": "a", "format": "pt"},
                             "a": entry("BOOL", [0, 3], 0, 0)}),
    "escapes": safetensors(b'{"\\u00e9\\ud83d\\ude00\\n":' +
                           json.dumps(entry("U8", [1], 0, 1)).encode() + b"} ", b"x"),
    "endless": safetensors({}, length=1 << 60),
    "twice": safetensors(b'{"a":1,"a":2}'),
    "overlap": safetensors({"a": entry("F32", [1], 0, 4), "b": entry("F32", [1], 2, 6)}, bytes(6)),
    "dtype": safetensors({"a": entry("F33", [1], 0, 4)}, bytes(4)),
    "cut": safetensors({"a": entry("F64", [2], 0, 16)}, bytes(15)),
    "overflow": safetensors({"a": entry("F32", [1 << 62, 4], 0, 0)}),
    "surrogate": safetensors(b'{"\\ud800":{}}'),
}


def plain(file):
    file["a/weight"] = SIX
    file["a/bias"] = SIX[0]
    file["b"] = file["a/weight"]
    file.attrs["format"] = 1


def attributes(file):
    file["x"] = np.float64(1)
    file["x"].attrs.update({"n": 3, "text": "abc", "list": [1, 2], "reals": [0.5], "t": ["a", "b"]})


def dtypes(file):
    for name in ("?", "u1", "<i8", "<f2", "<f8", "<c8", ">f4", ">i2"):
        file[name.strip("<>")] = np.ones(2, name)


def chunked(file):
    file.create_dataset("x", data=SIX, chunks=(1, 3), compression="gzip", shuffle=True)
    file.create_dataset("unwritten", shape=(4,), chunks=(4,), dtype="<f4")


def links(file):
    file["soft"] = h5py.SoftLink("/nowhere")
    file["external"] = h5py.ExternalLink("other.h5", "/x")


def virtual(file):
    layout = h5py.VirtualLayout(shape=(2, 3), dtype="<f4")
    layout[:] = h5py.VirtualSource("other.h5", "x", shape=(2, 3))
    file.create_virtual_dataset("v", layout)


def external_storage(file):
    file.create_dataset("e", shape=(4,), dtype="<f4", external=[("other", 0, 16)])


def cycle(file):
    group = file.create_group("g")
    group["again"] = group


def compound(file):
    file["c"] = np.zeros(2, [("x", "<f4"), ("y", "<i4")])


HDF5 = (plain, attributes, dtypes, chunked, links, virtual, external_storage, cycle, compound)
OWN = {"whole": b"", "mark": bytes([9, 0, 0, 1]), "data": bytes([20, 32, 0, 255]),
       "names": bytes([0, 64, 0, 7, 1, 64, 0, 8]), "superblock": bytes([3, 16, 0, 9]),
       "no_block": b"".join(bytes([at, 0, 0, 0]) for at in range(56))}


def main(folder):
    for kind in ("safetensors", "hdf5", "own_hdf5"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    for name, data in SAFETENSORS.items():
        (folder / "safetensors" / name).write_bytes(data)
    for make in HDF5:
        for version in ("earliest", "latest"):
            path = folder / "hdf5" / f"{make.__name__}_{version}"
            with h5py.File(path, "w", libver=version) as file:
                make(file)
    for name, data in OWN.items():
        (folder / "own_hdf5" / name).write_bytes(data)


main(pathlib.Path(sys.argv[1]))
