"""Containers by key, and of parameters."""

import torch
from torch import nn

from support.draw import normal
from support.layer import Layer


def parts():
    return nn.ModuleDict({"first": nn.Linear(6, 4), "second": nn.Linear(4, 6),
                          "norm": nn.LayerNorm(6)})


def vectors():
    return nn.ParameterList([nn.Parameter(torch.zeros(6)) for _ in range(3)])


def named_vectors():
    return nn.ParameterDict({"scale": torch.zeros(6), "shift": torch.zeros(5, 1)})


def cases():
    inputs = {"x": normal(5, 6)}
    yield Layer("ModuleDict", "parts", parts, {}, inputs, call=lambda module, given: module["norm"](
        module["second"](module["first"](given["x"]))))
    yield Layer("ParameterList", "vectors", vectors, {}, inputs,
                call=lambda module, given: given["x"] * module[0] + module[2])
    yield Layer("ParameterDict", "vectors", named_vectors, {}, inputs,
                call=lambda module, given: given["x"] * module["scale"] + module["shift"])
