"""Lists whose equal parts are printed once."""

from torch import nn

from families.containers import in_turn
from support.draw import normal
from support.layer import Layer


def runs():
    return nn.ModuleList([nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 4), nn.Linear(4, 4)])


def cases():
    arguments = {"widths": [6, 6, 6, 4, 4]}
    yield Layer("ModuleList", "runs", runs, arguments, {"x": normal(5, 6)}, call=in_turn)
