#!/usr/bin/env python3
"""weights_write_foreign.py FOLDER: weights of a linear layer (2 to 3) as other programs may write
them, and files that are none."""

import os
import sys

import h5py
import numpy as np

WEIGHT = np.arange(6, dtype="<f4").reshape(3, 2)
BIAS = np.array([7, 8, 9], dtype="<f8")


def nested(file):
    file["0/weight"] = WEIGHT
    file["0/bias"] = BIAS


def dotted(file):
    file["0.weight"] = WEIGHT
    file["0.bias"] = BIAS


def mixed(file):
    file["0/weight"] = WEIGHT
    file["0.bias"] = BIAS


def model(file):
    file["model/0/weight"] = WEIGHT
    file["model/0.bias"] = BIAS


def checkpoint(file):
    model(file)
    file["optimizer/exp_avg/0.weight"] = WEIGHT


def only_b(file):
    file["b.weight"] = WEIGHT
    file["b.bias"] = BIAS


def twice(file):
    mixed(file)
    file["0.weight"] = WEIGHT


def twice_unwanted(file):
    file["weight"] = WEIGHT
    file["bias"] = BIAS
    file["other/weight"] = WEIGHT
    file["other.weight"] = WEIGHT


def extra(file):
    file["_extra_state"] = np.arange(20, dtype="u1")


def words(file):
    file["weight"] = WEIGHT.astype("<u2")


def huge(file):
    file.create_dataset("weight", shape=(1 << 40,), chunks=(1 << 20,), dtype="<f4")


def newer(file):
    file["weight"] = WEIGHT
    file.attrs["weights_format"] = 9


os.chdir(sys.argv[1])
for make in (nested, dotted, mixed, model, checkpoint, only_b, twice, twice_unwanted, extra, words, huge,
             newer):
    with h5py.File(make.__name__ + ".h5", "w") as opened:
        make(opened)
with open("text.h5", "w", encoding="utf-8") as text:
    text.write("no HDF5\n" * 100)
with open("nested.h5", "rb") as whole, open("cut.h5", "wb") as cut:
    cut.write(whole.read()[:1500])
