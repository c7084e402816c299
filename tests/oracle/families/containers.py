"""Modules that hold modules."""

from torch import nn

from support.draw import normal
from support.layer import Layer


def mlp():
    return nn.Sequential(nn.Linear(6, 8), nn.LayerNorm(8), nn.Linear(8, 8), nn.Linear(8, 8),
                         nn.Linear(8, 3, bias=False))


def nested():
    return nn.Sequential(nn.Linear(6, 6), nn.Sequential(nn.LayerNorm(6), nn.Linear(6, 4)))


def narrowing():
    return nn.ModuleList([nn.Linear(6, 5), nn.Linear(5, 4), nn.Linear(4, 3)])


def runs():
    return nn.ModuleList([nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 4), nn.Linear(4, 4)])


def in_turn(module, inputs):
    x = inputs["x"]
    for part in module:
        x = part(x)
    return x


def cases():
    inputs = {"x": normal(5, 6)}
    yield Layer("Sequential", "mlp", mlp, {"form": "mlp"}, inputs)
    yield Layer("Sequential", "nested", nested, {"form": "nested"}, inputs)
    arguments = {"widths": [6, 5, 4, 3]}
    yield Layer("ModuleList", "narrowing", narrowing, arguments, inputs, call=in_turn)
    arguments = {"widths": [6, 6, 6, 4, 4]}
    yield Layer("ModuleList", "runs", runs, arguments, inputs, call=in_turn)
